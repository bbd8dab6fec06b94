package sessiondoc_test

import (
	"context"
	"encoding/json"
	"runtime"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/lsp/sessiondoc"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// hostFake is a server with one open document.
type hostFake struct {
	doc     textdoc.Document
	timers  []func()
	sent    []string // JSON of the notifications
	panicky bool
}

func (h *hostFake) docs(t *testing.T) *sessiondoc.Docs {
	t.Helper()
	unixPaths(t)
	return sessiondoc.New(sessiondoc.Host{
		Work:     t.Context(),
		Document: func(path string) (textdoc.Document, bool) { return h.doc, path == h.doc.Path },
		Encoding: func() textdoc.Encoding { return textdoc.UTF16 },
		Files: func() sessiondoc.Files {
			if h.panicky {
				panic("no files")
			}
			fs := afero.NewMemMapFs()
			return sessiondoc.Files{Fs: fs, Finder: library.Finder{Fs: fs, SessionDir: "/s"}, Folders: []string{"/w", "/w/inner"}}
		},
		Notify: func(_ string, params any, _ string) {
			raw, err := json.Marshal(params)
			require.NoError(t, err)
			h.sent = append(h.sent, string(raw))
		},
		Background: func(_ string, f func(context.Context)) { h.timers = append(h.timers, func() { f(t.Context()) }) },
		Guard: func(_ string, f func() error) (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = context.DeadlineExceeded
				}
			}()
			return f()
		},
		AfterFunc: func(_ time.Duration, f func()) func() bool {
			stopped := false
			h.timers = append(h.timers, func() {
				if !stopped {
					f()
				}
			})
			return func() bool { stopped = true; return true }
		},
	})
}

func unixPaths(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the paths in this test are those of Unix")
	}
}

// run calls the functions that wait for their time or their goroutine.
func (h *hostFake) run() {
	for len(h.timers) > 0 {
		f := h.timers[0]
		h.timers = h.timers[1:]
		f()
	}
}

func symbols(t *testing.T, d *sessiondoc.Docs) (string, error) {
	t.Helper()
	res, err := d.Handlers()["textDocument/documentSymbol"](t.Context(), json.RawMessage(`{"textDocument":{"uri":"file:///w/a.jsonl"}}`))
	raw, _ := res.(json.RawMessage) // nil for null
	return string(raw), err
}

func TestDiagnosticsArePublishedOncePerVersion(t *testing.T) {
	t.Parallel()
	text := st.File(st.Header("s", "/w"), st.User("aaaaaaaa", "", "one")) + "{\n"
	h := &hostFake{doc: textdoc.Document{Path: "/w/a.jsonl", URI: "file:///w/a.jsonl", Version: 1, Text: text}}
	d := h.docs(t)
	d.Opened(h.doc.URI)
	h.run()
	require.Len(t, h.sent, 1)
	require.Contains(t, h.sent[0], `"source":"xcsh-ls"`)
	shown, err := symbols(t, d)
	require.NoError(t, err)
	require.Contains(t, shown, "one")
	require.Len(t, h.sent, 1, "the request uses the same view")

	h.doc.Version = 2
	d.Changed(h.doc.URI)
	d.Changed(h.doc.URI)
	h.run()
	require.Len(t, h.sent, 2, "the first timer was stopped")
	d.Closed(h.doc.URI)
	require.Len(t, h.sent, 3)
	require.Contains(t, h.sent[2], `"diagnostics":[]`)
}

// A panic while a view is made is the error of its requests, and they do not wait forever.
func TestAPanicIsTheErrorOfTheRequest(t *testing.T) {
	t.Parallel()
	h := &hostFake{doc: textdoc.Document{Path: "/w/a.jsonl", URI: "file:///w/a.jsonl", Version: 1, Text: "x"}, panicky: true}
	_, err := symbols(t, h.docs(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestFilesThatMayBeRead(t *testing.T) {
	t.Parallel()
	unixPaths(t)
	files := sessiondoc.Files{Finder: library.Finder{SessionDir: "/s"}, Folders: []string{"/w", "/w/inner"}}
	for path, want := range map[string]bool{"/w/a": true, "/w/inner/b": true, "/s/x.jsonl": true, "/w2/a": false, "/etc/passwd": false, "/w/../x": false} {
		require.Equal(t, want, files.MayRead(path), path)
	}
	folder, ok := files.FolderOf("/w/inner/b")
	require.True(t, ok)
	require.Equal(t, "/w/inner", folder, "the innermost")
}
