package docs_test

import (
	"go/build/constraint"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// toolTags are the build tags that the go command sets by itself, for a platform or a flag.
var toolTags = []string{"linux", "darwin", "windows", "unix", "freebsd", "netbsd", "openbsd", "dragonfly", "solaris", "amd64", "arm64", "386", "arm", "race", "cgo"}

// TestEveryBuildTagIsTested holds test.sh to run the files that "go test ./..." leaves out.
func TestEveryBuildTagIsTested(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(filepath.Join(root, "scripts", "test.sh"))
	require.NoError(t, err)
	tags := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		src, err := os.ReadFile(path)
		for line := range strings.Lines(string(src)) {
			if strings.HasPrefix(line, "package ") {
				break
			}
			if expr, err := constraint.Parse(strings.TrimSpace(line)); err == nil {
				expr.Eval(func(tag string) bool {
					tags[tag] = path
					return false
				})
			}
		}
		return err
	}))
	require.Contains(t, tags, "peers", "tags are found")
	for tag, path := range tags {
		if !slices.Contains(toolTags, tag) {
			found := strings.Contains(string(script), "-tags "+tag+" ")
			assert.True(t, found, "scripts/test.sh never runs %s", path)
		}
	}
}
