package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// desk is an editor and its open documents as a rewind uses them. Time passes only in until.
type desk struct {
	editor
	docs  change.Documents
	clock *clockFake
}

// startDesk starts a server for a client with the given capabilities and initializationOptions.
func startDesk(t *testing.T, workspace, window, options lsptest.Fields) desk {
	t.Helper()
	docs := make(chan change.Documents, 1)
	var clock *clockFake
	e := startEditingBy(t, func(f *fixture) { clock = f.clock }, func(c lsp.Client, disk afero.Fs) {
		docs <- c.EditorDocuments(diskFiles(disk))
	}, lsptest.Fields{"initializationOptions": options, "capabilities": lsptest.Fields{
		"workspace": workspace, "window": window, "general": lsptest.Fields{"positionEncodings": []string{"utf-16"}},
	}})
	return desk{e, receive(t, docs), clock}
}

// saved writes a file and opens it with the same text.
func (d desk) saved(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, afero.WriteFile(d.disk, path, []byte(text), 0o600))
	d.show(t, path, text)
}

// begin starts an edit. Each edit is a path, the text that it was and the new text.
func (d desk) begin(ctx context.Context, edits ...[3]string) <-chan error {
	var list []change.DocumentEdit
	for _, e := range edits {
		now, _ := d.docs.Document(e[0])
		list = append(list, change.DocumentEdit{Path: e[0], Version: now.Version, Was: e[1], Text: e[2]})
	}
	done := make(chan error, 1)
	go func() { done <- d.docs.Edit(ctx, "Rewind", list) }()
	return done
}

// until lets time pass until an edit has ended.
func until[T any](t *testing.T, d desk, done <-chan T) T {
	t.Helper()
	end := time.Now().Add(20 * time.Second)
	for {
		select {
		case v := <-done:
			return v
		default:
		}
		require.True(t, time.Now().Before(end), "it never ended")
		d.clock.advance(100 * time.Millisecond)
		runtime.Gosched()
	}
}

// until lets time pass until a condition holds.
func (d desk) until(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); runtime.Gosched() {
		require.True(t, time.Now().Before(end), "it never happened")
		d.clock.advance(100 * time.Millisecond)
	}
}

// running requires that an edit has not ended, although the server had the time.
func (d desk) running(t *testing.T, done <-chan error) {
	t.Helper()
	for range 5 {
		d.sync(t)
		select {
		case err := <-done:
			require.FailNow(t, "the edit has ended", err)
		default:
		}
	}
}

func requireStale(t *testing.T, path string, err error) {
	t.Helper()
	require.Equal(t, fault.Stale, fault.KindOf(err), err)
	require.Equal(t, path, pathIn(err))
}

func pathIn(err error) any {
	f, _ := err.(*fault.Error) //nolint:errorlint // it is the error itself
	if f == nil {
		return nil
	}
	return f.Data["path"]
}

func TestDocumentsAreChangedInOneStep(t *testing.T) {
	t.Parallel()
	for name, workspace := range map[string]lsptest.Fields{
		"with versions":    can(),
		"without versions": {"applyEdit": true},
		"with labels": {"applyEdit": true, "workspaceEdit": lsptest.Fields{
			"documentChanges": true, "changeAnnotationSupport": lsptest.Fields{},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDesk(t, workspace, nil, nil)
			d.saved(t, "/w/a", "1\n2\n3\n4\n5\n")
			d.saved(t, "/w/b", "ä\r\n😀b\r\nc")
			d.saved(t, "/w/same", "same\n")
			done := d.begin(t.Context(), [3]string{"/w/a", "1\n2\n3\n4\n5\n", "1\nzwei\n3\n5\n"},
				[3]string{"/w/b", "ä\r\n😀b\r\nc", "ä\r\n😀c\r\nc"}, [3]string{"/w/same", "same\n", "same\n"})
			r := d.WaitRequest("workspace/applyEdit")
			require.NotContains(t, string(r.Params), "same")
			require.Equal(t, []string{"1\nzwei\n3\n5\n", "ä\r\n😀c\r\nc"}, d.apply(t, r.Params, textdoc.UTF16))
			require.NotContains(t, string(r.Params), `"1\n`, "what is equal stays")
			d.Change("/w/b", 2, "ä\r\n😀c\r\nc")
			r.Reply(lsptest.Fields{"applied": true})
			d.running(t, done)
			d.Change("/w/a", 2, "1\nzwei\n3\n5\n")
			require.NoError(t, receive(t, done))
			now, open := d.docs.Document("/w/a")
			require.True(t, open)
			require.Equal(t, change.Document{Path: "/w/a", Text: "1\nzwei\n3\n5\n", Version: 2, Dirty: true}, now)
		})
	}
}

