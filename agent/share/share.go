package share

import (
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

const (
	// patience is how long a share may take.
	patience = 2 * time.Minute

	// mercy is how long a program that was told to end may take.
	mercy = 2 * time.Second
)

// Sharer shares pages. It is safe for concurrent use.
type Sharer struct {
	Fs       afero.Fs // of the disk: other programs read the page
	AgentDir string   // where a handler is looked for
	Log      *zap.Logger

	Limit    time.Duration                     // how long a share may take; 0 is two minutes
	Grace    time.Duration                     // how long a program that was told to end may take; 0 is two seconds
	LookPath func(name string) (string, error) // finds a program; nil searches the PATH
	Environ  func() []string                   // what programs get as their environment; nil is this process's
}

// Page is what is shared.
type Page struct {
	Path string // an HTML file that lies alone in a directory of [Folders]
	Cwd  string // where programs run; "" is the page's directory
}

// Via says who has taken a page.
type Via string

// Who takes pages.
const (
	Custom Via = "custom" // the person's own handler
	Gist   Via = "gist"   // GitHub
)

// Result is what came of a share.
type Result struct {
	Via        Via
	URL        string // where the page is, as the handler said it; it may be of any scheme
	PreviewURL string // shows the page of a gist as a browser would; "" for others
	Message    string // what the handler said to the person
}

// Shared is the message of a handler that says nothing.
const Shared = "Session shared"

// errLate is why the context of a share that took too long has ended.
var errLate = errors.New("share: no answer in time")

// Share shares a page. report is told in a few words what happens next.
//
// The error is kind notFound when a program is missing, denied when gh is not logged in,
// cancelled when ctx ended, and io for all that programs can get wrong. After an error
// nothing that Share has started runs any more.
func (s Sharer) Share(ctx context.Context, p Page, report func(string)) (Result, error) {
	s = s.withDefaults()
	ctx, cancel := context.WithTimeoutCause(ctx, s.Limit, errLate)
	defer cancel()
	h, err := s.handler()
	if err != nil {
		return Result{}, err
	}
	if h.path == "" {
		return s.gist(ctx, p, report)
	}
	report("Sharing with " + h.name())
	return s.custom(ctx, h, p)
}

func (s Sharer) withDefaults() Sharer {
	if s.Limit == 0 {
		s.Limit = patience
	}
	if s.Grace == 0 {
		s.Grace = mercy
	}
	if s.LookPath == nil {
		s.LookPath = exec.LookPath
	}
	if s.Environ == nil {
		s.Environ = os.Environ
	}
	return s
}

// Openable reports whether an address is one that a browser may be sent to without asking:
// http or https, and nothing that runs or reads something on this machine.
func Openable(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

func cancelled() *fault.Error { return fault.New(fault.Cancelled, "Share cancelled") }
