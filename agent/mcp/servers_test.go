//go:build unix

package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/mcp"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/mcptest"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

func TestNothingStartsBeforeTheFirstUse(t *testing.T) {
	t.Parallel()
	def, log := probeServer(t, "ok")
	k := begin(t, pi(), def)
	_, err := k.Tool("mcp__Probe_One__echo")
	require.Error(t, err)
	require.Empty(t, k.Prompts(t.Context()))
	require.Equal(t, mcp.State{Name: "Probe-One", Transport: mcp.Stdio, Source: ".omp/mcp.json"}, k.States()[0])
	require.Empty(t, starts(t, log))
	require.NotEmpty(t, k.Tools(t.Context()))
	require.Len(t, starts(t, log), 1)
	state := k.States()[0]
	require.True(t, state.Connected)
	require.Equal(t, "1.2.3", state.Version)
	require.Equal(t, []mcp.Instruction{{Server: "Probe-One", Text: "Call echo first."}}, k.Instructions())
	k.finish()
	isGone(t, starts(t, log)...)
}

// Proves the order of the wire: initialize first, as pi and omp do, with roots and nothing that costs the user money.
func TestTheWireIsThatOfThePrograms(t *testing.T) {
	t.Parallel()
	def, log := probeServer(t, "ok")
	k := begin(t, pi(), def)
	require.Contains(t, said(k.result("roots", `{}`)), `"uri":"file://`+k.cwd+`"`)
	require.Contains(t, said(k.result("sample", `{}`)), "does not support")
	require.Contains(t, said(k.result("elicit", `{}`)), "does not support", "nobody can be asked")
	first := records(t, log)[1]
	require.Equal(t, "initialize", first.M.Method)
	require.Contains(t, string(first.M.Params), `"protocolVersion":"2025-11-25"`)
	require.Contains(t, string(first.M.Params), `"capabilities":{"roots":{}}`)
}

func TestResultsAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	for _, d := range []session.Dialect{session.Pi, session.Omp, session.Xcsh} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			def, _ := probeServer(t, "ok")
			k := begin(t, mcp.Options{Dialect: d}, def)
			prefix := map[session.Dialect]string{session.Pi: "", session.Omp: "Error: ", session.Xcsh: "Error: "}[d]

			r := k.result("echo", `{"text":"hi"}`)
			require.Equal(t, []provider.Block{provider.Text("echo: hi")}, r.Content)
			require.False(t, r.IsError)
			if d == session.Pi {
				require.Equal(t, `{"server":"Probe-One","tool":"echo"}`, string(r.Details))
			} else {
				require.Equal(t, `{"serverName":"Probe-One","mcpToolName":"echo","rawContent":[{"type":"text","text":"echo: hi"}],"provider":"native","providerName":"OMP"}`, string(r.Details))
				r = k.result("Add.Numbers-2", `{"a":1,"b":2}`)
				require.Equal(t, `{"serverName":"Probe-One","mcpToolName":"Add.Numbers-2","rawContent":[{"type":"text","text":"{\"sum\":3}"}],"provider":"native","providerName":"OMP","structuredContent":{"sum":3}}`, string(r.Details))
			}

			r = k.result("picture", `{}`)
			require.Equal(t, "a dot", r.Content[0].Text)
			require.Equal(t, provider.Block{Type: provider.TypeImage, Data: mcptest.Dot, MimeType: "image/png"}, r.Content[1])
			require.Equal(t, "[audio audio/wav omitted]", r.Content[2].Text)

			r = k.result("links", `{}`)
			require.Equal(t, `[Resource probe://doc/1 "doc 1" (text/plain, 1.2KB): a document. Read it with read_mcp_resource (server "Probe-One")]`, r.Content[0].Text)
			require.Equal(t, "embedded text", r.Content[1].Text)
			declared := k.tool("links").Name
			path := k.cwd + "/0." + declared + ".log"
			require.Equal(t, `[Binary resource probe://bin/3.dat (application/octet-stream, 3B) saved to `+path+`]`, r.Content[2].Text)
			blob, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, []byte{0, 1, 2}, blob)

			r = k.result("fail", `{}`)
			require.Equal(t, prefix+"it went wrong", said(r))
			require.True(t, r.IsError)

			require.Equal(t, `{"sum":3}`, said(k.result("structured", `{}`)))
			require.Equal(t, "(no output)", said(k.result("empty", `{}`)))
			_, err = k.call(t.Context(), "error", `{}`)
			require.EqualError(t, err, "MCP error: the token  is wrong")
			_, err = k.call(t.Context(), "unknown", `{}`)
			require.ErrorContains(t, err, "MCP error: ")
			require.Equal(t, "first", said(k.result("twice", `{}`)))
			require.Equal(t, "echo: still", said(k.result("echo", `{"text":"still"}`)))
		})
	}
}

