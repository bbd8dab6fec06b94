package lsp_test

import (
	"context"
	"maps"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// startSaving starts a server for a client that saves documents on request. /w/a has the text "one\n" on disk.
func startSaving(t *testing.T, options lsptest.Fields) editor {
	t.Helper()
	all := lsptest.Fields{"ui": lsptest.Fields{"save": true}}
	maps.Copy(all, options)
	e := startEditingWith(t, can(), nil, all)
	require.NoError(t, afero.WriteFile(e.disk, "/w/a", []byte("one\n"), 0o600))
	return e
}

// edit makes an edit of the agent in an open document, as the given version of it.
func (e editor) edit(t *testing.T, path, text string, version int) {
	t.Helper()
	done := e.write(t.Context(), path, e.read(t, path), text)
	r := e.WaitRequest("workspace/applyEdit")
	e.Change(path, version, text)
	r.Reply(lsptest.Fields{"applied": true})
	require.NoError(t, receive(t, done).err)
}

// unsaved is the result of a SaveEdits.
type unsaved struct {
	paths []string
	err   error
}

// saveEdits starts SaveEdits for /w.
func (e editor) saveEdits(ctx context.Context, ask bool) <-chan unsaved {
	done := make(chan unsaved, 1)
	go func() {
		paths, err := e.files.(tool.Saver).SaveEdits(ctx, "/w", ask)
		done <- unsaved{paths, err}
	}()
	return done
}

// save answers a request to save as an editor that does it.
func (e editor) save(t *testing.T, path, text string) {
	t.Helper()
	r := e.WaitRequest(lsp.MethodSave)
	require.Contains(t, string(r.Params), path)
	require.NoError(t, afero.WriteFile(e.disk, path, []byte(text), 0o600))
	r.Reply(lsptest.Fields{"saved": true})
}

// question answers the question about documents with changes of both.
func (e editor) question(t *testing.T, text string, title any) {
	t.Helper()
	r := e.WaitRequest("window/showMessageRequest")
	require.Contains(t, string(r.Params), text)
	if title != nil {
		title = lsptest.Fields{"title": title}
	}
	r.Reply(title)
}

// requests returns how often the server has asked for something.
func (e editor) requests(method string) (n int) {
	for _, m := range e.Messages() {
		if m.Method == method {
			n++
		}
	}
	return n
}

func TestEditsOfTheAgentAreSaved(t *testing.T) {
	t.Parallel()
	e := startSaving(t, nil)
	e.show(t, "/w/a", "one\n")
	e.edit(t, "/w/a", "two\n", 2)
	e.edit(t, "/w/a", "three\n", 3)
	done := e.saveEdits(t.Context(), true)
	e.save(t, "/w/a", "three\n")
	require.Equal(t, unsaved{}, receive(t, done))
	require.Equal(t, unsaved{}, receive(t, e.saveEdits(t.Context(), true)), "it is saved only once")

	e.edit(t, "/w/a", "four\n", 4)
	done = e.saveEdits(t.Context(), false)
	e.save(t, "/w/a", "four\n")
	require.Equal(t, unsaved{}, receive(t, done))
	require.Equal(t, 2, e.requests(lsp.MethodSave))
	require.Zero(t, e.requests("window/showMessageRequest"))
}

// The user's unsaved changes are saved only if the user agrees, and the question is not repeated for the same text.
func TestTheUserDecidesAboutUnsavedChanges(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, e editor){
		"made before the edit": func(t *testing.T, e editor) {
			e.show(t, "/w/a", "typed\n")
			e.edit(t, "/w/a", "typed\ntwo\n", 2)
		},
		"made after the edit": func(t *testing.T, e editor) {
			e.show(t, "/w/a", "one\n")
			e.edit(t, "/w/a", "two\n", 2)
			e.Change("/w/a", 3, "typed\ntwo\n")
			e.sync(t)
		},
		"made between two edits": func(t *testing.T, e editor) {
			e.show(t, "/w/a", "one\n")
			e.edit(t, "/w/a", "two\n", 2)
			e.Change("/w/a", 3, "typed\n")
			e.edit(t, "/w/a", "typed\ntwo\n", 4)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startSaving(t, nil)
			change(t, e)
			require.Equal(t, unsaved{paths: []string{"/w/a"}}, receive(t, e.saveEdits(t.Context(), false)), "without a question")
			for _, answer := range []any{"Don't Save", nil} {
				done := e.saveEdits(t.Context(), true)
				e.question(t, "Save a before the agent's command runs? It has unsaved changes.", answer)
				require.Equal(t, unsaved{paths: []string{"/w/a"}}, receive(t, done))
				require.Equal(t, unsaved{paths: []string{"/w/a"}}, receive(t, e.saveEdits(t.Context(), true)), "the question is not repeated")
				e.Change("/w/a", 9, "typed more\n")
				if answer == nil {
					e.Change("/w/a", 10, "typed again\n")
				}
				e.sync(t)
			}
			done := e.saveEdits(t.Context(), true)
			e.question(t, "Save a", "Save")
			e.save(t, "/w/a", "typed again\n")
			require.Equal(t, unsaved{}, receive(t, done))
		})
	}
}

