package serving

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/mcp"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Definition is the definition of a server, of which the values of commands are not known yet. It may hold secrets.
type Definition struct {
	server   mcp.Server
	starts   string // the command line or address, without secrets
	commands []value
	problems []string // sentences about values that are left out
	own      bool     // of a file of the user, not of a folder
}

// value is a variable or header whose value is the output of a command.
type value struct {
	Name, Command string
	Header        bool
}

// String keeps secrets out of logs.
func (Definition) String() string { return "(definition of a server)" }

// GoString keeps secrets out of logs.
func (Definition) GoString() string { return "(definition of a server)" }

// Name returns the name of the server.
func (d Definition) Name() string { return d.server.Name }

// Wanted are the servers that a session should have.
type Wanted struct {
	Program session.Dialect // whose names of tools and records are used
	Cwd     string
	Servers []Definition // of several with one name the first one counts

	Problems []string // sentences for the user about servers that cannot be used

	Session   string          // identifies the session
	Activated func() []string // returns the tools that the session records as activated by a search; nil: none
}

// key identifies the servers, but not the tools that are activated. It contains secrets.
func (w Wanted) key() string {
	var all []any
	for _, d := range w.Servers {
		s := d.server
		all = append(all, d.own, d.commands, []any{
			s.Name, s.Transport, s.Command, s.Args, s.Env, s.Cwd, s.URL, s.Headers, s.Timeout, s.Source, s.Exposure, s.ToolExposure, s.NoInstructions, s.Provider,
		})
	}
	raw, err := json.Marshal(append(all, w.Program, w.Cwd))
	if err != nil { // texts and numbers can be encoded
		panic("serving: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return string(sum[:])
}

// Defined returns the definitions of a user's set-up. expand expands the references to variables in one. tokens may be nil.
func Defined(r *setup.Resolved, expand func(setup.Server) setup.Expanded, tokens *Tokens) (list []Definition) {
	for _, s := range r.Servers {
		list = append(list, defined(r, s, expand(s), tokens))
	}
	return list
}

func defined(r *setup.Resolved, s setup.Server, e setup.Expanded, tokens *Tokens) Definition {
	m := mcp.Server{
		Name: s.Name, Transport: mcp.Transport(s.Transport), Command: e.Command, Args: e.Args, Cwd: e.Cwd, URL: e.URL,
		Timeout: cmp.Or(s.Definition.Timeout, -1), Source: s.Path, Exposure: mcp.Exposure(s.Exposure),
		NoInstructions: s.Definition.Quiet, SignIn: signIn(r.Program, s.Name),
	}
	for name, exposure := range s.Definition.ToolExposure {
		if m.ToolExposure == nil {
			m.ToolExposure = map[string]mcp.Exposure{}
		}
		m.ToolExposure[name] = mcp.Exposure(exposure)
	}
	d := Definition{starts: s.Starts, problems: e.LeftOut, own: s.Scope == setup.User}
	for _, v := range e.Env {
		if v.Command != "" {
			d.commands = append(d.commands, value{v.Name, v.Command, false})
			continue
		}
		m.Env = append(m.Env, v.Name+"="+v.Text)
	}
	for _, v := range e.Headers {
		if v.Command != "" {
			d.commands = append(d.commands, value{v.Name, v.Command, true})
			continue
		}
		m.Headers = withHeader(m.Headers, v.Name, v.Text)
	}
	if m.URL != "" && tokens != nil && d.own {
		m.Token = func(ctx context.Context) (string, error) { return tokens.Of(ctx, m.Name, m.URL), nil }
	}
	m.Digest = digest(m)
	d.server = m
	return d
}

func withHeader(headers map[string]string, name, text string) map[string]string {
	if headers == nil {
		headers = map[string]string{}
	}
	headers[name] = text
	return headers
}

// digest identifies the program or address of a server. It has no values of variables and headers, which may be short secrets.
func digest(s mcp.Server) string {
	raw, err := json.Marshal([]any{s.Command, s.Args, s.Cwd, s.URL})
	if err != nil { // texts can be encoded
		panic("serving: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// signIn returns how a user signs in at a server, as the beginning of a sentence.
func signIn(program, server string) string {
	switch program {
	case session.Pi.String():
		return fmt.Sprintf("Sign in with `pi mcp login %s`", server)
	case session.Omp.String():
		return "Sign in with /mcp in omp"
	default:
		return "Sign in with /mcp in " + program
	}
}

// runLimit is how long a command may take whose output is a value.
const runLimit = 10 * time.Second

// complete returns the definitions of servers with the values of commands. A value whose command fails or prints nothing is
// left out, as the programs do.
func complete(ctx context.Context, all []Definition, run Runner) (servers []mcp.Server) {
	for _, d := range all {
		s := d.server
		s.Env = slices.Clone(s.Env)
		headers := map[string]string{}
		maps.Copy(headers, s.Headers)
		for _, v := range d.commands {
			if run == nil {
				break
			}
			limited, cancel := context.WithTimeout(ctx, runLimit)
			text, err := run(limited, v.Command, d.own)
			cancel()
			if text = strings.TrimSpace(text); err != nil || text == "" || strings.ContainsRune(text, 0) {
				continue
			}
			if v.Header {
				headers[v.Name] = text
			} else {
				s.Env = append(s.Env, v.Name+"="+text)
			}
		}
		if s.Headers = headers; len(headers) == 0 {
			s.Headers = nil
		}
		servers = append(servers, s)
	}
	return servers
}

// Runner runs a shell command and returns its output. own reports that the command is in a file of the user's own.
type Runner func(ctx context.Context, command string, own bool) (string, error)
