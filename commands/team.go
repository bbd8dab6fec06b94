package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Team is the store that a team shares, as the commands use it. Errors are of kind offline (the store cannot be reached) or
// refused (login, rights, TLS, version), or as the method says. All methods are safe for concurrent use.
type Team interface {
	// Status returns the state from memory; it connects to nothing.
	Status() TeamStatus
	// Plan returns what a consent would send, to whom. It writes nothing and sends nothing but the login.
	Plan(ctx context.Context, s TeamSharing) (TeamPlan, error)
	// Share records the user's consent, or its end. token is that of the plan; the error is of kind stale if what would be
	// sent, where to or who reads it has changed since.
	Share(ctx context.Context, s TeamSharing, token string) error

	// Mark sets the field Team of local sessions from memory.
	Mark(infos []library.Info)
	// List returns the sessions of the store for the project of cwd, latest first, without those in infos, on which it sets the
	// field Team. query searches the store. It returns within 300 ms: without an answer of the store, what was last seen and a
	// problem of kind offline; later results are announced by an event [agent.SessionsChanged].
	List(ctx context.Context, cwd, query string, infos []library.Info) (remote []library.Info, problems []session.Problem, err error)
	// Find returns the sessions of the store whose id, header id (or a prefix of at least 6 characters) or title is target.
	Find(ctx context.Context, cwd, target string) ([]library.Info, error)
	// Pull brings a session into a file for the folder cwd. bytes is the number of bytes that were pulled.
	Pull(ctx context.Context, sid, cwd string, progress func(done, total int64)) (path string, bytes int64, err error)
	// Writer returns who writes the session: zero if nobody else does.
	Writer(ctx context.Context, sid string) (TeamWriter, error)
	// Wait returns when no other device writes the session.
	Wait(ctx context.Context, sid string) error
	// Take makes this device the writer. Without force it returns a Busy error with the data owner, device and leftMs while
	// another device has the lease.
	Take(ctx context.Context, sid string, force bool) (fence int64, err error)
	// Follow passes the conversation of the session, as the bytes of a session file, to got: from its beginning (a call with
	// begin set) and then as it grows, until ctx ends. got must not keep the bytes.
	Follow(ctx context.Context, sid, cwd string, got func(b []byte, begin bool)) error
	// Delete moves a session to the trash of the store, or restores it.
	Delete(ctx context.Context, sid string, undo bool) error
	// SID returns the id of the session of the file at path, "" if it is not in the store as far as this machine knows.
	SID(path string) string
}

// TeamSharing says which sessions of a project are sent.
type TeamSharing struct {
	Cwd     string
	Scope   string // new, all, session or off
	Path    string // of the session file, for the scope session (and off for one session); "" otherwise
	Visible string // team or me; "" means team
	Team    string // "" means the user's only team
	Name    string // of a project without a remote; "" takes the name that was given before
}

// TeamPlan says what would be sent, where to and who can read it. Absent numbers are zero.
type TeamPlan struct {
	Server   string         `json:"server,omitempty" jsonschema:"Host and database of the store."`
	User     string         `json:"user,omitempty" jsonschema:"The login role."`
	TLS      string         `json:"tls,omitempty" jsonschema:"verified, socket, local or insecure."`
	Team     string         `json:"team,omitempty"`
	Project  string         `json:"project,omitempty" jsonschema:"The key of the project, which is the same on every machine."`
	Readers  int            `json:"readers,omitempty" jsonschema:"How many people of the team can read them."`
	Sessions int            `json:"sessions,omitempty" jsonschema:"How many conversations that exist already would be sent."`
	Bytes    int64          `json:"bytes,omitempty" jsonschema:"Their size in bytes."`
	Older    int            `json:"older,omitempty" jsonschema:"How many conversations that exist already would stay here."`
	Redacted map[string]int `json:"redacted,omitempty" jsonschema:"How many texts that look like secrets would be replaced in them, by kind."`
	Examples []string       `json:"examples,omitempty" jsonschema:"The kinds and places of some of these texts, without the texts."`
	Text     string         `json:"text,omitempty" jsonschema:"The question for the user, in plain words."`
	Token    string         `json:"planToken,omitempty" jsonschema:"Pass it to xcsh.team.share to carry out this plan."`
}

// TeamStatus is the state of the connection to the store.
type TeamStatus struct {
	State          string     `json:"state" jsonschema:"off, ok, offline or refused."`
	Server         string     `json:"server,omitempty"`
	User           string     `json:"user,omitempty"`
	TLS            string     `json:"tls,omitempty" jsonschema:"verified, socket, local or insecure."`
	UnsentSessions int        `json:"unsentSessions"`
	UnsentBytes    int64      `json:"unsentBytes"`
	Since          string     `json:"since,omitempty" jsonschema:"The time of the first change that is not sent, in ISO 8601."`
	Problem        string     `json:"problem,omitempty" jsonschema:"One sentence."`
	Kind           fault.Kind `json:"kind,omitempty" jsonschema:"The kind of the problem."`
}

// TeamWriter is the device that writes a session.
type TeamWriter struct {
	Owner  string `json:"owner"`
	Device string `json:"device"`
	LeftMs int64  `json:"leftMs"`
	Mine   bool   `json:"mine" jsonschema:"It is another device of the same user."`
}

// needTeam returns an error if no store is set up, or ctx has ended.
func (env *Env) needTeam(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if env.Team == nil {
		return noTeam()
	}
	return nil
}

// noTeam is the error of a command that needs a store.
func noTeam() error {
	return fault.New(fault.Refused, "No team store is set up. Set team.service or team.url in your own settings, or XCSH_TEAM_URL.")
}
