package session_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// operations are the ways to write sessions. Each returns the path of the session that it
// made or changed, "" for none.
var operations = map[string]struct {
	file func() string // conversation when nil
	run  func(w *kit.Trial) (path string, err error)
}{
	"several appends": {nil, func(w *kit.Trial) (string, error) {
		var failed error
		for i := range 4 {
			failed = errors.Join(failed, w.Append(w.Log, kit.Say("user", fmt.Sprint(i))))
		}
		return w.Path, failed
	}},
	"append and flush": {nil, func(w *kit.Trial) (string, error) {
		return w.Path, errors.Join(w.Append(w.Log, kit.Say("user", "x")), w.Log.Flush(), w.Append(w.Log, kit.Say("user", "y")), w.Log.Flush())
	}},
	"append to a torn file": {func() string { return kit.Conversation() + `{"torn` }, func(w *kit.Trial) (string, error) {
		return w.Path, errors.Join(w.Append(w.Log, kit.Say("user", "x")), w.Append(w.Log, kit.Say("user", "y")))
	}},
	"append with an image": {nil, func(w *kit.Trial) (string, error) {
		return w.Path, w.Append(w.Log, imageMessage(base64.StdEncoding.EncodeToString(make([]byte, 3000))))
	}},
	"append behind another's line": {nil, func(w *kit.Trial) (string, error) {
		err := w.Append(w.Log, kit.Say("user", "x"))
		kit.Put(w.T, w.Base, w.Path, kit.Content(w.T, w.Base, w.Path)+st.User("ffffffff", "bbbbbbbb", "theirs")+"\n")
		w.Acked = append(w.Acked, "ffffffff")
		return w.Path, errors.Join(err, w.Append(w.Log, kit.Say("user", "y")))
	}},
	"append to a file that was deleted": {nil, func(w *kit.Trial) (string, error) {
		require.NoError(w.T, w.Base.Remove(w.Path))
		return w.Path, w.Append(w.Log, kit.Say("user", "x"))
	}},
	"lend a torn file": {func() string { return kit.Conversation() + `{"torn` }, func(w *kit.Trial) (string, error) {
		failed := w.Append(w.Log, kit.Say("user", "x"))
		lent, err := w.Log.Lend("pi")
		if err != nil {
			return w.Path, errors.Join(failed, err)
		}
		return w.Path, errors.Join(failed, lent.Return(), w.Append(w.Log, kit.Say("user", "y")))
	}},
	"lend a new session": {nil, func(w *kit.Trial) (string, error) {
		l, err := w.S.Create("/w", session.NewOptions{})
		if err != nil {
			return "", err
		}
		w.Log = l
		err = w.Append(l, kit.Say("user", "x"))
		lent, lendErr := l.Lend("pi")
		if lendErr != nil { // a caller that gets the error saves again
			return l.Path(), errors.Join(err, lendErr, l.EnsureOnDisk())
		}
		return l.Path(), errors.Join(err, lent.Return())
	}},
	"fork into another form": {nil, func(w *kit.Trial) (string, error) {
		return w.Forked(w.S.ForkInto(w.Path, session.Into{Program: session.Pi, Dir: w.Dir, Cwd: "/w"}))
	}},
	"create": {nil, func(w *kit.Trial) (string, error) {
		l, err := w.S.Create("/w", session.NewOptions{})
		if err != nil {
			return "", err
		}
		err = errors.Join(w.Append(l, kit.Say("user", "x")), w.Append(l, kit.Say("assistant", "y")), w.Append(l, kit.Say("user", "z")))
		w.Log = l
		return l.Path(), err
	}},
	"create at a path": {nil, func(w *kit.Trial) (string, error) {
		l, err := w.S.CreateAt(filepath.Join(w.Dir, "named.jsonl"), "/w")
		if err != nil {
			return "", err
		}
		return l.Path(), w.Append(l, kit.Say("user", "x"))
	}},
	"rename in the header": {nil, func(w *kit.Trial) (string, error) {
		_, err := w.Log.SetTitle(session.Title{Text: "T"})
		return w.Path, errors.Join(w.Append(w.Log, kit.Say("user", "x")), err)
	}},
	"rename between appends": {nil, func(w *kit.Trial) (string, error) {
		failed := w.Append(w.Log, kit.Say("user", "x"))
		_, err := w.Log.SetTitle(session.Title{Text: "T"})
		return w.Path, errors.Join(failed, err, w.Append(w.Log, kit.Say("user", "y")))
	}},
	"describe": {nil, func(w *kit.Trial) (string, error) {
		err := errors.Join(w.Describe("first"), w.Describe("second"))
		return w.Path, errors.Join(err, w.Log.Flush(), w.Append(w.Log, kit.Say("user", "x")))
	}},
	"save before an answer": {nil, func(w *kit.Trial) (string, error) {
		l, err := w.S.Create("/w", session.NewOptions{})
		if err != nil {
			return "", err
		}
		w.Log = l
		err = w.Append(l, kit.Say("user", "x"))
		failed := l.EnsureOnDisk()
		if failed != nil { // a caller that gets the error saves again
			failed = errors.Join(failed, l.EnsureOnDisk())
		}
		return l.Path(), errors.Join(err, failed, l.Flush(), w.Append(l, kit.Say("user", "y")))
	}},
	"keep a session in memory": {nil, func(w *kit.Trial) (string, error) {
		l := w.S.Memory("/w", session.NewOptions{})
		require.NoError(w.T, errors.Join(w.Append(l, kit.Say("user", "x")), w.Append(l, kit.Say("assistant", "y"))))
		kept, err := w.S.Keep(l)
		if kept == nil {
			_, more := l.Append(kit.Say("user", "goes on in memory"))
			require.NoError(w.T, more)
			w.Tried = nil
			return "", err
		}
		w.Log = kept
		return kept.Path(), errors.Join(err, w.Append(kept, kit.Say("user", "z")))
	}},
	"rename in the slot": {func() string { return kit.SlotLine() + "\n" + kit.Conversation() }, func(w *kit.Trial) (string, error) {
		_, err := w.Log.SetTitle(session.Title{Text: "T", Source: "user"})
		return w.Path, errors.Join(err, w.Append(w.Log, kit.Say("user", "x")))
	}},
	"migrate": {func() string {
		old := `{"type":"message","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"one"}}`
		return st.File(`{"type":"session","id":"0123456789abcdef","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`, old)
	}, func(w *kit.Trial) (string, error) {
		return w.Path, errors.Join(w.Append(w.Log, kit.Say("user", "x")), w.Append(w.Log, kit.Say("user", "y")))
	}},
	"fork": {nil, func(w *kit.Trial) (string, error) { return w.Forked(w.S.Fork(w.Log)) }},
	"fork of a file": {nil, func(w *kit.Trial) (string, error) {
		return w.Forked(w.S.ForkFrom(w.Path, "/v"))
	}},
	"branch to a file": {nil, func(w *kit.Trial) (string, error) {
		fork, _, err := w.S.ForkAt(w.Log, "bbbbbbbb", session.AtIt)
		return w.Forked(fork, err)
	}},
	"salvage": {func() string { return kit.Conversation() + "{torn\n" }, func(w *kit.Trial) (string, error) {
		out := filepath.Join(w.Dir, "salvaged.jsonl")
		if _, err := w.S.Salvage(w.Path, out, "/w"); err != nil {
			return "", err
		}
		w.Acked = append(w.Acked, "aaaaaaaa", "bbbbbbbb")
		return out, nil
	}},
	"write a file": {nil, func(w *kit.Trial) (string, error) {
		return "", w.S.WriteFile(filepath.Join(w.Dir, "export.html"), false, func(out io.Writer) error {
			_, err := io.WriteString(out, "exported")
			return err
		})
	}},
	"write over a file": {nil, func(w *kit.Trial) (string, error) {
		kit.Put(w.T, w.Base, filepath.Join(w.Dir, "export.html"), "before")
		err := w.S.WriteFile(filepath.Join(w.Dir, "export.html"), true, func(out io.Writer) error {
			_, err := io.WriteString(out, "exported")
			return err
		})
		want := "exported"
		if err != nil {
			want = "before"
		}
		require.Equal(w.T, want, kit.Content(w.T, w.Base, filepath.Join(w.Dir, "export.html")), "fault %d", w.Faulty.At)
		return "", err
	}},
	"breadcrumb": {nil, func(w *kit.Trial) (string, error) {
		dir := filepath.Join(w.Dir, "terminals")
		kit.Put(w.T, w.Base, filepath.Join(dir, "tty1"), "/w\n/before.jsonl\n")
		err := library.WriteBreadcrumb(w.Faulty, dir, "tty1", "/w", "/after.jsonl")
		want := "/after.jsonl"
		if err != nil {
			want = "/before.jsonl"
		}
		require.Equal(w.T, "/w\n"+want+"\n", kit.Content(w.T, w.Base, filepath.Join(dir, "tty1")), "fault %d", w.Faulty.At)
		return "", err
	}},
}

// TestNoFaultLosesAcknowledgedEntries fails every step of every write operation in turn,
// with and without the read steps.
// Proves: F-12
func TestNoFaultLosesAcknowledgedEntries(t *testing.T) {
	t.Parallel()
	for name, op := range operations {
		for mode, how := range []string{"once", "dead", "short"} {
			for _, reads := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s reads=%v", name, how, reads), func(t *testing.T) {
					t.Parallel()
					file := kit.Conversation()
					if op.file != nil {
						file = op.file()
					}
					at := 1
					for kit.TryOperation(t, kit.NewTrial(t, file, at, st.Mode(mode), reads), op.run) {
						require.Less(t, at, 1000, "the operation never runs through")
						at++
					}
					require.Greater(t, at, 3, "hardly a step could fail")
				})
			}
		}
	}
}