// apply applies a workspace/applyEdit to the open documents as the protocol says, and returns the texts of /w/a and /w/b.
func (d desk) apply(t *testing.T, params json.RawMessage, enc textdoc.Encoding) (texts []string) {
	t.Helper()
	return d.applyTo(t, params, 1, enc, "/w/a", "/w/b")
}

// applyTo is apply for documents of a version.
func (d desk) applyTo(t *testing.T, params json.RawMessage, version int64, enc textdoc.Encoding, paths ...string) (texts []string) {
	t.Helper()
	type edit struct {
		Range   textdoc.Range `json:"range"`
		NewText string        `json:"newText"`
	}
	p := decode[struct {
		Label string `json:"label"`
		Edit  struct {
			Changes         map[string][]edit `json:"changes"`
			DocumentChanges []struct {
				TextDocument struct {
					URI     string `json:"uri"`
					Version int64  `json:"version"`
				} `json:"textDocument"`
				Edits []edit `json:"edits"`
			} `json:"documentChanges"`
		} `json:"edit"`
	}](t, params)
	require.Equal(t, "Rewind", p.Label)
	all := p.Edit.Changes
	if all == nil {
		all = map[string][]edit{}
	}
	for _, c := range p.Edit.DocumentChanges {
		require.Equal(t, version, c.TextDocument.Version)
		all[c.TextDocument.URI] = c.Edits
	}
	for _, path := range paths {
		edits := all[lsptest.URI(path)]
		require.NotEmpty(t, edits)
		doc, _ := d.docs.Document(path)
		text := doc.Text
		for _, e := range slices.Backward(edits) { // in ascending order and apart, so the last one first
			text = lsp.ApplyChange(text, e.Range.Start, e.Range.End, e.NewText, enc)
		}
		texts = append(texts, text)
	}
	return texts
}

