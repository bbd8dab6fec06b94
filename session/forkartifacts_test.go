package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// shutFs denies reading at and below a path.
type shutFs struct {
	afero.Fs
	shut string
}

func (f shutFs) Open(name string) (afero.File, error) {
	if f.shut != "" && (name == f.shut || strings.HasPrefix(name, f.shut+"/")) {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.EACCES}
	}
	return f.Fs.Open(name)
}

// Artifacts that cannot be read prevent neither the fork nor the copies of the other
// artifacts, and are logged. A session without artifacts logs nothing.
// Proves: O-034
func TestAForkOmitsUnreadableArtifacts(t *testing.T) {
	t.Parallel()
	const source = kit.StoreDir + "/2026-01-01T00-00-00-000Z_0190000000000001.jsonl"
	artifacts := strings.TrimSuffix(source, ".jsonl")
	for name, tc := range map[string]struct {
		shut   string
		copied []string
		logged int
	}{
		"all can be read":           {"/nothing", []string{"0.bash.log", "1.read.txt", "sub/2.txt"}, 0},
		"a file cannot":             {artifacts + "/0.bash.log", []string{"1.read.txt", "sub/2.txt"}, 1},
		"a directory cannot":        {artifacts + "/sub", []string{"0.bash.log", "1.read.txt"}, 1},
		"nothing of them can":       {artifacts, nil, 1},
		"there are none in the end": {"", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			kit.Put(t, fs, source, st.File(st.Header("0190000000000001", "/w"), st.User("aaaaaaaa", "", "one")))
			if tc.shut != "" {
				for _, artifact := range []string{"0.bash.log", "1.read.txt", "sub/2.txt"} {
					kit.Put(t, fs, artifacts+"/"+artifact, "of "+artifact)
				}
			}
			core, logs := observer.New(zap.WarnLevel)
			s := session.NewStore(session.StoreConfig{
				Fs: shutFs{fs, tc.shut}, DirFor: func(string) (string, error) { return kit.StoreDir, nil }, Log: zap.New(core),
			})
			fork, err := s.ForkFrom(source, "/w")
			require.NoError(t, err)
			to := strings.TrimSuffix(fork.Path(), ".jsonl")
			require.NoError(t, fork.Close())
			var copied []string
			for _, artifact := range []string{"0.bash.log", "1.read.txt", "sub/2.txt"} {
				if content, err := afero.ReadFile(fs, filepath.Join(to, artifact)); err == nil {
					require.Equal(t, "of "+artifact, string(content))
					copied = append(copied, artifact)
				}
			}
			require.Equal(t, tc.copied, copied)
			told := logs.FilterMessage("artifacts were not copied").All()
			require.Len(t, told, tc.logged)
			for _, line := range told {
				require.Equal(t, artifacts, line.ContextMap()["path"])
				require.Contains(t, line.ContextMap()["error"], "permission denied")
			}
		})
	}
}

// A fork has the contents of changed files, without a second copy where the file system can, but nothing of a rewind or a command that
// has not ended in the source.
func TestAForkSharesTheContentsOfChangedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := filepath.Join(dir, "2026-01-01T00-00-00-000Z_0190000000000001.jsonl")
	artifacts := strings.TrimSuffix(source, ".jsonl")
	hash := strings.Repeat("9f", 32)
	kept, left := []string{"0.bash.log", "changes/9f/" + hash}, []string{
		"changes/rewind.json", "changes/rewind.commit.json", "changes/waiting.jsonl", "changes/9f/" + hash + ".tmp", "changes/aa/" + hash,
	}
	fs := afero.NewOsFs()
	kit.Put(t, fs, source, st.File(st.Header("0190000000000001", "/w"), st.User("aaaaaaaa", "", "one")))
	for _, name := range append(left, kept...) {
		kit.Put(t, fs, filepath.Join(artifacts, name), "of "+name)
	}
	s := session.NewStore(session.StoreConfig{Fs: fs, DirFor: func(string) (string, error) { return dir, nil }})
	fork, err := s.ForkFrom(source, "/w")
	require.NoError(t, err)
	to := strings.TrimSuffix(fork.Path(), ".jsonl")
	require.NoError(t, fork.Close())
	for _, name := range kept {
		require.Equal(t, "of "+name, kit.Content(t, fs, filepath.Join(to, name)))
	}
	for _, name := range left {
		require.NoFileExists(t, filepath.Join(to, name))
	}
	was, err := os.Stat(filepath.Join(artifacts, kept[1]))
	require.NoError(t, err)
	is, err := os.Stat(filepath.Join(to, kept[1]))
	require.NoError(t, err)
	require.True(t, os.SameFile(was, is))
	log, err := os.Stat(filepath.Join(to, kept[0]))
	require.NoError(t, err)
	other, err := os.Stat(filepath.Join(artifacts, kept[0]))
	require.NoError(t, err)
	require.False(t, os.SameFile(log, other))
}
