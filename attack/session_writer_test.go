package attack

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// A program that writes to the user's open session as fast as it can moves no leaf, asks one question,
// and can't word it: what it writes is quoted, short and on one line.
func TestAHostileWriterBesideAnOpenSession(t *testing.T) {
	v := newVictim(t)
	path := filepath.Join(v.home, "all", "2026-01-01T00-00-00-000Z_0190000000000001.jsonl")
	v.write(path, st.File(st.Header("0190000000000001", v.work), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two")))
	ed := v.reader()
	_, wrong := ed.Exec("xcsh.resume", lsptest.Fields{"target": path})
	require.Nil(t, wrong, "%v", wrong)

	text := steering + strings.Join(poison, "\n") + strings.Repeat("long ", 1<<12)
	parent, written := "aaaaaaaa", 0
	write := func(lines int) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		for range lines {
			id := fmt.Sprintf("f%07d", written)
			entry := fields{"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z", "message": fields{"role": "user", "content": text, "timestamp": 1}}
			_, err := f.WriteString(rawJSON(entry) + "\n" + `{"type":"label","id":"` + id + "\n")
			require.NoError(t, err)
			written, parent = written+1, id
		}
		require.NoError(t, f.Close())
	}
	question := func() (asked []string) {
		for _, m := range ed.Messages() {
			if m.Method == "window/showMessageRequest" {
				asked = append(asked, string(m.Params))
			}
		}
		return asked
	}
	// The watch begins on a goroutine of its own.
	require.Eventually(t, func() bool { write(20); return len(question()) > 0 }, deadline, 50*time.Millisecond)
	write(500)
	_, wrong = ed.Exec("xcsh.rename", lsptest.Fields{"title": "mine"}) // reads all of it
	require.Nil(t, wrong, "%v", wrong)
	raw, wrong := ed.Exec("xcsh.snapshot", nil)
	require.Nil(t, wrong, "%v", wrong)
	var snapshot struct {
		ForeignBranch struct {
			Entries int
			Prompt  string
		}
		Messages []json.RawMessage
	}
	require.NoError(t, json.Unmarshal(raw, &snapshot))
	require.Len(t, snapshot.Messages, 2, "the user's conversation")
	require.Equal(t, written, snapshot.ForeignBranch.Entries)
	require.LessOrEqual(t, len(snapshot.ForeignBranch.Prompt), 500)

	ed.WaitRequest("window/showMessageRequest") // it is not answered
	require.Len(t, question(), 1)
	for _, s := range texts([]byte(question()[0])) {
		requireSteersNothing(t, "question", s)
		require.LessOrEqual(t, strings.Count(s, "\n"), 1)
		require.Less(t, len(s), 800)
	}
	ed.Shutdown()
}