// Proves: RW-30
func TestTheReportsDecideAboutAnEdit(t *testing.T) {
	t.Parallel()
	const one, two = "one\n", "two\n"
	applied, not := lsptest.Fields{"applied": true}, lsptest.Fields{"applied": false, "failureReason": "It is\nlocked."}
	both := func(d desk) {
		d.Change("/w/a", 2, two)
		d.Change("/w/b", 2, two)
	}
	for name, tc := range map[string]struct {
		meanwhile func(t *testing.T, d desk, r lsptest.Request, done <-chan error)
		check     func(t *testing.T, err error)
	}{
		"reported before the answer": {
			func(_ *testing.T, d desk, r lsptest.Request, _ <-chan error) { both(d); r.Reply(applied) }, nil,
		},
		"reported after the answer": {
			func(t *testing.T, d desk, r lsptest.Request, done <-chan error) {
				r.Reply(applied)
				d.running(t, done)
				both(d)
			}, nil,
		},
		"reported late": {
			func(t *testing.T, d desk, r lsptest.Request, done <-chan error) {
				r.Reply(applied)
				for range 40 {
					d.running(t, done)
					d.clock.advance(100 * time.Millisecond)
				}
				both(d)
			}, nil,
		},
		"reported in steps": {
			func(t *testing.T, d desk, r lsptest.Request, done <-chan error) {
				d.Change("/w/a", 2, "")
				d.Change("/w/a", 3, "tw")
				r.Reply(applied)
				d.running(t, done)
				for range 8 {
					d.clock.advance(100 * time.Millisecond)
					d.running(t, done)
				}
				d.Change("/w/a", 4, "two")
				d.Change("/w/b", 2, two)
			}, nil,
		},
		"with other line ends": {
			func(_ *testing.T, d desk, r lsptest.Request, _ <-chan error) {
				d.Change("/w/a", 2, "two\r\n")
				d.Change("/w/b", 2, "two")
				r.Reply(applied)
			}, nil,
		},
		"the answer says no, the documents yes": {
			func(_ *testing.T, d desk, r lsptest.Request, _ <-chan error) { both(d); r.Reply(not) }, nil,
		},
		"the answer is lost": {
			func(_ *testing.T, d desk, _ lsptest.Request, _ <-chan error) { both(d) }, nil,
		},
		"the answer is no answer": {
			func(_ *testing.T, d desk, r lsptest.Request, _ <-chan error) { both(d); r.Reply("yes") }, nil,
		},
		"typed after it was made": {
			func(_ *testing.T, d desk, r lsptest.Request, _ <-chan error) {
				both(d)
				d.Change("/w/a", 3, "two\ntyped\n")
				r.Reply(applied)
			}, nil,
		},
		"closed after it was made": {
			func(_ *testing.T, d desk, r lsptest.Request, _ <-chan error) {
				both(d)
				d.Close("/w/a")
				r.Reply(applied)
			}, nil,
		},

		"refused": {
			func(_ *testing.T, _ desk, r lsptest.Request, _ <-chan error) { r.Reply(not) },
			func(t *testing.T, err error) {
				require.Equal(t, fault.Denied, fault.KindOf(err))
				require.Equal(t, `The editor refused to change /w/a. It is\nlocked.`, err.Error())
				require.Equal(t, "/w/a", pathIn(err))
			},
		},
		"refused with null":        {func(_ *testing.T, _ desk, r lsptest.Request, _ <-chan error) { r.Reply(nil) }, isDenied},
		"refused without a result": {func(_ *testing.T, _ desk, r lsptest.Request, _ <-chan error) { r.Reply(lsptest.Fields{}) }, isDenied},
		"not supported after all":  {func(_ *testing.T, _ desk, r lsptest.Request, _ <-chan error) { r.Fail(-32601, "unknown") }, isDenied},
		"failed":                   {func(_ *testing.T, _ desk, r lsptest.Request, _ <-chan error) { r.Fail(-32603, "broken") }, isDenied},

		"refused, but made in part": {
			func(_ *testing.T, d desk, r lsptest.Request, _ <-chan error) { d.Change("/w/a", 2, two); r.Reply(not) },
			func(t *testing.T, err error) { isUnknown(t, err); require.Equal(t, "/w/b", pathIn(err)) },
		},
		"applied, but never reported": {func(_ *testing.T, _ desk, r lsptest.Request, _ <-chan error) { r.Reply(applied) }, isUnknown},
		"applied, reported in part": {
			func(_ *testing.T, d desk, r lsptest.Request, _ <-chan error) {
				d.Change("/w/b", 2, two)
				r.Reply(applied)
			},
			func(t *testing.T, err error) { isUnknown(t, err); require.Equal(t, "/w/a", pathIn(err)) },
		},
		"no answer and no report":              {func(*testing.T, desk, lsptest.Request, <-chan error) {}, isUnknown},
		"an answer of another kind, no report": {func(_ *testing.T, _ desk, r lsptest.Request, _ <-chan error) { r.Reply(7) }, isUnknown},
		"a truth of another kind, and no report": {func(_ *testing.T, _ desk, r lsptest.Request, _ <-chan error) {
			r.Reply(lsptest.Fields{"applied": "true"})
		}, isUnknown},
		"reports of an old version": {
			func(_ *testing.T, d desk, r lsptest.Request, _ <-chan error) {
				d.Change("/w/a", 1, two)
				d.Change("/w/b", -7, two)
				r.Reply(applied)
			}, isUnknown,
		},
		"reports about other documents": {
			func(_ *testing.T, d desk, r lsptest.Request, _ <-chan error) {
				d.Change("/w/c", 2, two)
				d.Notify("textDocument/didChange", lsptest.Fields{"textDocument": lsptest.Fields{"uri": "untitled:a", "version": 2}, "contentChanges": []any{}})
				d.Notify("textDocument/didChange", nil)
				r.Reply(applied)
			}, isUnknown,
		},

		"the user typed first": {
			func(_ *testing.T, d desk, r lsptest.Request, _ <-chan error) {
				d.Change("/w/b", 2, "typed\n")
				r.Reply(not)
			},
			func(t *testing.T, err error) { requireStale(t, "/w/b", err) },
		},
		"dropped, but reported as applied": {
			func(_ *testing.T, d desk, r lsptest.Request, _ <-chan error) {
				d.Change("/w/a", 2, two)
				d.Change("/w/b", 2, "typed\n")
				r.Reply(applied)
			}, func(t *testing.T, err error) { requireStale(t, "/w/b", err) },
		},
		"typed, and the answer is lost": {
			func(_ *testing.T, d desk, _ lsptest.Request, _ <-chan error) { d.Change("/w/b", 2, "typed\n") },
			func(t *testing.T, err error) { requireStale(t, "/w/b", err) },
		},
		"closed": {
			func(_ *testing.T, d desk, r lsptest.Request, _ <-chan error) { d.Close("/w/a"); r.Reply(applied) },
			func(t *testing.T, err error) { requireStale(t, "/w/a", err) },
		},
		"loaded again": {
			func(_ *testing.T, d desk, r lsptest.Request, _ <-chan error) {
				d.Close("/w/a")
				d.Editor.Open("/w/a", one)
				r.Reply(applied)
			}, func(t *testing.T, err error) { requireStale(t, "/w/a", err) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDesk(t, can(), nil, nil)
			d.saved(t, "/w/a", one)
			d.saved(t, "/w/b", one)
			done := d.begin(t.Context(), [3]string{"/w/a", one, two}, [3]string{"/w/b", one, two})
			tc.meanwhile(t, d, d.WaitRequest("workspace/applyEdit"), done)
			d.sync(t)
			err := until(t, d, done)
			if tc.check == nil {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			tc.check(t, err)
		})
	}
}

func isDenied(t *testing.T, err error) {
	t.Helper()
	require.Equal(t, fault.Denied, fault.KindOf(err), err)
}

func isUnknown(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, change.ErrUnknown)
	require.Equal(t, fault.IO, fault.KindOf(err))
	require.Regexp(t, `^The editor did not report in time whether it changed /w/[ab]\.$`, err.Error())
}

