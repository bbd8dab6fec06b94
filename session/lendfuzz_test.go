package session_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Whatever a program appends to a lent session, in whatever pieces, it is read without harm, each entry is caught once, no byte is changed, and
// the session can be converted into every form, which its program can read.
func FuzzLend(f *testing.F) {
	line := func(id, parent, rest string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"x"}%s}`+"\n", id, parent, rest)
	}
	f.Add([]byte(line("c0000001", "bbbbbbbb", "")), 20)
	f.Add([]byte("\x00\xFF garbage\n{\"half"), 3)
	f.Add([]byte("{\"type\":\"message\",\n\"id\":\"c0000001\"}\n"+line("c0000002", "c0000001", "")), 19)
	f.Add([]byte(line("c0000001", "c0000002", "")+line("c0000002", "c0000001", "")+line("aaaaaaaa", "c0000001", "")), 200)
	f.Add([]byte(`{"type":"session","version":9,"id":"other"}`+"\n"+line("", "", "")), 10)
	f.Add([]byte(`{"type":"context_edit","id":"c0000001","parentId":"bbbbbbbb","targetId":"bbbbbbbb","replacement":{"content":[{"type":"image","data":"blob:sha256:x"}]}}`+"\n"), 0)
	f.Add([]byte(`{"type":"compaction","id":"c0000001","parentId":"bbbbbbbb","firstKeptEntryId":"bbbbbbbb","preserveData":[],"fromHook":1}`+"\n"+
		`{"type":"message","id":"c0000002","parentId":"c0000001","message":{"role":"fileMention","files":[1,{"path":2,"image":{}}]}}`+"\n"), 7)
	f.Add([]byte(strings.Repeat("[", 5000)+"\n"+line("c0000001", "bbbbbbbb", "")), 100)
	f.Fuzz(func(t *testing.T, more []byte, at int) {
		fs := afero.NewMemMapFs()
		kit.Put(t, fs, kit.Filed, kit.Conversation())
		s := kit.NewStore(fs)
		l, err := s.Open(kit.Filed)
		require.NoError(t, err)
		lent, err := l.Lend("pi")
		require.NoError(t, err)
		content := []byte(kit.Conversation())
		places := 0
		at = max(0, min(at, len(more)))
		for _, part := range [][]byte{more[:at], more[at:]} {
			content = append(content, part...)
			require.NoError(t, afero.WriteFile(fs, kit.Filed, content, 0o600))
			entries, err := lent.Catch()
			require.NoError(t, err)
			for _, e := range entries {
				require.NotEmpty(t, e.Type)
				_, _ = e.Role(), e.Message()
				lent.Leaf(e.ID)
			}
			places += len(entries)
		}
		require.NoError(t, l.View(func(d *session.Document, _ session.Leaf) error {
			require.Equal(t, 2+places, d.Len())
			return nil
		}))
		_, _, err = l.Context()
		require.NoError(t, err)
		require.NoError(t, lent.Return())
		require.NoError(t, l.Close())
		after, err := afero.ReadFile(fs, kit.Filed)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, after))
		for _, to := range []session.Dialect{session.Xcsh, session.Pi, session.Omp} {
			fork, err := s.ForkInto(kit.Filed, session.Into{Program: to, Dir: filepath.Join("/forks", to.String()), Cwd: "/w"})
			require.NoError(t, err)
			require.NoError(t, fork.View(func(d *session.Document, _ session.Leaf) error {
				require.Empty(t, d.Unreadable(to))
				for _, p := range d.Problems() {
					require.Contains(t, []session.ProblemKind{session.DuplicateID}, p.Kind, p.Message)
				}
				return nil
			}))
			require.NoError(t, fork.Close())
		}
	})
}

// A session made to cost quadratic time, were each entry followed to its root, is converted in about the time of any other.
func TestForkIntoTakesNoQuadraticTime(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	const n = 40_000
	var b strings.Builder
	b.WriteString(strings.SplitAfter(kit.Conversation(), "\n")[0])
	parent := "null"
	add := func(i int, typ, rest string) {
		fmt.Fprintf(&b, `{"type":%q,"id":"%08x","parentId":%s,"timestamp":"2026-01-01T00:00:01.000Z"%s}`+"\n", typ, i, parent, rest)
		parent = fmt.Sprintf(`"%08x"`, i)
	}
	add(1, "title_change", "")
	for i := range n { // a chain of what is left out, with compactions that keep from its root
		switch i % 3 {
		case 0:
			add(i+2, "title_change", "")
		case 1:
			add(i+2, "compaction", `,"summary":"s","firstKeptEntryId":"00000001"`)
		default:
			add(i+2, "context_edit", `,"targetId":"00000001","replacement":null`)
		}
	}
	fs := afero.NewMemMapFs()
	kit.Put(t, fs, kit.Filed, b.String())
	s := kit.NewStore(fs)
	began := time.Now()
	for _, to := range []session.Dialect{session.Xcsh, session.Pi} {
		l, err := s.ForkInto(kit.Filed, session.Into{Program: to, Dir: "/forks/" + to.String(), Cwd: "/w"})
		require.NoError(t, err)
		require.NoError(t, l.Close())
	}
	require.Less(t, time.Since(began), time.Minute, "it takes a second")
}
