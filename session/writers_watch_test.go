package session_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// TestRefreshWhileAway: with the watcher no failure is needed: Refresh sees a replacement that is not atomic (removed,
// then back), and from then on nothing is saved any more.
func TestRefreshWhileAway(t *testing.T) {
	fs, path := kit.Disk(t)
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	s := kit.StoreIn(fs, filepath.Dir(path), nil)
	l, err := s.Open(path)
	require.NoError(t, err)
	require.NoError(t, os.Rename(path, path+".bak"))
	_, err = l.Refresh()
	require.NoError(t, err)
	require.NoError(t, os.Rename(path+".bak", path))
	_, err = l.Append(kit.Say("user", "X"))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.Equal(t, []string{"one", "two", "X"}, reopenTexts(t, s, path))
}

const piHeader = `{"type":"session","version":3,"id":"11111111-2222-3333-4444-555555555555","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`

// TestTailStateDiffers: the context read from the end lacks the state that entries before the compaction set (mode,
// rules, tools, service tier), which reading the whole file gives.
func TestTailStateDiffers(t *testing.T) {
	fs, path := kit.Disk(t)
	pi := session.Pi
	require.NoError(t, os.WriteFile(path, []byte(st.File(piHeader,
		`{"type":"mode_change","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","mode":"plan"}`,
		`{"type":"ttsr_injection","id":"00000002","parentId":"00000001","timestamp":"2026-01-01T00:00:00.000Z","injectedRules":["r"]}`,
		st.User("aaaaaaaa", "00000002", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"),
		`{"type":"thinking_level_change","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:00.000Z","thinkingLevel":"high"}`,
		`{"type":"compaction","id":"dddddddd","parentId":"cccccccc","timestamp":"2026-01-01T00:00:00.000Z","summary":"s","firstKeptEntryId":"bbbbbbbb","tokensBefore":1}`,
		st.User("eeeeeeee", "dddddddd", "three"),
	)), 0o600))
	doc, err := session.LoadAs(fs, path, &pi)
	require.NoError(t, err)
	whole, _, err := session.BuildContext(doc, session.AtLast(), nil)
	require.NoError(t, err)
	tail, ok, err := session.LoadTail(fs, path, &pi, nil)
	require.NoError(t, err)
	if ok {
		require.Equal(t, asJSON(t, whole), asJSON(t, tail.Context))
	}
}

// TestTailLongLine: one line of 300 MiB at the end is read into memory as a whole, several times, though the reader of
// whole files skips it.
func TestTailLongLine(t *testing.T) {
	racetest.Large(t)
	fs, path := kit.Disk(t)
	pi := session.Pi
	require.NoError(t, os.WriteFile(path, []byte(st.File(piHeader, st.User("aaaaaaaa", "", "one"))), 0o600))
	require.NoError(t, os.Truncate(path, 300<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := session.LoadTail(fs, path, &pi, nil)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	t.Log((after.TotalAlloc-before.TotalAlloc)>>20, "MiB allocated")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200<<20))
}

// TestRoleOfRepeatedMembers: the index and the entry agree on the role when members are repeated or escaped.
func TestRoleOfRepeatedMembers(t *testing.T) {
	for _, message := range []string{
		`"message":{"role":"user"},"message":{"role":"assistant","content":[],"usage":{"input":5}}`,
		`"message":{"role":"user","role":"assistant","content":[],"usage":{"input":5}}`,
		`"message":{"r\u006fle":"assistant","content":[],"usage":{"input":5}}`,
		`"mess\u0061ge":{"role":"assistant","content":[],"usage":{"input":5}}`,
		`"message":{"role":"ass\u0069stant","content":[],"usage":{"input":5}}`,
		`"message":{"role":"assistant","content":[{"role":"user"}],"usage":{"input":5}}`,
	} {
		doc, err := session.Parse([]byte(st.File(st.Header("0123456789abcdef", "/w"),
			`{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z",`+message+`}`)))
		require.NoError(t, err)
		u, err := doc.Usage()
		require.NoError(t, err)
		require.InDelta(t, 5.0, u.Input, 0, message)
	}
}

var _ = strings.Repeat
