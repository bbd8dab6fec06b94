package tool_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// notebookOf is a notebook with cells of code.
func notebookOf(sources ...string) string {
	cells := make([]string, len(sources))
	for i, s := range sources {
		cells[i] = fmt.Sprintf(`{"cell_type":"code","source":%q}`, s)
	}
	return `{"nbformat":4,"cells":[` + strings.Join(cells, ",") + `]}`
}

const notebookNote = "\n\n[edit and bash see the notebook's JSON, in which strings are escaped.]"

func TestReadNotebook(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long line\n", 3000)
	w := newWorld(t, map[string]string{
		"a.ipynb": notebookOf("x = 1", "y = 2", "z = 3"), "long.ipynb": notebookOf("a", long, "b"), "damaged.ipynb": `{"cells": [`, "no.json": notebookOf("x"),
		"wide.ipynb": notebookOf(strings.Repeat("é", 100<<10)),
	})
	require.Equal(t, "[Cell 1, code]\nx = 1\n\n[Cell 2, code]\ny = 2\n\n[Cell 3, code]\nz = 3\n"+notebookNote, w.ok("read", `{"path":"a.ipynb"}`))
	require.Equal(t, "[Cell 2, code]\ny = 2\n\n\n[Showing cells 2-2 of 3. Use offset=3 to continue.]"+notebookNote, w.ok("read", `{"path":"a.ipynb","offset":2,"limit":1}`))
	require.Contains(t, w.refused("read", `{"path":"a.ipynb","offset":4}`), "Offset 4 is beyond the end of a.ipynb, which has 3 cells.")
	require.Equal(t, `{"cells": [`, w.ok("read", `{"path":"damaged.ipynb"}`))
	require.Equal(t, notebookOf("x"), w.ok("read", `{"path":"no.json"}`))

	out := w.ok("read", `{"path":"long.ipynb"}`)
	require.Contains(t, out, "[Showing cells 1-1 of 3. Use offset=2 to continue.]")
	out = w.ok("read", `{"path":"long.ipynb","offset":2}`)
	require.Contains(t, out, "[The rest of cell 2 is omitted.]\n\n[Showing cells 2-2 of 3. Use offset=3 to continue.]")
	require.Less(t, len(out), 51<<10)
	require.Less(t, len(w.ok("read", `{"path":"wide.ipynb"}`)), 51<<10)
}

func TestReadPDF(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/three-pages.pdf")
	require.NoError(t, err)
	files := map[string]string{"a.pdf": string(content), "b.pdf": "%PDF-1.4\nnot really"}
	w := diskWorld(t, tool.Options{PDF: []string{os.Args[0], pdfArg}}, files)
	require.Equal(t, "[Page 1]\nfirst page\n\n[Page 2]\nsecond page\n\n[Page 3]\n(no text; the page may be a picture)\n", w.ok("read", `{"path":"a.pdf"}`))
	require.Equal(t, "[Page 2]\nsecond page\n\n\n[Showing pages 2-2 of 3. Use offset=3 to continue.]", w.ok("read", `{"path":"a.pdf","offset":2,"limit":1}`))
	require.Contains(t, w.refused("read", `{"path":"a.pdf","offset":4}`), "Offset 4 is beyond the end of a.pdf, which has 3 pages.")
	require.Equal(t, "The PDF file b.pdf cannot be read: it is damaged, or not a PDF file.", w.refused("read", `{"path":"b.pdf"}`))

	text, ok, err := tool.Options{PDF: []string{os.Args[0], pdfArg}}.PDFText(t.Context(), w.env.Cwd, "x", content)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, w.ok("read", `{"path":"a.pdf"}`), text)
	_, ok, err = tool.Options{PDF: []string{os.Args[0], pdfArg}}.PDFText(t.Context(), w.env.Cwd, "x", []byte("text"))
	require.NoError(t, err)
	require.False(t, ok)

	w = diskWorld(t, tool.Options{}, files)
	require.Contains(t, w.refused("read", `{"path":"a.pdf"}`), "Use bash: pdftotext a.pdf -")
}
