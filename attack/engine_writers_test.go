package attack

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// manyEntries is how many entries two programs write together.
const manyEntries = 1000

// toolsOfTurn makes a turn long: an answer with calls, their results and another answer.
var toolsOfTurn = "[[par]]" + strings.Repeat(`[[tool:read {"path":"read.txt"}]]`, 10)

// entriesOfTurn are those, with the prompt.
const entriesOfTurn = 13

// The program of a terminal writes to the session that the engine has, at the same time. Nothing is lost, both continue on
// branches of their own, and the user is notified once.
// Proves: EF-26
func TestTwoWriters(t *testing.T) {
	eachEngine(t, func(t *testing.T, v *victim, pi string) {
		v.write(v.path("read.txt"), "text\n")
		ed := v.edit(lsptest.Fields{"approval": "yolo", "engine": "pi"})
		v.exec(ed, "xcsh.prompt", lsptest.Fields{"text": "[[say:first]]"})
		path, id := v.onlyFile()
		require.Zero(t, v.notices(ed, "Another program writes this session"))

		turns := manyEntries/entriesOfTurn/2 + 1
		other := v.terminal(pi, "--session", path, "--session-dir", filepath.Dir(path))
		written := make(chan error, 1)
		go func() {
			for n := range turns {
				if err := other.prompt(fmt.Sprintf("theirs-%d %s [[say:x]]", n, toolsOfTurn)); err != nil {
					written <- err
					return
				}
			}
			written <- nil
		}()
		for n := range turns {
			v.exec(ed, "xcsh.prompt", lsptest.Fields{"text": fmt.Sprintf("ours-%d %s [[say:x]]", n, toolsOfTurn)})
		}
		require.NoError(t, <-written)
		v.exec(ed, "xcsh.prompt", lsptest.Fields{"text": "ours-last [[say:x]]"})
		require.NoError(t, other.prompt("theirs-last [[say:x]]"))
		require.Equal(t, 1, v.notices(ed, "Another program writes this session too. Both go on, on branches of their own."))

		theirs, err := other.entries()
		require.NoError(t, err)
		var state struct{ LeafID string }
		require.NoError(t, json.Unmarshal(v.exec(ed, "xcsh.state", nil), &state))
		ed.Shutdown()
		ed.Exit()
		require.NoError(t, other.end())

		doc := v.load(path)
		defer doc.Close()
		require.GreaterOrEqual(t, doc.Len(), manyEntries)
		for _, entry := range append(theirs.ids, reported(ed, id)...) {
			_, err := doc.Index(entry)
			require.NoError(t, err, "an entry is lost")
		}
		ours, others := branch(t, doc, state.LeafID), branch(t, doc, theirs.leaf)
		for name, has := range map[string]struct{ all, mine, other string }{
			"the engine's branch": {ours, "ours", "theirs"}, "the terminal's branch": {others, "theirs", "ours"},
		} {
			for n := range turns {
				require.Contains(t, has.all, fmt.Sprintf("%s-%d ", has.mine, n), name)
			}
			require.Contains(t, has.all, has.mine+"-last ", name)
			require.NotContains(t, has.all, has.other+"-", name)
		}
	})
}

// onlyFile returns the only session file of pi, and the session's id.
func (v *victim) onlyFile() (path, id string) {
	v.t.Helper()
	files := v.piFiles()
	require.Len(v.t, files, 1)
	for id, path = range files {
	}
	return path, id
}

// notices counts the notices that begin with a text.
func (v *victim) notices(ed *lsptest.Editor, text string) (n int) {
	for _, m := range ed.Messages() {
		var p struct{ Event struct{ Type, Text string } }
		if m.Method == "xcsh/event" && json.Unmarshal(m.Params, &p) == nil && p.Event.Type == "notice" && strings.HasPrefix(p.Event.Text, text) {
			n++
		}
	}
	return n
}

// reported returns the entries of a session whose ids the client was sent.
func reported(ed *lsptest.Editor, id string) (entries []string) {
	for _, m := range ed.Messages() {
		var p struct {
			SessionID string
			Event     struct{ EntryID string }
		}
		if m.Method == "xcsh/event" && json.Unmarshal(m.Params, &p) == nil && p.SessionID == id && p.Event.EntryID != "" {
			entries = append(entries, p.Event.EntryID)
		}
	}
	return entries
}

// branch returns the text of the prompts before a leaf.
func branch(t *testing.T, doc *session.Document, leaf string) string {
	t.Helper()
	_, err := doc.Index(leaf)
	require.NoError(t, err)
	var text strings.Builder
	for _, i := range doc.PathTo(session.At(leaf)) {
		if doc.Role(i) == "user" {
			e, err := doc.Entry(i)
			require.NoError(t, err)
			text.Write(rawjson.Get(e.Message(), "content"))
		}
	}
	return text.String()
}

// terminal is a pi that another program runs.
type terminal struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// terminal starts the program in its RPC mode, and waits until it has opened its session.
func (v *victim) terminal(path string, args ...string) *terminal {
	v.t.Helper()
	like := v.command()
	cmd := exec.CommandContext(v.t.Context(), path, append([]string{"--mode", "rpc", "--no-approve"}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stderr = like.Env, like.Dir, &testLog{t: v.t}
	in, err := cmd.StdinPipe()
	require.NoError(v.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(v.t, err)
	require.NoError(v.t, cmd.Start())
	v.t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	p := &terminal{cmd, in, bufio.NewReader(out)}
	_, err = p.until(map[string]string{"type": "get_state"}, "response")
	require.NoError(v.t, err)
	return p
}

// until sends a command and reads lines up to the first of a type, which it returns.
func (p *terminal) until(command any, typ string) ([]byte, error) {
	line, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	for {
		line, err := p.out.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		if is, _ := rawjson.GetString(line, "type"); is == typ {
			return line, nil
		}
	}
}

// prompt sends a prompt and waits until it is answered.
func (p *terminal) prompt(text string) error {
	_, err := p.until(map[string]string{"type": "prompt", "message": text}, "agent_settled")
	return err
}

// known are the entries that a pi knows.
type known struct {
	ids  []string
	leaf string
}

func (p *terminal) entries() (k known, err error) {
	line, err := p.until(map[string]string{"type": "get_entries"}, "response")
	if err != nil {
		return k, err
	}
	var answer struct {
		Data struct {
			Entries []struct{ ID string }
			LeafID  string
		}
	}
	err = json.Unmarshal(line, &answer)
	for _, e := range answer.Data.Entries {
		k.ids = append(k.ids, e.ID)
	}
	k.leaf = answer.Data.LeafID
	return k, err
}

// end ends its input and waits for it.
func (p *terminal) end() error {
	_ = p.in.Close()
	return p.cmd.Wait()
}
