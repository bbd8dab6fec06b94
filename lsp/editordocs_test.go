package lsp_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// canSave are the initializationOptions of a client that saves documents.
func canSave() lsptest.Fields { return lsptest.Fields{"ui": lsptest.Fields{"save": true}} }

// canShow are the window capabilities of a client that shows documents.
func canShow() lsptest.Fields { return lsptest.Fields{"showDocument": lsptest.Fields{"support": true}} }

func (d desk) saving(ctx context.Context, paths ...string) <-chan []string {
	done := make(chan []string, 1)
	go func() { done <- d.docs.Save(ctx, paths) }()
	return done
}

func TestOpenDocuments(t *testing.T) {
	t.Parallel()
	d := startDesk(t, can(), nil, nil)
	_, open := d.docs.Document("/w/a")
	require.False(t, open)
	d.saved(t, "/w/a", "one\r\n")
	doc, open := d.docs.Document("/w/a")
	require.True(t, open)
	require.Equal(t, change.Document{Path: "/w/a", Text: "one\r\n", Version: 1}, doc)
	d.Change("/w/a", 2, "typed\r\n")
	d.sync(t)
	doc, _ = d.docs.Document("/w/a")
	require.Equal(t, change.Document{Path: "/w/a", Text: "typed\r\n", Version: 2, Dirty: true}, doc)
	d.Close("/w/a")
	d.sync(t)
	_, open = d.docs.Document("/w/a")
	require.False(t, open)
}

// A file that a command changed has no unsaved changes in the editor, although the editor has not read it again.
func TestADocumentThatTheEditorHasNotReadAgain(t *testing.T) {
	t.Parallel()
	d := startDesk(t, can(), nil, nil)
	d.saved(t, "/w/a", "one\n")
	require.Equal(t, unsaved{}, receive(t, d.saveEdits(t.Context(), false)), "as before a command")
	require.NoError(t, afero.WriteFile(d.disk, "/w/a", []byte("by a command\n"), 0o600))
	doc, _ := d.docs.Document("/w/a")
	require.Equal(t, change.Document{Path: "/w/a", Text: "one\n", Version: 1}, doc)
	d.Change("/w/a", 2, "typed\n")
	d.Change("/w/a", 3, "one\n")
	d.sync(t)
	doc, _ = d.docs.Document("/w/a")
	require.True(t, doc.Dirty, "it may be the user's")
}

// A document is found by the name of a link, so that the file is not changed on disk behind the editor's back.
func TestADocumentBehindALink(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(file, []byte("one\n"), 0o600))
	require.NoError(t, os.Symlink(file, link))
	d := startDesk(t, can(), nil, nil)
	d.saved(t, file, "one\n")
	doc, open := d.docs.Document(link)
	require.True(t, open)
	require.Equal(t, change.Document{Path: link, Text: "one\n", Version: 1}, doc)
	done := d.begin(t.Context(), [3]string{link, "one\n", "two\n"})
	r := d.WaitRequest("workspace/applyEdit")
	require.Contains(t, string(r.Params), `"uri":"`+lsptest.URI(file)+`"`)
	d.Change(file, 2, "two\n")
	r.Reply(lsptest.Fields{"applied": true})
	require.NoError(t, receive(t, done))
}

func TestSavingDocuments(t *testing.T) {
	t.Parallel()
	d := startDesk(t, can(), nil, canSave())
	for _, path := range []string{"/w/a", "/w/b", "/w/c"} {
		d.saved(t, path, "one\n")
	}
	d.Change("/w/a", 2, "two\n")
	d.Change("/w/c", 2, "two\n")
	d.sync(t)
	done := d.saving(t.Context(), "/w/a", "/w/b", "/w/c", "/w/none")
	d.save(t, "/w/a", "two\n")
	r := d.WaitRequest(lsp.MethodSave)
	require.JSONEq(t, `{"uri":"file:///w/c","version":2}`, string(r.Params))
	r.Reply(lsptest.Fields{"saved": false, "failureReason": "It is locked."})
	require.Equal(t, []string{"/w/c"}, receive(t, done))
	require.Equal(t, 2, d.requests(lsp.MethodSave), "one that is on disk is not saved")
}

// A client that cannot save, or must not, and one that stops answering, leaves documents unsaved.
func TestDocumentsThatAreNotSaved(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]lsptest.Fields{
		"it cannot":          nil,
		"the user's setting": {"ui": lsptest.Fields{"save": true}, "saveEdits": "off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDesk(t, can(), nil, options)
			d.saved(t, "/w/a", "one\n")
			d.Change("/w/a", 2, "two\n")
			d.sync(t)
			require.Equal(t, []string{"/w/a"}, receive(t, d.saving(t.Context(), "/w/a")))
			require.Zero(t, d.requests(lsp.MethodSave))
		})
	}
	d := startDesk(t, can(), nil, canSave())
	for _, path := range []string{"/w/a", "/w/b"} {
		d.saved(t, path, "one\n")
		d.Change(path, 2, "two\n")
	}
	d.sync(t)
	done := d.saving(t.Context(), "/w/a", "/w/b")
	d.WaitRequest(lsp.MethodSave)
	require.Equal(t, []string{"/w/a", "/w/b"}, until(t, d, done))
	require.Equal(t, 1, d.requests(lsp.MethodSave), "it is not asked again")
}

// A rewound document that could not be saved is saved before the next command, like an edit of a tool.
func TestARewoundDocumentIsSavedBeforeACommand(t *testing.T) {
	t.Parallel()
	d := startDesk(t, can(), nil, canSave())
	d.saved(t, "/w/a", "one\n")
	done := d.begin(t.Context(), [3]string{"/w/a", "one\n", "two\n"})
	r := d.WaitRequest("workspace/applyEdit")
	d.Change("/w/a", 2, "two\n")
	r.Reply(lsptest.Fields{"applied": true})
	require.NoError(t, receive(t, done))
	saved := d.saveEdits(t.Context(), true)
	d.editor.save(t, "/w/a", "two\n")
	require.Equal(t, unsaved{}, receive(t, saved))
}

