package shipping_test

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// fixtures are the session files that the real programs wrote, by name.
func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/sessions/*/*.jsonl")
	require.NoError(t, err)
	require.Greater(t, len(paths), 90)
	all := map[string][]byte{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		all[filepath.ToSlash(path[len("../../testdata/sessions/"):])] = content
	}
	return all
}

func rules(t testing.TB, version int, known ...string) shipping.Rules {
	t.Helper()
	r, err := shipping.NewRules(version, known...)
	require.NoError(t, err)
	return r
}

// made makes a credential that no scanner of this repository mistakes for a real one.
func made(parts ...string) string {
	var b bytes.Buffer
	for _, part := range parts {
		b.WriteString(part)
	}
	return b.String()
}

// key is a secret of a known form.
var key = made("ghp", "_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8")

// whole returns content up to its last newline.
func whole(content []byte) []byte { return content[:bytes.LastIndexByte(content, '\n')+1] }

func pointOf(content []byte) shipping.Point {
	return shipping.Point{Len: int64(len(content)), Sum: sha256.Sum256(content)}
}
