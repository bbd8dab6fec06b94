//go:build unix

package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The example is the starting point of users, so it is run.
func TestTheExampleWorks(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../../docs/hooks.md")
	require.NoError(t, err)
	example := func(begin string) string {
		_, text, found := strings.Cut(string(docs), begin)
		require.True(t, found, begin)
		text, _, found = strings.Cut(text, "```")
		require.True(t, found)
		return text
	}
	w := newWorld(t)
	w.write("count_word.json", example("<!-- tool manifest -->\n```json\n"), 0o600)
	w.write("count_word.sh", example("<!-- tool example -->\n```sh\n"), 0o755)
	require.NoError(t, os.WriteFile(filepath.Join(w.cwd, "a.go"), []byte("// TODO: one\n// TODO: two\n// TODOS\n"), 0o600))
	r, err := w.call(t.Context(), w.only(), `{"word":"TODO"}`)
	require.NoError(t, err)
	require.False(t, r.IsError)
	require.Equal(t, "2 lines contain TODO.", text(r))
	_, err = w.call(t.Context(), w.only(), `{"word":"$(id)"}`)
	require.ErrorContains(t, err, "The arguments of count_word are invalid: ")
}