func TestALongResultIsKeptBesideTheSession(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	def, _ := probeServer(t, "ok")
	k := begin(t, pi(), def)
	r := k.result("big", `{"n":60000}`)
	path := k.cwd + "/0.mcp__Probe_One__big.log"
	require.Contains(t, said(r), "Full output: "+path)
	require.Less(t, len(said(r)), 52<<10)
	require.Equal(t, `{"server":"Probe-One","tool":"big","fullOutputPath":"`+path+`"}`, string(r.Details))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("x", 60000), string(whole))
	// A large answer is one result, too.
	r = k.result("big", `{"n":30000000}`)
	require.Contains(t, said(r), "28.6MB")
	require.Less(t, len(said(r)), 52<<10)
}

func TestALargeContentIsNotInTheDetailsOfAResult(t *testing.T) {
	t.Parallel()
	def, _ := probeServer(t, "ok")
	k := begin(t, mcp.Options{Dialect: session.Omp}, def)
	small, large := k.result("big", `{"n":60000}`), k.result("big", `{"n":70000}`)
	require.Contains(t, string(small.Details), strings.Repeat("x", 60000))
	require.Equal(t, `{"serverName":"Probe-One","mcpToolName":"big","rawContent":[],"provider":"native","providerName":"OMP"}`, string(large.Details))
	require.Contains(t, said(large), "xxx")
}

func TestArgumentsAreCheckedBeforeTheCall(t *testing.T) {
	t.Parallel()
	def, log := probeServer(t, "ok")
	k := begin(t, pi(), def)
	echo := k.tool("echo")
	for _, bad := range []string{`{}`, `{"text":1}`, `[]`, `{"text":`, `null`} {
		_, err := echo.Check(json.RawMessage(bad))
		require.ErrorContains(t, err, "mcp__Probe_One__echo", bad)
		_, err = k.call(t.Context(), "echo", bad)
		require.Error(t, err)
	}
	require.False(t, received(t, log, "tools/call"))
	// The description of a call, as omp's models write it, is no argument of the server.
	args, err := echo.Check(json.RawMessage(`{"text":"x","i":"Greeting","_i":"Greeting"}`))
	require.NoError(t, err)
	require.Equal(t, `{"text":"x"}`, string(args))
	require.True(t, echo.Changes, "what the server says does not replace the user's approval")
	require.True(t, echo.ReadOnly)
	preview, err := echo.Preview(t.Context(), tool.Env{}, args)
	require.NoError(t, err)
	require.Equal(t, `Call echo of the MCP server Probe-One (.omp/mcp.json) with {"text":"x"}`, preview.Title)
}

func TestProgressIsShown(t *testing.T) {
	t.Parallel()
	def, log := probeServer(t, "ok")
	k := begin(t, pi(), def)
	shown := make(chan string, 10)
	env := k.env()
	env.Update = func(r tool.Result) { shown <- said(r) }
	r, err := k.tool("progress").RunWithin(t.Context(), env, json.RawMessage(`{}`))
	require.NoError(t, err)
	require.Equal(t, "done", said(r))
	require.Equal(t, "step 1", <-shown)
	require.LessOrEqual(t, len(shown), 2)
	require.True(t, received(t, log, "tools/call"))
}