// Documents that the agent has not changed are the user's: they are reported, and no more.
func TestDocumentsOfTheUserAreNotSaved(t *testing.T) {
	t.Parallel()
	e := startSaving(t, nil)
	e.show(t, "/w/a", "typed\n")
	e.show(t, "/w/sub/new", "new\n")
	e.show(t, "/elsewhere/private", "typed\n")
	require.Equal(t, unsaved{paths: []string{"/w/a", "/w/sub/new"}}, receive(t, e.saveEdits(t.Context(), true)))
	require.Zero(t, e.requests(lsp.MethodSave)+e.requests("window/showMessageRequest"))
}

// What another program wrote meanwhile is not overwritten.
func TestAFileThatAnotherProgramChangedIsNotSaved(t *testing.T) {
	t.Parallel()
	e := startSaving(t, nil)
	e.show(t, "/w/a", "one\n")
	e.edit(t, "/w/a", "two\n", 2)
	require.NoError(t, afero.WriteFile(e.disk, "/w/a", []byte("theirs\n"), 0o600))
	require.Equal(t, unsaved{paths: []string{"/w/a"}}, receive(t, e.saveEdits(t.Context(), true)))
	require.Zero(t, e.requests(lsp.MethodSave)+e.requests("window/showMessageRequest"))
}

func TestHowEditsAreSavedIsASetting(t *testing.T) {
	t.Parallel()
	t.Run("ask", func(t *testing.T) {
		t.Parallel()
		e := startSaving(t, lsptest.Fields{"saveEdits": "ask"})
		e.show(t, "/w/a", "one\n")
		e.edit(t, "/w/a", "two\n", 2)
		done := e.saveEdits(t.Context(), true)
		e.question(t, "Save a", "Save")
		e.save(t, "/w/a", "two\n")
		require.Equal(t, unsaved{}, receive(t, done))
	})
	for name, options := range map[string]lsptest.Fields{
		"off":                      {"saveEdits": "off"},
		"a client that cannot":     {"ui": lsptest.Fields{"save": false}},
		"a client that has no say": {"ui": nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startSaving(t, options)
			e.show(t, "/w/a", "one\n")
			e.edit(t, "/w/a", "two\n", 2)
			require.Equal(t, unsaved{paths: []string{"/w/a"}}, receive(t, e.saveEdits(t.Context(), true)))
			require.Zero(t, e.requests(lsp.MethodSave)+e.requests("window/showMessageRequest"))
		})
	}
}

// A document that the editor does not save, whatever it answers, is reported.
func TestSavesThatFail(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(r lsptest.Request){
		"refused":              func(r lsptest.Request) { r.Reply(lsptest.Fields{"saved": false, "failureReason": "It is\nlocked."}) },
		"reported, not done":   func(r lsptest.Request) { r.Reply(lsptest.Fields{"saved": true}) },
		"null":                 func(r lsptest.Request) { r.Reply(nil) },
		"not what it must be":  func(r lsptest.Request) { r.Reply("yes") },
		"an unknown method":    func(r lsptest.Request) { r.Fail(-32601, "unknown method") },
		"the editor's failure": func(r lsptest.Request) { r.Fail(-32603, "broken") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startSaving(t, nil)
			e.show(t, "/w/a", "one\n")
			e.edit(t, "/w/a", "two\n", 2)
			done := e.saveEdits(t.Context(), true)
			answer(e.WaitRequest(lsp.MethodSave))
			require.Equal(t, unsaved{paths: []string{"/w/a"}}, receive(t, done))
		})
	}
}

// A question or a save that is not answered ends with the turn.
func TestASaveThatIsCancelled(t *testing.T) {
	t.Parallel()
	e := startSaving(t, nil)
	e.show(t, "/w/a", "one\n")
	e.edit(t, "/w/a", "two\n", 2)
	for _, waiting := range []string{lsp.MethodSave, "window/showMessageRequest"} {
		ctx, cancel := context.WithCancel(t.Context())
		done := e.saveEdits(ctx, true)
		r := e.WaitRequest(waiting)
		second := e.saveEdits(ctx, true) // it waits for the first
		cancel()
		require.ErrorIs(t, receive(t, done).err, context.Canceled)
		require.ErrorIs(t, receive(t, second).err, context.Canceled)
		r.Reply(nil)
		e.Change("/w/a", 3, "typed\n")
		e.sync(t)
	}
}

// Editors report other line ends and no byte order mark. That is no unsaved change.
func TestALineEndIsNoUnsavedChange(t *testing.T) {
	t.Parallel()
	e := startSaving(t, nil)
	require.NoError(t, afero.WriteFile(e.disk, "/w/a", []byte("\ufeffone\r\ntwo\r\n"), 0o600))
	e.show(t, "/w/a", "one\ntwo\n")
	require.Equal(t, unsaved{}, receive(t, e.saveEdits(t.Context(), true)))
}
