package serving

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/mcp"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// A value that is the output of a command is computed when the servers start, and left out if the command fails or prints nothing.
func TestValuesThatCommandsPrint(t *testing.T) {
	t.Parallel()
	r := &setup.Resolved{Program: "omp", Servers: []setup.Server{{
		Name: "docs", Path: "/f", Scope: setup.User, Transport: setup.HTTP, Starts: "http://x",
		Definition: setup.Definition{URL: "http://x", Timeout: time.Second},
	}}}
	list := Defined(r, func(setup.Server) setup.Expanded {
		return setup.Expanded{
			URL:     "http://x",
			Env:     []setup.Value{{Name: "A", Text: "plain"}, {Name: "B", Command: "good"}, {Name: "C", Command: "bad"}, {Name: "D", Command: "empty"}},
			Headers: []setup.Value{{Name: "H", Command: "good"}, {Name: "I", Command: "bad"}, {Name: "J", Text: "plain"}},
		}
	}, nil)
	var own []bool
	servers := complete(t.Context(), list, func(_ context.Context, command string, isOwn bool) (string, error) {
		own = append(own, isOwn)
		switch command {
		case "good":
			return " value\n", nil
		case "empty":
			return "\n", nil
		default:
			return "", errors.New("exit status 1")
		}
	})
	require.Equal(t, []string{"A=plain", "B=value"}, servers[0].Env)
	require.Equal(t, map[string]string{"H": "value", "J": "plain"}, servers[0].Headers)
	require.Equal(t, []bool{true, true, true, true, true}, own)
	require.Equal(t, []string{"A=plain"}, list[0].server.Env, "the definition stays")
	require.Equal(t, time.Second, servers[0].Timeout)
	require.Equal(t, "Sign in with /mcp in omp", servers[0].SignIn)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", list[0], list, list[0]), "plain")
}

// The same definitions are the same servers, whatever tools are activated; every change of one is another set.
func TestTheIdentityOfServers(t *testing.T) {
	t.Parallel()
	wanted := func(change func(*mcp.Server)) Wanted {
		s := mcp.Server{Name: "a", Command: "/bin/a", Args: []string{"1"}, Env: []string{"X=1"}, Headers: map[string]string{"H": "1"}}
		if change != nil {
			change(&s)
		}
		return Wanted{Program: session.Omp, Cwd: "/w", Servers: []Definition{{server: s}}}
	}
	same := wanted(nil).key()
	other := wanted(nil)
	other.Session, other.Activated = "another", func() []string { return []string{"x"} }
	require.Equal(t, same, other.key())
	for _, change := range []func(*mcp.Server){
		func(s *mcp.Server) { s.Env = []string{"X=2"} }, func(s *mcp.Server) { s.Args = nil }, func(s *mcp.Server) { s.Headers["H"] = "2" },
		func(s *mcp.Server) { s.Command = "/bin/b" }, func(s *mcp.Server) { s.Name = "b" }, func(s *mcp.Server) { s.NoInstructions = true },
	} {
		require.NotEqual(t, same, wanted(change).key())
	}
	other.Program = session.Pi
	require.NotEqual(t, same, other.key())
}

// Definitions of a client take precedence by name, and one that cannot be used costs only itself. No sentence quotes a value.
func TestServersOfAClient(t *testing.T) {
	t.Parallel()
	var raw []json.RawMessage
	for _, s := range []string{
		`{"name":"a","command":"/bin/a","args":["x"],"env":[{"name":"KEY","value":"SECRET"}]}`,
		`{"type":"sse","name":"b","url":"https://b/sse?key=SECRET","headers":[{"name":"H","value":"SECRET"}]}`,
		`{"name":"c"}`, `{"type":"http","name":"d","url":"SECRET"}`, `"SECRET"`, `{"name":5,"command":"SECRET"}`, `{"name":"","command":"x"}`,
		`{"name":"e","command":"x","env":[{"name":"A=SECRET","value":"1"}]}`, `{"type":"http","name":"f","url":"http://f","headers":[{"name":"A\r\nB","value":"1"}]}`,
	} {
		raw = append(raw, json.RawMessage(s))
	}
	list, problems := FromClient(raw)
	require.Len(t, list, 2)
	require.Len(t, problems, 7)
	require.NotContains(t, fmt.Sprint(problems), "SECRET")
	require.Equal(t, "https://b/sse", list[1].starts)
	require.Equal(t, mcp.SSE, list[1].server.Transport)
	joined := Joined(list, []Definition{{server: mcp.Server{Name: "a", Source: "/f"}}, {server: mcp.Server{Name: "z"}}})
	require.Len(t, joined, 3)
	require.Equal(t, "the client", joined[0].server.Source)
}

// A command has a time limit, and a folder's one does not get every variable.
func TestTheShellOfValues(t *testing.T) {
	t.Parallel()
	run := Shell([]string{"PATH=/usr/bin:/bin", "MY_API_KEY=SECRET"}, t.TempDir())
	out, err := run(t.Context(), "echo $MY_API_KEY", true)
	require.NoError(t, err)
	require.Equal(t, "SECRET\n", out)
	out, err = run(t.Context(), "echo x$MY_API_KEY", false)
	require.NoError(t, err)
	require.Equal(t, "x\n", out)
	for _, command := range []string{"echo SECRET; exit 1", "yes", "exit 3"} {
		_, err = run(t.Context(), command, true)
		require.EqualError(t, err, "the command failed", command)
	}
}