// A cancelled call is cancelled at the server, also when the session ends right after it.
func TestTheServerIsToldOfACancellation(t *testing.T) {
	t.Parallel()
	def, log := probeServer(t, "ok")
	k := begin(t, pi(), def)
	hang := k.tool("hang")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := hang.RunWithin(ctx, k.env(), json.RawMessage(`{}`))
		ended <- err
	}()
	eventually(t, func() bool { return received(t, log, "tools/call") }, "the call")
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	k.finish()
	require.True(t, received(t, log, "notifications/cancelled"))
	isGone(t, starts(t, log)...)
}

// The end of the session ends its calls, each with one result.
func TestCloseEndsTheCalls(t *testing.T) {
	t.Parallel()
	def, log := probeServer(t, "ok")
	k := begin(t, pi(), def)
	hang := k.tool("hang")
	ended := make(chan error, 3)
	for range cap(ended) {
		go func() {
			_, err := hang.RunWithin(context.Background(), k.env(), json.RawMessage(`{}`))
			ended <- err
		}()
	}
	eventually(t, func() bool {
		n := 0
		for _, r := range records(t, log) {
			if r.Dir == "in" && r.M.Method == "tools/call" {
				n++
			}
		}
		return n == cap(ended)
	}, "the calls")
	k.finish()
	for range cap(ended) {
		require.Error(t, <-ended)
	}
	_, err := hang.RunWithin(t.Context(), k.env(), json.RawMessage(`{}`))
	require.Error(t, err)
	require.Empty(t, k.Tools(t.Context())[0].Digest)
	require.Len(t, starts(t, log), 1)
	isGone(t, starts(t, log)...)
}

func TestFaultsOfACallCostOneResult(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	def, log := probeServer(t, "ok", "MY_TOKEN=correct-horse-battery")
	def.Timeout = 20 * time.Second // on a busy machine
	k := begin(t, pi(), def)

	_, err := k.call(t.Context(), "die", `{}`)
	require.ErrorContains(t, err, `The tool mcp__Probe_One__die is of the MCP server "Probe-One", which is not connected: it exited with code 3. Its last output: panic: index out of range`)
	require.Equal(t, "echo: again", said(k.result("echo", `{"text":"again"}`)), "the next call starts it again")
	require.Len(t, starts(t, log), 2)

	require.Equal(t, "after rubbish", said(k.result("rubbish", `{}`)))
	require.Equal(t, "after the flood", said(k.result("flood", `{}`)))

	_, err = k.call(t.Context(), "noise", `{}`)
	require.ErrorContains(t, err, "it prints lines that are not messages of the protocol")
	require.Equal(t, "echo: again", said(k.result("echo", `{"text":"again"}`)))

	_, err = k.call(t.Context(), "big", `{"n":40000000}`)
	require.ErrorContains(t, err, "sent more than can be read at once")
	require.Equal(t, "echo: again", said(k.result("echo", `{"text":"again"}`)))
	k.finish()
	require.Len(t, starts(t, log), 4)
	isGone(t, starts(t, log)...)
}

func TestASilentServerCostsTheTimeLimit(t *testing.T) {
	t.Parallel()
	def, log := probeServer(t, "ok")
	k := begin(t, pi(), def)
	k.Tools(t.Context())
	k.finish()
	def.Timeout = 300 * time.Millisecond
	patient := begin(t, pi(), def)
	patient.Tools(t.Context())
	_, err := patient.call(t.Context(), "hang", `{}`)
	require.EqualError(t, err, `The MCP server "Probe-One" does not answer; 0.3 s have passed.`)
	eventually(t, func() bool { return received(t, log, "notifications/cancelled") }, "the cancellation")
}

func TestServersThatDoNotStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ how, command, want string }{
		"ends":    {"die", "", `The MCP server "Probe-One" could not be started: it exited with code 2. Its last output: one / TOKEN is ‹redacted known› / Error: no database`},
		"rubbish": {"rubbish", "", `The MCP server "Probe-One" could not be started: it prints lines that are not messages of the protocol.`},
		"refuses": {"refuse", "", `The MCP server "Probe-One" could not be started: no licence for [concealed].`},
		"missing": {"ok", "no-such-program", `The MCP server "Probe-One" could not be started: exec: "no-such-program": not found.`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def, log := probeServer(t, c.how, "MY_TOKEN=correct-horse-battery")
			if c.command != "" {
				def.Command = c.command
			}
			k := begin(t, pi(), def)
			require.Empty(t, k.Tools(t.Context()))
			require.Equal(t, c.want, k.States()[0].Reason)
			_, err := k.Tool("mcp__Probe_One__echo")
			require.EqualError(t, err, `The tool mcp__Probe_One__echo is of the MCP server "Probe-One", which is not connected: `+c.want)
			for _, e := range k.logged.All() {
				require.NotContains(t, fmt.Sprint(e.Message, e.ContextMap()), "correct-horse")
			}
			k.finish()
			isGone(t, starts(t, log)...)
		})
	}
}

func TestAGreetingIsNoFault(t *testing.T) {
	t.Parallel()
	def, _ := probeServer(t, "greeting")
	require.Equal(t, "echo: x", said(begin(t, pi(), def).result("echo", `{"text":"x"}`)))
}

// A server that fails at once is not started again and again.
func TestAServerThatFailsOftenRests(t *testing.T) {
	t.Parallel()
	def, log := probeServer(t, "die")
	k := begin(t, pi(), def)
	for range 12 {
		require.Error(t, k.Reconnect(t.Context(), "Probe-One"))
		k.Tools(t.Context())
	}
	require.LessOrEqual(t, len(starts(t, log)), 30)
	def2, log2 := probeServer(t, "die")
	k2 := begin(t, pi(), def2)
	for range 40 {
		k2.Tools(t.Context())
	}
	eventually(t, func() bool { return !k2.States()[0].Starting }, "the last start")
	require.LessOrEqual(t, len(starts(t, log2)), 5)
	k.finish()
	k2.finish()
	isGone(t, append(starts(t, log), starts(t, log2)...)...)
}

// A server that is late does not hold up the request, and its tools join.
func TestALateServerJoins(t *testing.T) {
	t.Parallel()
	gate, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer gate.Close()
	late, _ := probeServer(t, "ok", gateName+"="+gate.Addr().String())
	late.Name = "late"
	o := pi()
	o.Wait = 10 * time.Millisecond
	k := begin(t, o, late)
	require.Empty(t, k.Tools(t.Context()))
	require.True(t, k.States()[0].Starting)
	held, err := gate.Accept()
	require.NoError(t, err)
	require.Empty(t, k.Tools(t.Context()))
	require.NoError(t, held.Close())
	require.Equal(t, "late", <-k.changed)
	require.NotEmpty(t, k.Tools(t.Context()))
}

func TestAServerThatHangsAtItsStartEndsWithTheSession(t *testing.T) {
	t.Parallel()
	def, log := probeServer(t, "hang")
	o := pi()
	o.Wait = 10 * time.Millisecond
	def.Timeout = 50 * time.Millisecond
	k := begin(t, o, def)
	require.Empty(t, k.Tools(t.Context()))
	require.EqualError(t, k.Reconnect(t.Context(), "Probe-One"), `The MCP server "Probe-One" does not answer; 0.05 s have passed. Its tools come when it does.`)
	eventually(t, func() bool { return len(starts(t, log)) == 1 }, "the start")
	k.finish()
	isGone(t, starts(t, log)...)
}

