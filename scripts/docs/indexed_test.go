package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// test.sh runs every suite that can treat small sessions as large ones once more in that way.
func TestEverySuiteWithIndexFilesIsTested(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(filepath.Join(root, "scripts", "test.sh"))
	require.NoError(t, err)
	run := regexp.MustCompile(`go_test_env XCSH_TEST_INDEX=1 .*`).FindString(string(script))
	require.NotEmpty(t, run)
	suites, err := filepath.Glob(filepath.Join(root, "*", "main_test.go"))
	require.NoError(t, err)
	found := 0
	for _, path := range suites {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if strings.Contains(string(text), "indexed.Main(m)") {
			found++
			assert.Contains(t, run+" ", " ./"+filepath.Base(filepath.Dir(path))+" ")
		}
	}
	require.GreaterOrEqual(t, found, 3)
}
