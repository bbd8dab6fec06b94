package artifact_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/artifact"
)

const (
	artifactSession = kit.StoreDir + "/2026-01-01T00-00-00-000Z_0190000000000001.jsonl"
	artifactDir     = kit.StoreDir + "/2026-01-01T00-00-00-000Z_0190000000000001"
)

func artifactStore(fs afero.Fs) *session.Store {
	return session.NewStore(session.StoreConfig{Fs: fs, DirFor: func(string) (string, error) { return kit.StoreDir, nil }})
}

// dirOf is the artifact directory of the session at path.
func dirOf(s *session.Store, path string) artifact.Dir { return artifact.Dir{Fs: s.Fs, Session: path} }

// artifactIDs are the ids of a list, with the tools.
func artifactIDs(list []artifact.Artifact) (ids []string) {
	for _, a := range list {
		ids = append(ids, a.ID+" "+a.Tool)
	}
	return ids
}

// keepArtifact makes an artifact with a content.
func keepArtifact(t *testing.T, s *session.Store, path, tool, content string) string {
	t.Helper()
	f, err := dirOf(s, path).Create(tool)
	require.NoError(t, err)
	_, err = f.WriteString(content)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return f.ID
}

func TestArtifactsAreListedInTheOrderOfTheirNumbers(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		s := artifactStore(fs)
		list, err := dirOf(s, artifactSession).List()
		require.NoError(t, err)
		require.Empty(t, list, "there is no directory")
		for name, content := range map[string]string{
			"10.bash.log": "ten", "2.mcp__x-y.log": "two", "0.read.log": "", "0.bash.log": "zero",
			"Task.md": "an answer", "Task.jsonl": "{}", "draft.txt": "d", ".draft-only-session": "", "007.bash.log": "no number",
			"99999999999999999999.bash.log": "too much", "sub/1.bash.log": "not here", "3.txt": "three", "4": "no dot",
		} {
			kit.Put(t, fs, filepath.Join(artifactDir, name), content)
		}
		list, err = dirOf(s, artifactSession).List()
		require.NoError(t, err)
		require.Equal(t, []string{
			"0 bash", "0.read.log read", "2 mcp__x-y", "3 ", "10 bash", "007.bash.log ", "4 ", "99999999999999999999.bash.log ",
			"Task.jsonl ", "Task.md ", "draft.txt ",
		}, artifactIDs(list))
		require.Equal(t, int64(3), list[4].Bytes)
		require.Equal(t, "10.bash.log", list[4].Name)
		require.False(t, list[4].Modified.IsZero())
	})
}

// Numbers continue after the highest existing one, whichever file has it.
// Proves: X-231
func TestArtifactNumbersContinue(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		s := artifactStore(fs)
		require.Equal(t, "0", keepArtifact(t, s, artifactSession, "bash", "a"), "before the session has a file")
		require.Equal(t, "1", keepArtifact(t, s, artifactSession, "read", "b"))
		kit.Put(t, fs, artifactDir+"/7.Task.md", "another program's")
		require.NoError(t, fs.MkdirAll(artifactDir+"/8.dir", 0o700))
		require.Equal(t, "9", keepArtifact(t, artifactStore(fs), artifactSession, "../../x\x00/y", "c"), "of another process")
		require.Equal(t, "10", keepArtifact(t, s, artifactSession, "///", "d"))
		require.Equal(t, "11", keepArtifact(t, s, artifactSession, strings.Repeat("long", 100), "e"))
		list, err := dirOf(s, artifactSession).List()
		require.NoError(t, err)
		require.Equal(t, []string{"0 bash", "1 read", "7 ", "9 x_y", "10 tool", "11 " + strings.Repeat("long", 16)}, artifactIDs(list))
		info, err := fs.Stat(artifactDir + "/0.bash.log")
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	})
}

// Artifacts are copied to a fork and exist after a resume, and numbers continue in both.
// Proves: X-231
func TestArtifactsOfAForkAndAfterAResume(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		s := artifactStore(fs)
		kit.Put(t, fs, artifactSession, st.File(st.Header("0190000000000001", "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two")))
		keepArtifact(t, s, artifactSession, "bash", "the output")
		fork, err := s.ForkFrom(artifactSession, "/w")
		require.NoError(t, err)
		require.NoError(t, fork.Close())
		again := artifactStore(fs)
		log, err := again.Open(artifactSession)
		require.NoError(t, err)
		for _, path := range []string{log.Path(), fork.Path()} {
			part, err := artifact.Dir{Fs: again.Fs, Session: path}.Read("0", 0, 100)
			require.NoError(t, err)
			require.Equal(t, "the output", part.Text)
			require.Equal(t, "1", keepArtifact(t, again, path, "bash", "more of "+path))
		}
		require.NoError(t, log.Close())
		part, err := dirOf(s, fork.Path()).Read("artifact://1", 0, 1000)
		require.NoError(t, err)
		require.Equal(t, "more of "+fork.Path(), part.Text)
	})
}