// A change of the tools is announced three times and read once. The tools that were returned stay as they are.
func TestAChangeOfTheToolsJoinsTheNextRequest(t *testing.T) {
	t.Parallel()
	def, log := probeServer(t, "ok")
	k := begin(t, pi(), def)
	before := k.Tools(t.Context())
	require.Equal(t, "Probe-One", <-k.changed) // its start
	require.Equal(t, "changed", said(k.result("grow", `{}`)))
	require.Equal(t, "Probe-One", <-k.changed)
	after := k.Tools(t.Context())
	require.Len(t, after, len(before)+1)
	require.Equal(t, "called grown", said(k.result("grown", `{}`)))
	lists := 0
	for _, r := range records(t, log) {
		if r.Dir == "in" && r.M.Method == "tools/list" {
			lists++
		}
	}
	require.Equal(t, 2, lists)

	echo := k.tool("echo")
	require.Equal(t, "changed", said(k.result("shrink", `{}`)))
	require.Equal(t, "Probe-One", <-k.changed)
	_, err := k.Tool(echo.Name)
	require.ErrorContains(t, err, "There is no tool mcp__Probe_One__echo now. These are of the same server: mcp__Probe_One__Add_Numbers_2, ")
}

func TestToolsBeyondTheLimitAreFound(t *testing.T) {
	t.Parallel()
	def, _ := probeServer(t, "ok", toolsName+"=100")
	recorded := make(chan []string, 10)
	o := pi()
	o.Activated = func(names []string) { recorded <- names }
	k := begin(t, o, def)
	names := func() (all []string) {
		for _, tool := range k.Tools(t.Context()) {
			all = append(all, tool.Name)
		}
		return all
	}
	first := names()
	require.Len(t, first, 40+3+1) // those of resources, and the search
	require.IsIncreasing(t, first)
	require.Equal(t, first, names(), "the beginning of the prompt is stable")
	require.Contains(t, first, "search_tools")
	require.NotContains(t, first, "mcp__Probe_One__more_099")

	search, err := k.Tool("search_tools")
	require.NoError(t, err)
	require.False(t, search.Changes)
	r, err := search.RunWithin(t.Context(), k.env(), json.RawMessage(`{"query":"sheep 99","limit":1}`))
	require.NoError(t, err)
	require.Contains(t, said(r), "# mcp__Probe_One__more_099\n\nCounts sheep of the kind 99\n\nParameters:\n")
	require.Equal(t, []string{"mcp__Probe_One__more_099"}, <-recorded)
	require.Contains(t, names(), "mcp__Probe_One__more_099")
	r, err = search.RunWithin(t.Context(), k.env(), json.RawMessage(`{"query":"elephants"}`))
	require.NoError(t, err)
	require.Contains(t, said(r), "No further tool matches")

	// As a session has recorded it.
	k.Activate([]string{"mcp__Probe_One__more_098"})
	require.Contains(t, names(), "mcp__Probe_One__more_098")
	require.NotContains(t, names(), "mcp__Probe_One__more_099")
	// A tool that is not declared can be called: the conversation may know it.
	require.Equal(t, "called more_097", said(k.result("more_097", `{}`)))
}

func TestExposureDecidesWhatIsDeclared(t *testing.T) {
	t.Parallel()
	def, _ := probeServer(t, "ok")
	def.Exposure = mcp.Hidden
	def.ToolExposure = map[string]mcp.Exposure{"e*": mcp.Direct, "em*": mcp.Deferred, "error": mcp.Hidden, "echo": mcp.CodeMode}
	k := begin(t, pi(), def)
	var names []string
	for _, tool := range k.Tools(t.Context()) {
		names = append(names, strings.TrimPrefix(tool.Name, "mcp__Probe_One__"))
	}
	require.Equal(t, []string{"list_mcp_resource_templates", "list_mcp_resources", "echo", "elicit", "environment", "read_mcp_resource", "search_tools"}, names)
	_, err := k.Tool("mcp__Probe_One__error")
	require.Error(t, err)
}

func TestAQuestionOfAServerReachesTheUser(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]string{
		"accept": `{"action":"accept","content":{"colour":"red"}}`, "decline": `{"action":"decline"}`, "cancel": `{"action":"cancel"}`,
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			def, _ := probeServer(t, "ok")
			o := pi()
			o.Ask = func(_ context.Context, q mcp.Question) (mcp.Answer, error) {
				if q.Server != "Probe-One" || q.Message != "Which colour?" || !strings.Contains(string(q.Schema), `"enum":["red","blue"]`) {
					return mcp.Answer{}, fmt.Errorf("another question: %v", q)
				}
				return mcp.Answer{Action: action, Content: map[string]any{"colour": "red"}}, nil
			}
			require.Equal(t, want, said(begin(t, o, def).result("elicit", `{}`)))
		})
	}
}

