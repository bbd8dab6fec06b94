package engine

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// State is the state of an engine in a folder.
type State string

// The states.
const (
	Known    State = "known"    // it is not running; the next prompt starts it
	Starting State = "starting" //
	Ready    State = "ready"    //
	Running  State = "running"  // it answers
	Failed   State = "failed"   // it has ended; see the message
)

// Own is the name of the loop of this program.
const Own = "own"

// Status describes the engine of a folder.
type Status struct {
	Name    string `json:"name" jsonschema:"own, pi, omp, xcsh or the name in the user's settings."`
	Version string `json:"version,omitempty" jsonschema:"Of the program; absent for own."`
	State   State  `json:"state" jsonschema:"known, starting, ready, running or failed."`
	Can     Can    `json:"can" jsonschema:"What can be offered with this engine."`
	Message string `json:"message,omitempty" jsonschema:"A sentence about the state for the user."`
}

// Protocol is how a program is controlled.
type Protocol string

// The protocols.
const (
	PiRPC  Protocol = "pi-rpc"
	OmpRPC Protocol = "omp-rpc" // the variant of omp and xcsh
	ACP    Protocol = "acp"
)

// Program is a program on this machine that can be an engine.
type Program struct {
	Name     string
	Path     string   // absolute, as found; "" if there is none
	Args     []string // before those of the protocol
	Env      []string // additions to the environment, "NAME=value"
	Version  string
	Protocol Protocol
	Problem  string   // the reason why it cannot be used; "" if it can
	Login    []string // the command that logs in, for a terminal; nil if there is none
}

// Native reports whether the program writes the session file itself, and returns the form in which it does.
func (p Program) Native() (form session.Dialect, native bool) {
	switch {
	case p.Name == "xcsh":
		return session.Xcsh, true
	case p.Protocol == PiRPC:
		return session.Pi, true
	case p.Protocol == OmpRPC, p.Name == "omp":
		return session.Omp, true
	default:
		return session.Xcsh, false
	}
}

// Usable reports whether the program can be an engine.
func (p Program) Usable() bool { return p.Path != "" && p.Problem == "" }

// Catalog finds the programs of this machine and remembers the user's choice. It is safe for concurrent use.
type Catalog interface {
	// List returns the programs that are known, whether they can be used or not. folders are the workspace
	// folders: a program in one of them is not found.
	List(ctx context.Context, folders []string) []Program

	// Find returns the program with a name. A NotFound error names the places that were searched.
	Find(ctx context.Context, name string, folders []string) (Program, error)

	// Default is the name of the engine that the user chose for all folders, in the settings or by an answer; "" for none.
	Default() string

	// Offered reports whether the user has answered the question whether a found program is to be used.
	Offered() bool

	// Remember stores the answer to that question: the name of the engine, [Own] for never ask again.
	Remember(name string) error

	// Engine returns a new engine that runs the program. It starts nothing.
	Engine(p Program) (Engine, error)
}
