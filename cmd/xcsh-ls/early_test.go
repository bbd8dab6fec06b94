package main_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// largeSession writes a session of more than 64 MiB.
func largeSession(t *testing.T, fs afero.Fs, path string) {
	t.Helper()
	const text = 256 << 10
	lines := []string{st.Header("0190000000000001", "/w")}
	parent := ""
	for i := range 64<<20/text + 4 {
		id := fmt.Sprintf("%08x", i+1)
		line := st.User(id, parent, fmt.Sprint(i, " ", strings.Repeat("x", text)))
		if i%2 == 1 {
			line = st.Assistant(id, parent, fmt.Sprint("answer ", i, " ", strings.Repeat("y", text)))
		}
		lines, parent = append(lines, line), id
	}
	lines = append(lines, st.Assistant("ffffffff", parent, "the last answer"))
	putText(t, fs, path, st.File(lines...))
}

// earlyResult is the part of the result of xcsh.resume that differs in an early answer.
type earlyResult struct {
	Switched bool
	Session  struct {
		SessionID, LeafID string
		Usage             json.RawMessage
		MessageCount      *int
		Pending           []string
	}
	Summary json.RawMessage
	Pending []string
}

func resumeLarge(t *testing.T, options lsptest.Fields) (ed *lsptest.Editor, r earlyResult) {
	t.Helper()
	fs := afero.NewMemMapFs()
	require.NoError(t, fs.MkdirAll("/w", 0o755))
	largeSession(t, fs, sharedFile)
	options["roots"] = []string{"/home/u/.pi/agent"}
	ed = ask(t, memoryServer(t, fs), options, nil)
	raw, err := ed.Exec("xcsh.resume", lsptest.Fields{"target": sharedFile})
	require.Nil(t, err)
	require.NoError(t, json.Unmarshal(raw, &r))
	require.True(t, r.Switched)
	require.Equal(t, "0190000000000001", r.Session.SessionID)
	require.Equal(t, "ffffffff", r.Session.LeafID)
	return ed, r
}

func TestALargeSessionIsShownEarly(t *testing.T) {
	t.Parallel()
	ed, r := resumeLarge(t, lsptest.Fields{"lateValues": true})
	require.JSONEq(t, "null", string(r.Session.Usage))
	require.Nil(t, r.Session.MessageCount)
	require.JSONEq(t, "null", string(r.Summary))
	require.Subset(t, r.Pending, []string{"usage", "messageCount", "summary", "repairs"})
	require.Subset(t, r.Pending, r.Session.Pending)

	var late struct {
		Cwd, SessionID string
		State          struct {
			Usage        struct{ Input int }
			MessageCount int
			Pending      []string
		}
		Summary struct{ Text string }
		Repairs []any
		Pending []string
	}
	require.NoError(t, json.Unmarshal(ed.WaitNotification("xcsh/sessionState"), &late))
	require.Equal(t, "/w", late.Cwd)
	require.Equal(t, "0190000000000001", late.SessionID)
	require.Equal(t, 64*4+4+1, late.State.MessageCount)
	require.Empty(t, late.State.Pending)
	require.NotNil(t, late.Pending)
	require.Empty(t, late.Pending)
	require.NotNil(t, late.Repairs)
	require.Contains(t, late.Summary.Text, "You are resuming")

	raw, err := ed.Exec("xcsh.snapshot", lsptest.Fields{"last": 1})
	require.Nil(t, err)
	require.Contains(t, string(raw), "the last answer")
	changes := 0
	for _, m := range ed.Messages() {
		if m.Method == "xcsh/sessionChanged" {
			changes++
		}
	}
	require.Equal(t, 2, changes, "the folder's first session and this one; nothing is reloaded")
}

func TestALargeSessionIsReadFirstForOtherClients(t *testing.T) {
	t.Parallel()
	ed, r := resumeLarge(t, lsptest.Fields{})
	require.NotNil(t, r.Session.MessageCount)
	require.NotEqual(t, "null", string(r.Summary))
	require.Empty(t, r.Pending)
	_, err := ed.Exec("xcsh.stats", nil)
	require.Nil(t, err)
	for _, m := range ed.Messages() {
		require.NotEqual(t, "xcsh/sessionState", m.Method)
	}
}