// The user's time does not count, and the end of the call ends the question.
func TestAQuestionEndsWithItsCall(t *testing.T) {
	t.Parallel()
	def, _ := probeServer(t, "ok")
	def.Timeout = 2 * time.Second
	o := pi()
	asked, ended := make(chan struct{}), make(chan struct{})
	o.Ask = func(ctx context.Context, _ mcp.Question) (mcp.Answer, error) {
		close(asked)
		<-ctx.Done()
		close(ended)
		return mcp.Answer{}, ctx.Err()
	}
	k := begin(t, o, def)
	elicit := k.tool("elicit")
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		_, err := elicit.RunWithin(ctx, k.env(), json.RawMessage(`{}`))
		if err == nil {
			t.Error("the call was cancelled")
		}
	})
	<-asked
	cancel()
	all.Wait()
	<-ended
}

func TestResourcesAreListedAndRead(t *testing.T) {
	t.Parallel()
	def, _ := probeServer(t, "ok")
	k := begin(t, pi(), def)
	k.Tools(t.Context())
	run := func(name, args string) (string, error) {
		tl, err := k.Tool(name)
		require.NoError(t, err)
		r, err := tl.RunWithin(t.Context(), k.env(), json.RawMessage(args))
		return said(r), err
	}
	got, err := run("list_mcp_resources", `{}`)
	require.NoError(t, err)
	require.Equal(t, `{"resources":[{"server":"Probe-One","uri":"probe://doc/1","name":"doc 1","mimeType":"text/plain"}]}`, got)
	got, err = run("list_mcp_resources", `{"server":"Probe-One"}`)
	require.NoError(t, err)
	require.Equal(t, `{"nextCursor":"more","resources":[{"server":"Probe-One","uri":"probe://doc/1","name":"doc 1","mimeType":"text/plain"}],"server":"Probe-One"}`, got)
	got, err = run("list_mcp_resource_templates", `{}`)
	require.NoError(t, err)
	require.Equal(t, `{"resourceTemplates":[{"server":"Probe-One","uriTemplate":"probe://doc/{n}","name":"docs"}]}`, got)
	got, err = run("read_mcp_resource", `{"server":"Probe-One","uri":"probe://doc/1"}`)
	require.NoError(t, err)
	require.Equal(t, "contents of probe://doc/1", got)
	_, err = run("read_mcp_resource", `{"server":"other","uri":"x"}`)
	require.EqualError(t, err, `There is no MCP server "other" with resources.`)
	_, err = run("read_mcp_resource", `{"server":"Probe-One"}`)
	require.Error(t, err)
}

// An update ends the servers that change, with their calls and starts, and leaves the others as they are.
func TestServersAreReplacedOneByOne(t *testing.T) {
	t.Parallel()
	one, first := probeServer(t, "ok")
	two, second := probeServer(t, "ok")
	late, third := probeServer(t, "hang")
	two.Name, late.Name = "two", "late"
	k := begin(t, pi(), one, two)
	k.Tools(t.Context())
	hang, err := k.Tool("mcp__two__hang")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := hang.RunWithin(t.Context(), k.env(), json.RawMessage(`{}`))
		ended <- err
	}()
	require.Eventually(t, func() bool { return received(t, second, "tools/call") }, limit, time.Millisecond)
	same := func(name string) bool { return name == one.Name }
	require.NoError(t, k.Update(t.Context(), []mcp.Server{late, {Name: one.Name}}, same))
	require.ErrorContains(t, <-ended, "its definition has changed")
	isGone(t, starts(t, second)...)
	echo, err := k.Tool("mcp__Probe_One__echo")
	require.NoError(t, err)
	r, err := echo.RunWithin(t.Context(), k.env(), json.RawMessage(`{"text":"hi"}`))
	require.NoError(t, err)
	require.Equal(t, "echo: hi", said(r))
	require.Len(t, starts(t, first), 1)
	_, err = k.Tool("mcp__two__echo")
	require.Error(t, err)

	// A server that is starting ends, too.
	go func() { ended <- k.Reconnect(t.Context(), "late") }()
	require.Eventually(t, func() bool { return len(starts(t, third)) > 0 }, limit, time.Millisecond)
	require.NoError(t, k.Update(t.Context(), []mcp.Server{{Name: one.Name}}, same))
	require.Error(t, <-ended)
	isGone(t, starts(t, third)...)
	require.Len(t, k.States(), 1)
}

