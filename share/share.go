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

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const (
	// defaultLimit is the timeout of a share.
	defaultLimit = 2 * time.Minute

	// defaultGrace is the time a program has to end after it was asked to.
	defaultGrace = 2 * time.Second
)

// Sharer shares pages. It is safe for concurrent use.
type Sharer struct {
	Fs        afero.Fs // the disk: other programs read the page
	AgentDirs []string // directories of the handlers, in order of precedence; not empty
	Log       *zap.Logger

	// Check returns an error for an agent directory whose handler must not be run; nil: every
	// one may be.
	Check func(agentDir string) error

	Limit    time.Duration                     // maximum duration of a share; 0 is two minutes
	Grace    time.Duration                     // the time a program has to end after it was asked to; 0 is two seconds
	LookPath func(name string) (string, error) // finds a program; nil searches the PATH
	Environ  func() []string                   // the environment of programs; nil is this process's
}

// Page is the file to share.
type Page struct {
	Path string // an HTML file alone in a directory of [Folders]
	Cwd  string // where programs run; "" is the page's directory
}

// Via is the way a page was shared.
type Via string

// The services and programs that receive pages.
const (
	Custom Via = "custom" // the user's handler
	Gist   Via = "gist"   // GitHub
)

// Result is the result of a share.
type Result struct {
	Via        Via
	URL        string // the address of the page, as the handler printed it; it may have any scheme
	PreviewURL string // shows the page of a gist as a browser would; "" for other services
	Message    string // the handler's message for the user
}

// Shared is the message if a handler returns neither an address nor a message.
const Shared = "Session shared"

// errLate is the cause of a share's context that timed out.
var errLate = errors.New("share: no answer in time")

// Share shares a page. report receives the next step in a few words.
//
// The error is NotFound if a program is missing, Denied if gh is not logged in, cancelled
// if ctx ended, and io for all failures of programs. After an error no process that Share
// has started is still running.
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
		s.Limit = defaultLimit
	}
	if s.Grace == 0 {
		s.Grace = defaultGrace
	}
	if s.LookPath == nil {
		s.LookPath = exec.LookPath
	}
	if s.Environ == nil {
		s.Environ = os.Environ
	}
	return s
}

// Openable reports whether a browser may open an address without asking: http or https,
// and nothing that runs or reads something on this machine.
func Openable(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

func cancelled() *fault.Error { return fault.New(fault.Cancelled, "Share cancelled") }