func TestASessionWithoutAPlaceForArtifacts(t *testing.T) {
	t.Parallel()
	s := artifactStore(afero.NewMemMapFs())
	for _, path := range []string{"", "/w/transcript.txt"} {
		_, err := dirOf(s, path).Create("bash")
		require.True(t, fault.Is(err, fault.NotPersistent), err)
		list, err := dirOf(s, path).List()
		require.NoError(t, err)
		require.Empty(t, list)
	}
}

// If any step fails, there is an error, and no artifact of the failed call.
// Proves: N-03
func TestEveryStepOfMakingAnArtifactThatFails(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		disk := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
		kit.Put(t, disk, artifactDir+"/0.bash.log", "mine")
		faulty := &st.FaultFs{Fs: disk, At: at, Reads: true}
		f, err := artifact.Dir{Fs: faulty, Session: artifactSession}.Create("bash")
		list, listErr := artifact.Dir{Fs: disk, Session: artifactSession}.List()
		require.NoError(t, listErr)
		if err != nil {
			var f *fault.Error
			require.ErrorAs(t, err, &f)
			require.Len(t, list, 1, at)
		} else {
			require.Len(t, list, 2, at)
			require.Equal(t, "1", f.ID)
			if err := f.Close(); err != nil {
				require.ErrorIs(t, err, st.ErrInjected)
			}
		}
		content, err := afero.ReadFile(disk, artifactDir+"/0.bash.log")
		require.NoError(t, err)
		require.Equal(t, "mine", string(content))
		if !faulty.Fired() {
			require.Greater(t, at, 5)
			return
		}
	}
}

// Two stores, like two processes, each request a hundred at once, some for other tools. No
// file is overwritten and no number given twice.
// Proves: AB-083
func TestManyMakeArtifactsAtOnce(t *testing.T) {
	t.Parallel()
	disk := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	require.NoError(t, disk.MkdirAll(kit.StoreDir, 0o700))
	const each = 100
	failed := make(chan error, 2*each)
	for store := range 2 {
		s := artifactStore(disk)
		for i := range each {
			go func() { failed <- makeArtifact(s, artifactSession, store, i) }()
		}
	}
	for range 2 * each {
		require.NoError(t, <-failed)
	}
	requireDistinct(t, artifactStore(disk), artifactSession, 2, each)
}

// makeArtifact makes an artifact whose content names its maker.
func makeArtifact(s *session.Store, path string, maker, i int) error {
	f, err := dirOf(s, path).Create([]string{"bash", "read", "grep"}[i%3])
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f, "%s of %d/%d", f.ID, maker, i); err != nil {
		return err
	}
	return f.Close()
}

// requireDistinct checks that each of the makers made all of its artifacts.
func requireDistinct(t *testing.T, s *session.Store, path string, makers, each int) {
	t.Helper()
	list, err := dirOf(s, path).List()
	require.NoError(t, err)
	require.Len(t, list, makers*each)
	seen := map[string]bool{}
	for _, a := range list {
		_, err := strconv.Atoi(a.ID)
		require.NoError(t, err, "its number is its own")
		part, err := dirOf(s, path).Read(a.ID, 0, 100)
		require.NoError(t, err)
		id, who, _ := strings.Cut(part.Text, " of ")
		require.Equal(t, a.ID, id)
		seen[who] = true
	}
	require.Len(t, seen, makers*each)
}

// envArtifacts makes a test program a process that makes artifacts of the session it names.
const envArtifacts = "XCSH_TEST_ARTIFACTS"

func TestMain(m *testing.M) {
	path := os.Getenv(envArtifacts)
	if path == "" {
		os.Exit(m.Run())
	}
	if err := makeArtifacts(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// makeArtifacts makes a hundred artifacts on a start signal.
func makeArtifacts(path string) error {
	fmt.Println("ready")
	if _, err := io.ReadAll(os.Stdin); err != nil {
		return err
	}
	s := session.NewStore(session.StoreConfig{Fs: afero.NewOsFs()})
	for i := range 100 {
		if err := makeArtifact(s, path, os.Getpid(), i); err != nil {
			return err
		}
	}
	return nil
}

// Two processes in one session overwrite no file of each other.
// Proves: AB-083
func TestTwoProcessesMakeArtifacts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	var both []*exec.Cmd
	for range 2 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env, cmd.Stderr = append(os.Environ(), envArtifacts+"="+path), os.Stderr
		both = append(both, cmd)
	}
	st.Together(t, both...)
	requireDistinct(t, session.NewStore(session.StoreConfig{Fs: afero.NewOsFs()}), path, 2, 100)
}