// An edit is only asked for if every document is what the caller knows.
// Proves: RW-31
func TestEditsThatAreNotAskedFor(t *testing.T) {
	t.Parallel()
	d := startDesk(t, can(), nil, nil)
	d.saved(t, "/w/a", "one\n")
	d.saved(t, "/w/b", "one\n")
	a := [3]string{"/w/a", "one\n", "two\n"}
	requireStale(t, "/w/b", receive(t, d.begin(t.Context(), a, [3]string{"/w/b", "other\n", "two\n"})))
	requireStale(t, "/w/none", receive(t, d.begin(t.Context(), a, [3]string{"/w/none", "", "two\n"})))
	requireStale(t, "/w/b", receive(t, d.begin(t.Context(), [3]string{"/w/b", "other\n", "other\n"})))
	requireStale(t, "/w/a", receive(t, d.begin(t.Context(), a, a)))
	require.NoError(t, receive(t, d.begin(t.Context())))
	isDenied(t, receive(t, d.begin(t.Context(), [3]string{"/w/a", "one\n", "\xff\n"})))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, fault.Cancelled, fault.KindOf(receive(t, d.begin(ctx, a))))
	require.Zero(t, d.requests("workspace/applyEdit"))

	d = startDesk(t, nil, nil, nil)
	d.saved(t, "/w/a", "one\n")
	err := receive(t, d.begin(t.Context(), a))
	isDenied(t, err)
	require.Equal(t, "/w/a", pathIn(err))
	require.NoError(t, receive(t, d.begin(t.Context(), [3]string{"/w/a", "one\n", "one\n"})), "there is nothing to do")
}

// The edit of a tool that the client has not reported yet is waited for; what it never reports is stale.
func TestAnEditBehindAnEditOfATool(t *testing.T) {
	t.Parallel()
	d := startDesk(t, can(), nil, nil)
	d.saved(t, "/w/a", "one\n")
	write := d.write(t.Context(), "/w/a", d.read(t, "/w/a"), "two\n")
	d.WaitRequest("workspace/applyEdit").Reply(lsptest.Fields{"applied": true})
	require.NoError(t, receive(t, write).err)
	done := d.begin(t.Context(), [3]string{"/w/a", "two\n", "three\n"})
	d.running(t, done)
	d.Change("/w/a", 5, "two\n")
	r := d.WaitRequest("workspace/applyEdit")
	require.Contains(t, string(r.Params), `"version":5`)
	d.Change("/w/a", 6, "three\n")
	r.Reply(lsptest.Fields{"applied": true})
	require.NoError(t, receive(t, done))
}