func TestOpeningADocument(t *testing.T) {
	t.Parallel()
	type opened struct {
		doc change.Document
		err error
	}
	begin := func(ctx context.Context, d desk, path string) <-chan opened {
		done := make(chan opened, 1)
		go func() {
			doc, err := d.docs.Open(ctx, path)
			done <- opened{doc, err}
		}()
		return done
	}
	want := change.Document{Path: "/w/a", Text: "täxt\n", Version: 1}
	latin := func(d desk) { require.NoError(t, afero.WriteFile(d.disk, "/w/a", []byte("t\xe4xt\n"), 0o600)) }

	for name, answer := range map[string]func(d desk, r lsptest.Request){
		"reported first": func(d desk, r lsptest.Request) {
			d.Editor.Open("/w/a", "täxt\n")
			r.Reply(lsptest.Fields{"success": true})
		},
		"reported after": func(d desk, r lsptest.Request) {
			r.Reply(lsptest.Fields{"success": true})
			d.sync(t)
			d.Editor.Open("/w/a", "täxt\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDesk(t, can(), canShow(), canSave())
			latin(d)
			done := begin(t.Context(), d, "/w/a")
			r := d.WaitRequest("window/showDocument")
			require.JSONEq(t, `{"uri":"file:///w/a","external":false,"takeFocus":false}`, string(r.Params))
			answer(d, r)
			require.Equal(t, opened{doc: want}, receive(t, done))
			require.Equal(t, opened{doc: want}, receive(t, begin(t.Context(), d, "/w/a")), "it is not opened again")
			now, _ := d.docs.Document("/w/a")
			require.False(t, now.Dirty, "the editor has just read it")

			d.Change("/w/a", 2, "täxt 2\n")
			d.sync(t)
			now, _ = d.docs.Document("/w/a")
			require.True(t, now.Dirty)
			saved := d.saving(t.Context(), "/w/a")
			r = d.WaitRequest(lsp.MethodSave)
			d.Save("/w/a")
			r.Reply(lsptest.Fields{"saved": true})
			require.Empty(t, receive(t, saved), "only the editor knows its encoding, so its word counts")
		})
	}
	for name, answer := range map[string]func(r lsptest.Request){
		"not shown":           func(r lsptest.Request) { r.Reply(lsptest.Fields{"success": false}) },
		"null":                func(r lsptest.Request) { r.Reply(nil) },
		"of another kind":     func(r lsptest.Request) { r.Reply("yes") },
		"an error":            func(r lsptest.Request) { r.Fail(-32601, "unknown") },
		"shown, not reported": func(r lsptest.Request) { r.Reply(lsptest.Fields{"success": true}) },
		"no answer":           func(lsptest.Request) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDesk(t, can(), canShow(), nil)
			done := begin(t.Context(), d, "/w/a")
			answer(d.WaitRequest("window/showDocument"))
			d.Editor.Open("/w/b", "another")
			d.sync(t)
			r := until(t, d, done)
			isDenied(t, r.err)
			require.Equal(t, "/w/a", pathIn(r.err))
			require.Contains(t, r.err.Error(), "Open it and try again")
		})
	}
	d := startDesk(t, can(), nil, nil)
	isDenied(t, receive(t, begin(t.Context(), d, "/w/a")).err)
	d = startDesk(t, can(), canShow(), nil)
	for _, path := range []string{"a", "", "/w/\x00"} {
		require.Equal(t, fault.InvalidArgument, fault.KindOf(receive(t, begin(t.Context(), d, path)).err))
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := begin(ctx, d, "/w/a")
	d.WaitRequest("window/showDocument")
	cancel()
	require.Equal(t, fault.Cancelled, fault.KindOf(receive(t, done).err))
}

// Only saves of the user are noted: not those that the server asks for, and no text that the editor loads again.
func TestTheUsersSavesAreNoted(t *testing.T) {
	t.Parallel()
	d := startDesk(t, can(), nil, canSave())
	for _, path := range []string{"/w/a", "/w/b", "/w/c", "/w/d"} {
		d.saved(t, path, "one\n")
	}
	watcher := d.docs.(change.Watcher)
	d.Save("/w/d")
	d.sync(t)
	end, all := watcher.Watch(), watcher.Watch()
	d.Save("/w/b")
	d.Save("/w/b")
	d.Save("/w/none")
	d.Change("/w/c", 2, "loaded again\n")
	d.Change("/w/a", 2, "two\n")
	d.sync(t)
	saving := d.saving(t.Context(), "/w/a")
	r := d.WaitRequest(lsp.MethodSave)
	d.Save("/w/a")
	require.NoError(t, afero.WriteFile(d.disk, "/w/a", []byte("two\n"), 0o600))
	r.Reply(lsptest.Fields{"saved": true})
	require.Empty(t, receive(t, saving))
	require.Equal(t, []string{"/w/b"}, end())

	d.Change("/w/a", 3, "three\n")
	d.sync(t)
	saving = d.saving(t.Context(), "/w/a")
	d.WaitRequest(lsp.MethodSave).Reply(lsptest.Fields{"saved": false})
	require.Equal(t, []string{"/w/a"}, receive(t, saving))
	d.Save("/w/a")
	d.Save("/w/c")
	d.Close("/w/c")
	d.sync(t)
	require.Equal(t, []string{"/w/a", "/w/b", "/w/c"}, all(), "one that the editor did not make for the server is the user's")
	require.Empty(t, watcher.Watch()())
}
