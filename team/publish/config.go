package publish

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/identity"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// Config configures a [Publisher]. All functions must be safe for concurrent use.
type Config struct {
	// Store returns the connected store, on which Hello was called, and the user's id in it ([team.Hello]). It is called before
	// each step of a session that the user shares, and never otherwise.
	Store func() (store team.Store, user int, err error)

	Fs     afero.Fs
	States shipping.States

	// Consent returns the user's decisions; see [consent.File.Read].
	Consent func() (consent.Decisions, error)
	// Project returns the project of a folder; see [identity.Of].
	Project func(cwd string, d consent.Decisions) (identity.Project, error)
	// Image returns an image that lines name by its hash. Its error is of kind notFound or damaged for one that cannot be sent. nil: images
	// are not sent.
	Image func(h team.Sum) ([]byte, error)
	// Complete appends the lines of the session that the file lacks; see [pull.Puller.Rest]. It is called when the file rests. It returns a
	// Busy error if a server of this machine has the file open. nil: files that are behind stay so.
	Complete func(ctx context.Context, path string, sid team.SID) error
	Home     string   // the home directory of the user, which becomes "~" in titles and in texts for the search; "" keeps paths
	Secrets  []string // of the user, which are replaced wherever they occur

	Clock  Clock
	Jitter func() float64  // a random number in [0, 1) for back-offs; nil: one of math/rand
	Draw   func() team.SID // a new id; nil: team.NewSID
	Event  func(e Event)   // is called without locks, in the goroutine of a step; nil: events are dropped
}

// Clock is a source of time.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

// SystemClock is the clock of the machine.
type SystemClock struct{}

// Now is [time.Now].
func (SystemClock) Now() time.Time { return time.Now() }

// After is [time.After].
func (SystemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// withDefaults fills the optional fields.
func (c Config) withDefaults() Config {
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
	if c.Draw == nil {
		c.Draw = team.NewSID
	}
	if c.Event == nil {
		c.Event = func(Event) {}
	}
	return c
}

// ruleCache makes the rules of each version once.
type ruleCache struct {
	secrets []string

	mu   sync.Mutex
	made map[int]shipping.Rules // guarded by mu
}

// of is [shipping.NewRules].
func (r *ruleCache) of(version int) (shipping.Rules, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rules, ok := r.made[version]; ok {
		return rules, nil
	}
	rules, err := shipping.NewRules(version, r.secrets...)
	if err == nil {
		r.made[version] = rules
	}
	return rules, err
}

// allowed returns the versions of the rules by which the lines of a project may leave, the preferred one first. A session keeps
// the rules that it began with, unless those redact nothing and the project redacts.
func allowed(redact bool) []int {
	if redact {
		return []int{shipping.CurrentRules}
	}
	return []int{0, shipping.CurrentRules}
}