func TestAnEditEndsWithItsContextAndWithTheServer(t *testing.T) {
	t.Parallel()
	const one, two = "one\n", "two\n"
	t.Run("cancelled before the answer", func(t *testing.T) {
		t.Parallel()
		d := startDesk(t, can(), nil, nil)
		d.saved(t, "/w/a", one)
		ctx, cancel := context.WithCancel(t.Context())
		done := d.begin(ctx, [3]string{"/w/a", one, two})
		r := d.WaitRequest("workspace/applyEdit")
		cancel()
		isUnknown(t, receive(t, done))
		require.JSONEq(t, `{"id":`+string(r.ID)+`}`, string(d.WaitNotification("$/cancelRequest")))
	})
	t.Run("cancelled after it was made", func(t *testing.T) {
		t.Parallel()
		d := startDesk(t, can(), nil, nil)
		d.saved(t, "/w/a", one)
		ctx, cancel := context.WithCancel(t.Context())
		done := d.begin(ctx, [3]string{"/w/a", one, two})
		d.WaitRequest("workspace/applyEdit")
		d.Change("/w/a", 2, two)
		d.sync(t)
		cancel()
		require.NoError(t, receive(t, done))
	})
	t.Run("cancelled after the answer", func(t *testing.T) {
		t.Parallel()
		d := startDesk(t, can(), nil, nil)
		d.saved(t, "/w/a", one)
		ctx, cancel := context.WithCancel(t.Context())
		done := d.begin(ctx, [3]string{"/w/a", one, two})
		d.WaitRequest("workspace/applyEdit").Reply(lsptest.Fields{"applied": true})
		d.running(t, done)
		cancel()
		isUnknown(t, receive(t, done))
	})
	t.Run("the editor is gone", func(t *testing.T) {
		t.Parallel()
		d := startDesk(t, can(), nil, nil)
		d.saved(t, "/w/a", one)
		done := d.begin(t.Context(), [3]string{"/w/a", one, two})
		d.WaitRequest("workspace/applyEdit")
		d.CloseInput()
		d.Wait()
		err := until(t, d, done)
		require.Error(t, err)
		require.NotEqual(t, fault.Denied, fault.KindOf(err), "it is not known to have done nothing")
	})
}

// Whatever the texts are, the edits of lines give the new one in each encoding.
func checkLineEdits(t *testing.T, old, text string) {
	t.Helper()
	for _, enc := range []textdoc.Encoding{textdoc.UTF8, textdoc.UTF16, textdoc.UTF32} {
		edits := lsp.LineEdits(old, text, enc)
		got := old
		for i, e := range slices.Backward(edits) {
			if i > 0 {
				before, after := edits[i-1].End, edits[i].Start
				require.True(t, before.Line < after.Line || before == after, "they are apart and in order")
			}
			got = lsp.ApplyChange(got, e.Start, e.End, e.Text, enc)
		}
		require.Equal(t, text, got, "%q in %s", old, enc)
	}
}

func TestLineEdits(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	lines := []string{"a\n", "b\n", "ä\r\n", "😀\n", "\n", "c\r", "d"}
	for range 2000 {
		var old, text strings.Builder
		for range random.IntN(12) {
			line := lines[random.IntN(len(lines))]
			if random.IntN(4) > 0 {
				old.WriteString(line)
			}
			if random.IntN(4) > 0 {
				text.WriteString(line)
			}
		}
		checkLineEdits(t, old.String(), text.String())
	}
	require.Len(t, lsp.LineEdits("1\n2\n3\n4\n5\n", "1\nx\n3\n4\n", textdoc.UTF8), 2, "what is between stays")
}

func FuzzLineEdits(f *testing.F) {
	f.Add("", "a")
	f.Add("a\r\nb\rc\n\n", "a\nb\r\rc\r\n")
	f.Add("ä\n😀\n", "ä\n😀😀\n")
	f.Fuzz(func(t *testing.T, old, text string) {
		checkLineEdits(t, strings.ToValidUTF8(old, "?"), strings.ToValidUTF8(text, "?"))
	})
}

