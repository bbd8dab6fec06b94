package acp_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/acp"
	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// openTexts opens a conversation with a client and returns its texts as a rewind changes them. prepare, unless it is nil, gets the
// client before it is initialized.
func openTexts(t *testing.T, w *world, capabilities object, e *editor, prepare func(c *client)) change.Documents {
	t.Helper()
	var texts atomic.Value
	c := w.start(t, func(o *acp.Options) {
		open := o.Backend.Sessions
		o.Backend.Sessions = func(c acp.Client) *agent.Manager {
			if c.Texts != nil {
				texts.Store(c.Texts)
			}
			return open(c)
		}
	})
	e.serve(c)
	if prepare != nil {
		prepare(c)
	}
	c.ok("initialize", object{"protocolVersion": 1, "clientCapabilities": capabilities})
	c.open()
	return texts.Load().(change.Documents)
}

func pathOfFault(err error) any {
	f, _ := err.(*fault.Error) //nolint:errorlint // it is the error itself
	if f == nil {
		return nil
	}
	return f.Data["path"]
}

func TestTextsOfTheClientThatARewindChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(t, "/w/a", "disk\n")
	w.file(t, "/w/b", "disk\n")
	w.file(t, "/w/same", "disk\r\n")
	w.file(t, "/w/latin", "t\xe4xt\n")
	e := &editor{buffers: map[string]string{"/w/a": "typed\n", "/w/b": "typed too\n", "/w/same": "disk\n", "/w/latin": "täxt\n", "/w/new": "new\n"}}
	texts := openTexts(t, w, bothFiles, e, nil)
	doc, open := texts.Document("/w/a")
	require.True(t, open)
	require.Equal(t, change.Document{Path: "/w/a", Text: "typed\n", Dirty: true}, doc)
	_, open = texts.Document("/w/new")
	require.True(t, open, "it is not on disk yet")
	for _, path := range []string{"/w/same", "/w/latin", "/w/none"} {
		_, open = texts.Document(path)
		require.False(t, open, path)
	}
	edit := func(edits ...change.DocumentEdit) error { return texts.Edit(t.Context(), "Rewind", edits) }
	require.NoError(t, edit(
		change.DocumentEdit{Path: "/w/a", Was: "typed\n", Text: "one\n"},
		change.DocumentEdit{Path: "/w/b", Was: "typed too\n", Text: "two\n"},
	))
	require.Equal(t, []string{"/w/a", "/w/b"}, e.written)
	require.Equal(t, "one\n", e.buffers["/w/a"])
	require.Equal(t, "disk\n", w.read(t, "/w/a"))
	require.Equal(t, []string{"/w/a", "/w/b"}, texts.Save(t.Context(), []string{"/w/a", "/w/b", "/w/same", "/w/none"}))
	w.file(t, "/w/a", "one\n")
	require.Equal(t, []string{"/w/b"}, texts.Save(t.Context(), []string{"/w/a", "/w/b"}))

	for path, was := range map[string]string{"/w/b": "other\n", "/w/a": "one\n", "/w/none": ""} { // /w/a is saved
		err := edit(change.DocumentEdit{Path: path, Was: was, Text: "x\n"})
		require.Equal(t, fault.Stale, fault.KindOf(err))
		require.Equal(t, path, pathOfFault(err))
	}
	require.Equal(t, fault.Denied, fault.KindOf(edit(change.DocumentEdit{Path: "/w/b", Was: "two\n", Text: "\xff"})))
	require.NoError(t, edit(change.DocumentEdit{Path: "/w/b", Was: "two\n", Text: "two\n"}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := texts.Edit(ctx, "", []change.DocumentEdit{{Path: "/w/b", Was: "two\n", Text: "x"}})
	require.Equal(t, fault.Cancelled, fault.KindOf(err))
	_, err = texts.Open(t.Context(), "/w/a")
	require.Equal(t, fault.Denied, fault.KindOf(err))
	require.Len(t, e.written, 2)
}

func TestAClientThatOnlyReadsTexts(t *testing.T) {
	t.Parallel()
	for name, capabilities := range map[string]object{"reads": {"fs": object{"readTextFile": true}}, "does nothing": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.file(t, "/w/a", "disk\n")
			e := &editor{buffers: map[string]string{"/w/a": "typed\n"}}
			texts := openTexts(t, w, capabilities, e, nil)
			_, open := texts.Document("/w/a")
			require.Equal(t, name == "reads", open)
			err := texts.Edit(t.Context(), "", []change.DocumentEdit{{Path: "/w/a", Was: "typed\n", Text: "x\n"}})
			if open {
				require.Equal(t, fault.Denied, fault.KindOf(err))
			} else {
				require.Equal(t, fault.Stale, fault.KindOf(err))
			}
			require.Empty(t, e.written)
		})
	}
}

// If one text can't be written, the others are restored; if that fails, the error reports an unknown state.
func TestATextThatTheClientDoesNotWrite(t *testing.T) {
	t.Parallel()
	type answer func(e *editor, path, content string) (any, *wireError)
	done := func(e *editor, path, content string) (any, *wireError) {
		e.buffers[path] = content
		return object{}, nil
	}
	no := func(*editor, string, string) (any, *wireError) {
		return nil, &wireError{Code: -32603, Message: "no\nway"}
	}
	for name, tc := range map[string]struct {
		first, second, third, fourth answer
		text                         string
		b                            string // the text of /w/b, that of /w/a being given back
		unknown                      bool
	}{
		"refused":                    {done, no, done, no, `The editor did not change /w/b: no\nway`, "typed\n", false},
		"reported, not made":         {done, func(*editor, string, string) (any, *wireError) { return object{}, nil }, done, no, "The editor did not change /w/b: it has another text", "typed\n", false},
		"refused, but made":          {done, func(e *editor, p, c string) (any, *wireError) { e.buffers[p] = c; return no(e, p, c) }, done, done, "The editor did not change /w/b", "typed\n", false},
		"made, but not as asked for": {done, func(e *editor, p, _ string) (any, *wireError) { e.buffers[p] = "odd\n"; return object{}, nil }, done, done, "it has another text", "typed\n", false},
		"not given back":             {done, no, no, no, "The editor did not report whether it changed /w/a.", "typed\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.file(t, "/w/a", "disk\n")
			w.file(t, "/w/b", "disk\n")
			e := &editor{buffers: map[string]string{"/w/a": "typed\n", "/w/b": "typed\n"}}
			answers := []answer{tc.first, tc.second, tc.third, tc.fourth}
			texts := openTexts(t, w, bothFiles, e, func(c *client) {
				c.on("fs/write_text_file", func(raw json.RawMessage) (any, *wireError) {
					var p struct{ Path, Content string }
					_ = json.Unmarshal(raw, &p)
					e.mu.Lock()
					defer e.mu.Unlock()
					next := answers[0]
					answers = answers[1:]
					return next(e, p.Path, p.Content)
				})
			})
			err := texts.Edit(t.Context(), "", []change.DocumentEdit{
				{Path: "/w/a", Was: "typed\n", Text: "one\n"}, {Path: "/w/b", Was: "typed\n", Text: "one\n"},
			})
			require.Error(t, err)
			require.Contains(t, err.Error(), tc.text)
			require.Equal(t, tc.b, e.buffers["/w/b"])
			if tc.unknown {
				require.ErrorIs(t, err, change.ErrUnknown)
				return
			}
			require.Equal(t, fault.Denied, fault.KindOf(err))
			require.Equal(t, "/w/b", pathOfFault(err))
			require.Equal(t, "typed\n", e.buffers["/w/a"])
		})
	}
}
