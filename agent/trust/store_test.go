package trust_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/trust"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

const path = "/home/u/.xcsh/agent/xcsh-ls/trust.json"

func TestStore(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		t.Helper()
		dir := t.TempDir()
		s := &trust.Store{Fs: fs, Path: filepath.Join(dir, "a", "trust.json")}
		one := trust.Trust{Folder: "/w", What: "mcp", SHA256: "1"}
		has := func(d trust.Trust) bool {
			ok, err := s.Has(d)
			require.NoError(t, err)
			return ok
		}
		assert.False(t, has(one))
		require.NoError(t, s.Add(one))
		require.NoError(t, s.Add(one))
		assert.True(t, has(one))
		assert.False(t, has(trust.Trust{Folder: "/w", What: "mcp", SHA256: "2"}), "other content")
		assert.False(t, has(trust.Trust{Folder: "/w", What: "hooks", SHA256: "1"}))
		assert.False(t, has(trust.Trust{Folder: "/v", What: "mcp", SHA256: "1"}))
		assert.True(t, s.Known("/w", "mcp"))
		assert.False(t, s.Known("/w", "hooks"))
		two := trust.Trust{Folder: "/w", What: "mcp", SHA256: "2"}
		require.NoError(t, s.Add(two))
		assert.True(t, has(two))
		assert.False(t, has(one), "a new decision takes the place of the old one")
		info, err := fs.Stat(s.Path)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		again := &trust.Store{Fs: fs, Path: s.Path}
		ok, err := again.Has(two)
		require.NoError(t, err)
		assert.True(t, ok)
	})
}

func TestADecisionWithoutADigestIsNone(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	s := &trust.Store{Fs: fs, Path: path}
	require.NoError(t, afero.WriteFile(fs, path, []byte(`{"trusted":[{"folder":"/w","what":"mcp","sha256":""}]}`), 0o600))
	ok, err := s.Has(trust.Trust{Folder: "/w", What: "mcp"})
	require.NoError(t, err)
	assert.False(t, ok)
}

func TestUnknownMembersOfAStoreAreKept(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	s := &trust.Store{Fs: fs, Path: path}
	require.NoError(t, afero.WriteFile(fs, path, []byte(`{"allowedAgentDirs":["/a"],"later":{"x":1.0}}`), 0o600))
	require.NoError(t, s.Add(trust.Trust{Folder: "/w", What: "mcp", SHA256: "1"}))
	content, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	assert.JSONEq(t, `{"allowedAgentDirs":["/a"],"trusted":[{"folder":"/w","what":"mcp","sha256":"1"}],"later":{"x":1.0}}`, string(content))
	dirs, err := s.AllowedAgentDirs()
	require.NoError(t, err)
	assert.Equal(t, []string{"/a"}, dirs)
}

func TestADamagedStoreAllowsNothingAndIsKept(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	s := &trust.Store{Fs: fs, Path: path}
	require.NoError(t, afero.WriteFile(fs, path, []byte(`{"trusted":[`), 0o600))
	one := trust.Trust{Folder: "/w", What: "mcp", SHA256: "1"}
	ok, err := s.Has(one)
	assert.True(t, fault.Is(err, fault.Damaged))
	assert.False(t, ok)
	assert.False(t, s.Known("/w", "mcp"))
	assert.True(t, fault.Is(s.Add(one), fault.Damaged))
	content, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	assert.Equal(t, `{"trusted":[`, string(content))
	assert.True(t, fault.Is((&trust.Store{Fs: fs}).Add(one), fault.InvalidArgument))
}

// Whichever step of writing a decision fails, the file is the old one or the new one, no other file
// is left beside it, and an error is returned unless the decision is kept.
func TestAddSurvivesAFaultAtEveryStep(t *testing.T) {
	t.Parallel()
	old, one := trust.Trust{Folder: "/v", What: "mcp", SHA256: "0"}, trust.Trust{Folder: "/w", What: "mcp", SHA256: "1"}
	for _, mode := range []st.Mode{st.Once, st.Dead, st.Short} {
		for at := 1; ; at++ {
			fs := afero.NewMemMapFs()
			require.NoError(t, (&trust.Store{Fs: fs, Path: path}).Add(old))
			faulty := &st.FaultFs{Fs: fs, At: at, Mode: mode, Reads: true}
			err := (&trust.Store{Fs: faulty, Path: path}).Add(one)
			s := &trust.Store{Fs: fs, Path: path}
			kept, readErr := s.Has(old)
			require.NoError(t, readErr)
			assert.True(t, kept)
			added, readErr := s.Has(one)
			require.NoError(t, readErr)
			assert.Equal(t, err == nil, added, "fault %d in mode %d: %v", at, mode, err)
			if mode != st.Dead {
				entries, listErr := afero.ReadDir(fs, filepath.Dir(path))
				require.NoError(t, listErr)
				assert.Len(t, entries, 1, "fault %d in mode %d", at, mode)
			}
			if !faulty.Fired() {
				break
			}
		}
	}
}

func FuzzStore(f *testing.F) {
	f.Add([]byte(`{"trusted":[{"folder":"/w","what":"mcp","sha256":"1"}],"allowedAgentDirs":["/a"]}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"trusted":null,"x":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		fs := afero.NewMemMapFs()
		require.NoError(t, afero.WriteFile(fs, path, raw, 0o600))
		s := &trust.Store{Fs: fs, Path: path}
		one := trust.Trust{Folder: "/fuzz", What: "mcp", SHA256: "f"}
		if s.Add(one) != nil {
			content, err := afero.ReadFile(fs, path)
			require.NoError(t, err)
			require.Equal(t, raw, content)
			return
		}
		ok, err := s.Has(one)
		require.NoError(t, err)
		require.True(t, ok)
	})
}