// A document of many changed lines is changed with few edits, and quickly.
func TestEditsOfAHugeDocument(t *testing.T) {
	t.Parallel()
	var old, text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&old, "line %d\n", i)
		fmt.Fprintf(&text, "line %d\n", i+i%2)
	}
	edits := lsp.LineEdits(old.String(), text.String(), textdoc.UTF16)
	require.LessOrEqual(t, len(edits), 1000)
}

// An edit that the editor makes after it was given up is undone when it is reported, and nothing that the user typed is lost. If the user
// typed first, or the same edit was asked for again, nothing is undone.
// Proves: RW-30 (late)
func TestAnEditThatIsMadeLate(t *testing.T) {
	t.Parallel()
	const one, two = "a\nb\none\nc\nd\n", "a\nb\ntwo\nc\nd\n"
	applied := lsptest.Fields{"applied": true}
	undone := func(t *testing.T, d desk, reported int, want string) {
		t.Helper()
		r := d.WaitRequest("workspace/applyEdit")
		require.Equal(t, []string{want}, d.applyTo(t, r.Params, int64(reported), textdoc.UTF16, "/w/a"))
		d.Change("/w/a", reported+1, want)
		r.Reply(applied)
		d.sync(t)
		doc, _ := d.docs.Document("/w/a")
		require.Equal(t, want, doc.Text)
	}
	for name, late := range map[string]func(t *testing.T, d desk){
		"made": func(t *testing.T, d desk) {
			d.Change("/w/a", 2, two)
			undone(t, d, 2, one)
		},
		"made in steps": func(t *testing.T, d desk) {
			d.Change("/w/a", 2, "a\nb\ntw")
			d.Change("/w/a", 3, two)
			undone(t, d, 3, one)
		},
		"typed behind it": func(t *testing.T, d desk) {
			d.Change("/w/a", 2, two)
			r := d.WaitRequest("workspace/applyEdit")
			d.Change("/w/a", 3, two+"typed\n")
			r.Reply(lsptest.Fields{"applied": false})
			d.until(t, func() bool { return d.requests("workspace/applyEdit") == 3 })
			undone(t, d, 3, one+"typed\n")
		},
		"typed first": func(t *testing.T, d desk) {
			d.Change("/w/a", 2, "typed\n"+one)
			d.sync(t)
			d.clock.advance(2 * time.Second)
			d.Change("/w/a", 3, two)
			d.sync(t)
			require.Equal(t, 1, d.requests("workspace/applyEdit"))
		},
		"much later": func(t *testing.T, d desk) {
			d.clock.advance(2 * time.Minute)
			d.Change("/w/a", 2, two)
			d.sync(t)
			require.Equal(t, 1, d.requests("workspace/applyEdit"))
		},
		"opened again": func(t *testing.T, d desk) {
			d.Close("/w/a")
			d.Editor.Open("/w/a", two)
			d.sync(t)
			require.Equal(t, 1, d.requests("workspace/applyEdit"))
		},
		"wanted again": func(t *testing.T, d desk) {
			done := d.begin(t.Context(), [3]string{"/w/a", one, two})
			r := d.WaitRequest("workspace/applyEdit")
			d.Change("/w/a", 2, two)
			r.Reply(applied)
			require.NoError(t, receive(t, done))
			require.Equal(t, 2, d.requests("workspace/applyEdit"))
		},
		"typed over it": func(t *testing.T, d desk) {
			d.Change("/w/a", 2, two)
			r := d.WaitRequest("workspace/applyEdit")
			d.Change("/w/a", 3, "a\nb\ntwo of mine\nc\nd\n")
			r.Reply(lsptest.Fields{"applied": false})
			d.until(t, func() bool { return d.requests("window/showMessage") == 1 })
			require.Contains(t, string(d.WaitNotification("window/showMessage")), "Undo it in the editor.")
			require.Equal(t, 2, d.requests("workspace/applyEdit"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDesk(t, can(), nil, nil)
			d.saved(t, "/w/a", one)
			done := d.begin(t.Context(), [3]string{"/w/a", one, two})
			d.WaitRequest("workspace/applyEdit").Reply(applied)
			d.sync(t)
			isUnknown(t, until(t, d, done))
			d.docs.(change.Withdrawer).Withdraw("Rewind", []change.DocumentEdit{{Path: "/w/a", Was: one, Text: two}}) //nolint:forcetypeassert // it implements it
			late(t, d)
		})
	}
}
