package commands

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Env is what a command may use. One Env serves every call of a server; its
// fields are set once, before the first call, except what Folders returns.
type Env struct {
	Sessions  *agent.Manager
	Store     *session.Store
	Finder    session.Finder
	Fs        afero.Fs
	UI        UI
	Workspace tool.Workspace
	Folders   func() []string // the workspace folders as absolute paths, in the client's order
	Tell      func(string)    // shows a text where it does not interrupt; nil shows nothing
	Pick      bool            // the client asks for missing arguments itself (initializationOptions ui.pick)
	Log       *zap.Logger
}

// Level is the weight of a message shown to a person.
type Level int

// The levels of a message, in LSP's order.
const (
	LevelError Level = iota + 1
	LevelWarning
	LevelInfo
)

// Question is a choice put to a person.
type Question struct {
	Text    string
	Choices []string // shown in this order
}

// What [UI.Ask] returns when no choice was made. Both are negative.
const (
	Closed  = -1 // the person closed the question
	Unasked = -2 // nobody can be asked
)

// InputRequest asks a person for a text of any length.
type InputRequest struct {
	Title   string // a question or request, as one sentence: "What do you want to say?"
	Hint    string // a further sentence about what is wanted; may be empty
	Initial string // what the text is before the person changes it
}

// UI reaches the person in front of the editor. Every method returns when the
// person answered, ctx ended or the client cannot do it; none may be called while
// a lock is held. [Headless] is the UI of a program without a person.
type UI interface {
	// Ask returns the index of the chosen answer, else [Closed] or [Unasked].
	Ask(ctx context.Context, q Question) (int, error)
	// Input returns a text that the person wrote, without blank lines around it; it is
	// empty when the person did not want to write one. ok is false when nobody can be asked.
	Input(ctx context.Context, r InputRequest) (text string, ok bool, err error)
	// Notify shows a message; it does not wait for the person.
	Notify(ctx context.Context, level Level, text string)
	// Open shows a file to the person, outside the editor when external is set.
	// It reports whether the client did so.
	Open(ctx context.Context, path string, external bool) bool
	// OpenURL shows a web page to the person, outside the editor. It reports whether the
	// client did so; one that cannot is shown the address.
	OpenURL(ctx context.Context, address string) bool
	// Progress begins a report of long work. The caller must call End.
	Progress(ctx context.Context, title string) Progress
}

// Progress reports on one piece of long work.
type Progress interface {
	// Report replaces the message; percent is 0–100, or negative when unknown.
	Report(message string, percent int)
	End(message string)
}

// Headless is the [UI] when nobody can be asked: questions stay unanswered and
// messages go nowhere.
type Headless struct{}

// Ask returns [Unasked].
func (Headless) Ask(context.Context, Question) (int, error) { return Unasked, nil }

// Input reports that nobody can be asked.
func (Headless) Input(context.Context, InputRequest) (string, bool, error) { return "", false, nil }

// Notify does nothing.
func (Headless) Notify(context.Context, Level, string) {}

// Open reports that nothing was shown.
func (Headless) Open(context.Context, string, bool) bool { return false }

// OpenURL reports that nothing was shown.
func (Headless) OpenURL(context.Context, string) bool { return false }

// Progress returns a report that goes nowhere.
func (Headless) Progress(context.Context, string) Progress { return noProgress{} }

type noProgress struct{}

func (noProgress) Report(string, int) {}
func (noProgress) End(string)         {}

// Folder is embedded in the arguments of every command: the working directory it
// is about. Empty means the only workspace folder.
type Folder struct {
	Cwd string `json:"cwd,omitempty" jsonschema:"Working directory: an absolute path or a file: URI. Absent: the only workspace folder."`
}

// cwd resolves the working directory of a call. Of several folders the person says which.
func (env *Env) cwd(ctx context.Context, f Folder) (string, error) {
	if f.Cwd == "" {
		folders := env.Folders()
		switch len(folders) {
		case 1:
			return folders[0], nil
		case 0:
			return "", fault.New(fault.InvalidArgument, "No workspace folder is open; say which directory with \"cwd\".").With("field", "cwd")
		default:
			return env.pickFolder(ctx, folders)
		}
	}
	path, err := localPath(f.Cwd)
	if err != nil || !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", fault.New(fault.InvalidArgument, "%q is not an absolute path or a file: URI.", f.Cwd).With("field", "cwd")
	}
	return filepath.Clean(path), nil
}

// localPath turns a file: URI into a path and leaves anything else as it is.
func localPath(s string) (string, error) {
	if len(s) < 5 || !strings.EqualFold(s[:5], "file:") {
		return s, nil
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", err
	}
	if u.Host != "" && u.Host != "localhost" && filepath.Separator == '/' {
		return "", fmt.Errorf("%q is on another machine", s)
	}
	path := u.Path
	// file:///C:/x names a drive: the slash before it is not part of the path.
	if len(path) >= 3 && path[0] == '/' && path[2] == ':' && filepath.Separator == '\\' {
		path = path[1:]
	}
	return filepath.FromSlash(path), nil
}
