package attack

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// A document of a repository is read in the sandbox and within limits: it neither stops the server nor the turn.
func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	content, err := os.ReadFile("../agent/tool/testdata/three-pages.pdf")
	require.NoError(t, err)
	v.write(v.path("good.pdf"), string(content))
	v.write(v.path("damaged.pdf"), string(content[:300]))
	v.write(v.path("endless.pdf"), strings.Replace(string(content), "/Kids[4 0 R 6 0 R 8 0 R]/Count 3", "/Kids[2 0 R 6 0 R 8 0 R]/Count 3", 1))
	v.write(v.path("good.ipynb"), `{"nbformat":4,"cells":[{"cell_type":"code","source":["x = 1"]}]}`)
	v.write(v.path("deep.ipynb"), `{"nbformat":4,"cells":`+strings.Repeat("[", 1_000_000))
	v.write(v.path("large.ipynb"), `{"nbformat":4,"cells":[{"cell_type":"code","source":"x","outputs":[{"text":"`+strings.Repeat("y", 10<<20)+`"}]}]}`)
	names := []string{"good.pdf", "damaged.pdf", "endless.pdf", "good.ipynb", "deep.ipynb", "large.ipynb"}
	var calls [][]providertest.Call
	for _, name := range names {
		calls = append(calls, call("read", map[string]any{"path": name}))
	}
	v.does(calls...)
	out := v.ask("--approval", "read-only")
	require.Zero(t, out.code, out.stderr)
	results := v.results()
	require.Len(t, results, len(names))
	assert.Equal(t, "[Page 1]\nfirst page\n\n[Page 2]\nsecond page\n\n[Page 3]\n(no text; the page may be a picture)\n", results[0])
	assert.Equal(t, "The PDF file damaged.pdf cannot be read: it is damaged, or not a PDF file.", results[1])
	assert.Contains(t, results[2], "The PDF file endless.pdf cannot be read: ")
	assert.True(t, strings.HasPrefix(results[3], "[Cell 1, code]\nx = 1\n"))
	for _, text := range results {
		assert.Less(t, len(text), 60<<10)
	}
}
