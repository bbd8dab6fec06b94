package limit_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/bench/wire/limit"
)

// A limit that does less than the whole work would make every ratio worse than it is, and one that
// does more, better.

func TestLinesCountsEveryNewlineInAnyNumberOfParts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lines")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("ab\n\nc", 700_001)), 0o600))
	for parts := 1; parts < 4; parts++ {
		n, _, err := limit.Lines(path, parts)
		require.NoError(t, err)
		require.Equal(t, 2*700_001, n)
	}
}

func TestFindReadsWholeFilesInSubdirectories(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "sub"), 0o700))
	for name, text := range map[string]string{
		"sub/end": strings.Repeat("x", 3<<20) + "needle", "sub/none": "need le", "begin": "needle", "empty": "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	n, _, err := limit.Find([]string{root}, "needle", 2)
	require.NoError(t, err)
	require.Equal(t, 2, n)
}

func TestStatusVisitsEveryFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for i := range 40 {
		dir := filepath.Join(root, strings.Repeat("d", 1+i%4))
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, strings.Repeat("n", 1+5*i)), nil, 0o600))
	}
	n, _, err := limit.Status([]string{root})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("written for Linux")
	}
	require.NoError(t, err)
	require.Equal(t, 40, n)
	_, _, err = limit.Status([]string{filepath.Join(root, "missing")})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestCopyAndWriteLeaveNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o600))
	took, err := limit.Copy(path, filepath.Join(dir, "b"), true)
	require.NoError(t, err)
	require.Positive(t, took)
	took, err = limit.Write(filepath.Join(dir, "c"), 3, 300, true)
	require.NoError(t, err)
	require.Positive(t, took)
	_, err = limit.Copy(path, path, false)
	require.ErrorIs(t, err, os.ErrExist, "no file is overwritten")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}
