package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxNames bounds the names in a row, so that each row says where to start.
const maxNames = 4

// TestEveryRowOfTheCodeMapNamesAtMostFourExistingFiles checks ARCHITECTURE.md. The names in the first
// column are relative to the directory in the section's heading, or to the root.
func TestEveryRowOfTheCodeMapNamesAtMostFourExistingFiles(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	require.NoError(t, err)
	_, codeMap, found := strings.Cut(string(text), "\n## Code map\n")
	require.True(t, found)
	codeMap, _, _ = strings.Cut(codeMap, "\n## ")
	directory := regexp.MustCompile("^### `([^`]+)`")
	dir, rows := "", 0
	for line := range strings.Lines(codeMap) {
		if strings.HasPrefix(line, "### ") {
			dir = ""
			if m := directory.FindStringSubmatch(line); m != nil {
				dir = m[1]
				assert.True(t, exists(t, dir), line)
			}
		}
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		rows++
		first, rest, _ := strings.Cut(line[2:], " | ")
		names := code.FindAllStringSubmatch(first, -1)
		assert.LessOrEqual(t, len(names), maxNames, line)
		for _, m := range names {
			assert.True(t, exists(t, path.Join(dir, m[1])), "%s in %s", m[1], line)
		}
		for _, m := range code.FindAllStringSubmatch(rest, -1) {
			if strings.HasSuffix(m[1], "/") {
				assert.True(t, exists(t, path.Join(dir, m[1])) || exists(t, m[1]), "%s in %s", m[1], line)
			}
		}
	}
	require.Greater(t, rows, 50)
}
