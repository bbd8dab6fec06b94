package acp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
)

var updateGolden = flag.Bool("update", false, "rewrite the golden files")

type outcome struct{ loop.Outcome }

// recorded is a line of a recording.
type recorded struct {
	Ms  int             `json:"ms"`
	Dir string          `json:"dir"`
	Msg json.RawMessage `json:"msg"`
	wire.Envelope
}

func recording(t *testing.T, name string) (lines []recorded) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	require.NoError(t, err)
	for line := range bytes.Lines(raw) {
		var r recorded
		require.NoError(t, json.Unmarshal(line, &r))
		if r.Msg == nil {
			continue
		}
		r.Envelope = wire.Envelope{}
		require.NoError(t, json.Unmarshal(r.Msg, &r.Envelope))
		lines = append(lines, r)
	}
	return lines
}

// without drops the lines from the request with one id of ours until that with another one.
func without(lines []recorded, from, until string) []recorded {
	at := func(id string) int {
		return slices.IndexFunc(lines, func(r recorded) bool { return r.Dir == ">" && r.Method != "" && string(r.ID) == id })
	}
	return slices.Concat(lines[:at(from)], lines[at(until):])
}

// player plays the agent of a recording, in the recorded time.
type player struct {
	w    *world
	ids  map[string]json.RawMessage // of our requests, by the recorded ones
	run  *running
	open <-chan openResult
}

func (p *player) play(lines []recorded) {
	w := p.w
	last := 0
	for _, r := range lines {
		if r.Dir == "<" {
			pass(time.Duration(r.Ms-last) * time.Millisecond)
		}
		last = r.Ms
		switch {
		case r.Dir == "<" && r.Method != "":
			w.agent.raw(string(r.Msg))
			synctest.Wait()
		case r.Dir == "<":
			p.answered(r)
		case r.Method == "initialize":
			p.open = w.opening()
			p.ids[string(r.ID)] = w.agent.expect(r.Method).ID
		case r.Method == "session/new":
			m := w.agent.expect(r.Method)
			require.JSONEq(w, string(r.Params), string(m.Params))
			p.ids[string(r.ID)] = m.ID
		case r.Method == "session/prompt":
			p.prompted(r)
		case r.Method == "session/cancel":
			p.run.cancel()
			require.JSONEq(w, string(r.Params), string(w.agent.expect(r.Method).Params))
		case r.Method == "":
			m := w.agent.expect("")
			require.Equal(w, string(r.ID), string(m.ID))
			require.JSONEq(w, string(r.Result), string(m.Result))
		default:
			w.Fatalf("the player does not know %s", r.Method)
		}
	}
}

func (p *player) prompted(r recorded) {
	var params struct {
		Prompt []struct{ Text string }
	}
	require.NoError(p.w, json.Unmarshal(r.Params, &params))
	p.run = p.w.prompt(params.Prompt[0].Text)
	require.JSONEq(p.w, string(r.Params), string(p.run.m.Params))
	p.ids[string(r.ID)] = p.run.m.ID
}

// answered sends an answer to a request of ours, and waits for what it ends.
func (p *player) answered(r recorded) {
	var m map[string]json.RawMessage
	require.NoError(p.w, json.Unmarshal(r.Msg, &m))
	m["id"] = p.ids[string(r.ID)]
	p.w.agent.send(m)
	synctest.Wait()
	if p.run != nil {
		out := <-p.run.out
		p.w.host.note("outcome %s, error %v, %d unanswered, usage %+v", out.StopReason, out.Err, len(out.Unanswered), out.Usage)
		p.run = nil
		return
	}
	select {
	case o := <-p.open:
		raw, _ := json.Marshal(o.Opened)
		p.w.host.note("opened %s, error %v", raw, o.err)
	default:
	}
}

func TestRecordings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		engine string
		cut    func(lines []recorded) []recorded
		permit []bool // the answers, in turn
	}{
		"acp-omp":          {"omp", func(l []recorded) []recorded { return until(without(l, "9", "11"), "session/list") }, []bool{true, false, true}},
		"acp-claude-agent": {"claude", func(l []recorded) []recorded { return until(without(l, "6", "8"), "session/list") }, []bool{true, true}},
		// Without a login.
		"acp-claude-agent-no-login": {"claude", nil, nil},
		"acp-codex-no-login":        {"codex", nil, nil},
		"acp-gemini-no-login":       {"gemini", nil, nil},
		"acp-opencode-no-login":     {"opencode", func(l []recorded) []recorded { return until(l, "session/prompt") }, nil},
		"acp-pi-acp":                {"pi-acp", func(l []recorded) []recorded { return until(without(l, "5", "7"), "session/list") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, tc.engine)
				require.NoError(t, afero.WriteFile(w.fs, cwd+"/open.txt", []byte("on disk\n"), 0o600))
				require.NoError(t, afero.WriteFile(w.fs, "/sessions/1_"+session+".jsonl", nil, 0o600))
				w.host.open[cwd+"/open.txt"] = "unsaved one\nunsaved two\n"
				n := 0
				w.host.permit = func(context.Context, engine.Call) error {
					n++
					if !tc.permit[n-1] {
						return errNo
					}
					return nil
				}
				lines := recording(t, name)
				if tc.cut != nil {
					lines = tc.cut(lines)
				}
				(&player{w: w, ids: map[string]json.RawMessage{}}).play(lines)
				require.Len(t, tc.permit, n)
				golden(t, name, w.host.notes()+"\nopen.txt "+w.host.open[cwd+"/open.txt"])
			})
		})
	}
}

// until cuts a recording before a request of ours.
func until(lines []recorded, method string) []recorded {
	return lines[:slices.IndexFunc(lines, func(r recorded) bool { return r.Method == method })]
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	got = strings.TrimSpace(got) + "\n"
	if *updateGolden {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
