package mcp

import (
	"context"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// Transport is how a server is reached.
type Transport string

// The transports.
const (
	Stdio Transport = "stdio" // a program, by lines
	HTTP  Transport = "http"  // streamable HTTP
	SSE   Transport = "sse"   // HTTP with server-sent events, as in 2024
)

// Exposure is how the tools of a server are offered to the model. These are the values of pi's files.
type Exposure string

// The exposures. CodeMode, which is pi's default, and "" are Direct here.
const (
	Direct   Exposure = "direct"   // declared
	CodeMode Exposure = "codemode" // declared
	Deferred Exposure = "deferred" // found by search_tools
	Hidden   Exposure = "hidden"   // not offered
)

// Server is the definition of a server. All values are expanded.
type Server struct {
	Name      string
	Transport Transport

	Command string   // a path, or a name that is looked up in PATH
	Args    []string // without the program's name
	Env     []string // "NAME=value", in addition to the allowed variables of Options.Env
	Cwd     string   // relative to Options.Cwd; "" is Options.Cwd

	URL     string
	Headers map[string]string

	// Token returns the access token of a remote server, "" for none. It is called before each request, and may be nil. A header
	// "Authorization" takes precedence.
	Token func(ctx context.Context) (string, error)

	// SignIn is how the user signs in at a remote server, such as "Sign in with `pi mcp login docs`". It may be "".
	SignIn string

	// Timeout is how long the server may take to start, and to answer a call without reporting progress. 0 is the default of the
	// dialect's program, and a negative one is no limit.
	Timeout time.Duration

	Source string // the file that contains the definition, for the user
	Digest string // of the program or address, for approvals; see [tool.Remote]

	Exposure     Exposure
	ToolExposure map[string]Exposure // by the server's name of a tool, or a pattern with "*" at its end

	// NoInstructions keeps the server's instructions out of the system prompt.
	NoInstructions bool

	// Provider and ProviderName are the origin of the definition in the results of omp and xcsh. "" is omp's own.
	Provider, ProviderName string
}

// exposure returns the exposure of a tool: that of its name, that of the longest pattern, or that of the server.
func (s Server) exposure(name string) Exposure {
	found, best := s.Exposure, -1
	for pattern, e := range s.ToolExposure {
		prefix, isPattern := strings.CutSuffix(pattern, "*")
		switch {
		case pattern == name:
			return e
		case isPattern && strings.HasPrefix(name, prefix) && len(prefix) > best:
			found, best = e, len(prefix)
		}
	}
	return found
}

// The default timeouts of the programs.
const (
	piTimeout    = 60 * time.Second
	otherTimeout = 30 * time.Second
)

// timeout returns the time limit; 0 is none.
func (s Server) timeout(d session.Dialect) time.Duration {
	switch {
	case s.Timeout < 0:
		return 0
	case s.Timeout > 0:
		return s.Timeout
	case d == session.Pi:
		return piTimeout
	default:
		return otherTimeout
	}
}

// Options are the options of [New]. Callbacks may be nil and may be called concurrently, without a lock.
type Options struct {
	Servers []Server
	Dialect session.Dialect
	Cwd     string   // the folder of the session, absolute
	Env     []string // of this process; only the variables that package environ allows are passed on
	PassEnv []string // names of further variables of Env to pass on
	Version string   // of this program
	Log     *zap.Logger

	// Ask asks the user the question of a server. The context ends when no call of the server is running any more. Without Ask,
	// servers don't ask.
	Ask func(ctx context.Context, q Question) (Answer, error)

	// Changed is called when the result of Tools or Prompts may have changed.
	Changed func(server string)

	// Started is called when a server was started or connected to.
	Started func(server string)

	// Activated is called with the names of all tools that search_tools has activated, after each change.
	Activated func(names []string)

	// Reconnect returns what a user does to connect a server after signing in to it, as a clause behind "then". Without it, the
	// sentence about the sign-in has none.
	Reconnect func(server string) string

	// Wait is how long Tools waits for servers that are starting. 0 is 10 s.
	Wait time.Duration
}

// Question is a question of a server to the user.
type Question struct {
	Server  string
	Message string
	Schema  []byte // a JSON schema of the answer: an object of plain values
}

// Answer is the answer to a [Question].
type Answer struct {
	Action  string         // "accept", "decline" or "cancel"
	Content map[string]any // of an accepted question
}
