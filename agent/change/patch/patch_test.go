package patch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change/merge"
	"github.com/xcsh-ls/xcsh-ls/agent/change/patch"
)

func TestGitAppliesPatches(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	dir, disk := t.TempDir(), afero.NewOsFs()
	r := rand.New(rand.NewPCG(1, 1))
	text := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "%d\n", r.IntN(20))
		}
		return strings.TrimSuffix(b.String(), strings.Repeat("\n", r.IntN(2)))
	}
	for i := range 40 {
		name := fmt.Sprintf("d %d/f", i)
		f := patch.File{From: name, To: name, Old: []byte(text(r.IntN(30))), New: []byte(text(r.IntN(30))), OldMode: 0o644, NewMode: 0o644}
		switch i % 8 {
		case 1:
			f.Old = nil
		case 2:
			f.New = nil
		case 3:
			f.NewMode = 0o755
		case 4:
			f.To = name + " moved"
		case 5:
			f.New = append(append([]byte{}, f.Old...), "\nx\n"...)
		}
		var b strings.Builder
		patch.Append(&b, f)
		if b.Len() == 0 {
			continue
		}
		from, to := filepath.Join(dir, f.From), filepath.Join(dir, f.To)
		require.NoError(t, disk.MkdirAll(filepath.Dir(from), 0o755))
		if f.Old != nil {
			require.NoError(t, afero.WriteFile(disk, from, f.Old, 0o644))
		}
		cmd := exec.CommandContext(context.Background(), git, "apply", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(b.String())
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", out, b.String())
		if f.New == nil {
			there, err := afero.Exists(disk, to)
			require.NoError(t, err)
			require.False(t, there)
			continue
		}
		got, err := afero.ReadFile(disk, to)
		require.NoError(t, err)
		require.Equal(t, string(f.New), string(got), "%s", b.String())
	}
}

func TestNothingAndBinary(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	patch.Append(&b, patch.File{From: "f", To: "f", Old: []byte("x\n"), New: []byte("x\n"), OldMode: 0o600, NewMode: 0o600})
	require.Empty(t, b.String())
	patch.Append(&b, patch.File{From: "f", To: "f", Old: []byte("x\x00"), New: []byte("y\x00"), Binary: true})
	require.Equal(t, "diff --git a/f b/f\nBinary files a/f and b/f differ\n", b.String())
}

func TestAHunkWithoutContext(t *testing.T) {
	t.Parallel()
	hunks := merge.Diff([]byte("a\nb\nc\n"), []byte("a\nc\nd"))
	require.Len(t, hunks, 2)
	require.Equal(t, "@@ -2 +1,0 @@\n-b\n", patch.Hunk(hunks[0]))
	require.Equal(t, "@@ -3,0 +3 @@\n+d\n\\ No newline at end of file\n", patch.Hunk(hunks[1]))
}