// A resource has an address as models of oh-my-pi write it. With several servers it is read from the one that has it.
func TestResourcesByAddress(t *testing.T) {
	t.Parallel()
	one, _ := probeServer(t, "ok")
	two, path := probeServer(t, "ok", mcptest.ResourceName+"=other")
	two.Name = "second"
	k := begin(t, pi(), one, two)
	_, _, ok, err := k.Resource(t.Context(), "mcp://probe://doc/1")
	require.NoError(t, err)
	require.False(t, ok, "no server was started")
	k.Tools(t.Context())
	for address, want := range map[string]string{
		"mcp://probe://doc/1":     `{"server":"Probe-One","uri":"probe://doc/1"}`,
		"mcp://other://doc/1":     `{"server":"second","uri":"other://doc/1"}`,
		" @MCP://other://doc/a&b": `{"server":"second","uri":"other://doc/a&b"}`, // a template's
	} {
		tl, args, ok, err := k.Resource(t.Context(), address)
		require.NoError(t, err, address)
		require.True(t, ok, address)
		require.Equal(t, want, string(args))
		require.True(t, tl.Changes, "it needs permission")
	}
	require.False(t, received(t, path, "resources/read"), "nothing is read before the permission")
	tl, args, _, err := k.Resource(t.Context(), "mcp://other://doc/7")
	require.NoError(t, err)
	r, err := tl.RunWithin(t.Context(), k.env(), args)
	require.NoError(t, err)
	require.Equal(t, "contents of other://doc/7", said(r))
	for address, want := range map[string]string{
		"mcp://":                               "Write the address of the resource after mcp://",
		"mcp://none/\n\x1b":                    "No MCP server has a resource none/",
		"mcp://" + strings.Repeat("x", 10<<10): "Write the address",
	} {
		_, _, ok, err := k.Resource(t.Context(), address)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\x1b")
		require.True(t, ok)
	}
}

func TestPromptsAreSlashCommands(t *testing.T) {
	t.Parallel()
	def, _ := probeServer(t, "ok")
	k := begin(t, pi(), def)
	k.Tools(t.Context())
	prompts := k.Prompts(t.Context())
	require.Len(t, prompts, 1)
	for text, want := range map[string]map[string]string{
		`who=World how="very well"`: {"who": "World", "how": "very well"},
		`the whole World`:           {"who": "the whole World"},
		`how='' World`:              {"who": "World", "how": ""},
	} {
		args, err := prompts[0].ParsePrompt(text)
		require.NoError(t, err)
		require.Equal(t, want, args)
	}
	_, err := prompts[0].ParsePrompt("how=well")
	require.EqualError(t, err, "The prompt Probe-One:greet needs the argument who: /Probe-One:greet who=… [how=…]")
	_, err = prompts[0].ParsePrompt("who=a how=b c")
	require.Error(t, err)
	blocks, err := k.Prompt(t.Context(), k.env(), "Probe-One", "greet", map[string]string{"who": "World", "how": "well"})
	require.NoError(t, err)
	require.Equal(t, []provider.Block{provider.Text("Greet World well"), provider.Text("[assistant]"), provider.Text("Gladly.")}, blocks)
	_, err = k.Prompt(t.Context(), k.env(), "other", "greet", nil)
	require.Error(t, err)
}
