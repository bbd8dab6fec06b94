package keyfile_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider/keyfile"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

const (
	path   = "/h/.xcsh/agent/auth.json"
	secret = "sk-" + "ant-made-up"
)

func with(t *testing.T, content string) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	if content != "" {
		require.NoError(t, afero.WriteFile(fsys, path, []byte(content), 0o600))
	}
	return fsys
}

func read(t *testing.T, fsys afero.Fs) string {
	t.Helper()
	content, err := afero.ReadFile(fsys, path)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return string(content)
}

// Only the key changes: other entries, their order and layout, and unknown members stay.
func TestOnlyTheKeyChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, want string }{
		"no file":      {"", "{\n  \"anthropic\": {\"type\":\"api_key\",\"key\": \"" + secret + "\"}\n}"},
		"empty object": {"{}", "{\n  \"anthropic\": {\"type\":\"api_key\",\"key\": \"" + secret + "\"}\n}"},
		"another entry": {
			"{\n  \"openai\": {\"type\": \"oauth\", \"access\": \"a\\u0062\", \"expires\": 17.0}\n}\n",
			"{\n  \"openai\": {\"type\": \"oauth\", \"access\": \"a\\u0062\", \"expires\": 17.0},\n  \"anthropic\": {\"type\":\"api_key\",\"key\": \"" + secret + "\"}\n}\n",
		},
		"replaced": {
			`{"anthropic" : {"type":"api_key", "env":{"A":"b"}, "key" : "old"}, "x":{"type":"api_key","key":"$X"}}`,
			`{"anthropic" : {"type":"api_key", "env":{"A":"b"}, "key" : "` + secret + `"}, "x":{"type":"api_key","key":"$X"}}`,
		},
		"a mark": {
			"\uFEFF{\"anthropic\":{\"type\":\"api_key\",\"key\":\"old\"}}", "\uFEFF{\"anthropic\":{\"type\":\"api_key\",\"key\":\"" + secret + "\"}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := with(t, c.from)
			s := keyfile.Store{Fs: fsys, File: path}
			require.NoError(t, s.Set(t.Context(), "anthropic", secret))
			require.Equal(t, c.want, read(t, fsys))
			require.NoError(t, s.Set(t.Context(), "anthropic", secret))
			require.Equal(t, c.want, read(t, fsys), "the same key changes nothing")
			info, err := fsys.Stat(path)
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
			require.NoError(t, s.Remove(t.Context(), "anthropic"))
			require.NotContains(t, read(t, fsys), secret)
			require.True(t, fault.Is(s.Remove(t.Context(), "anthropic"), fault.NotFound))
			names, err := afero.ReadDir(fsys, filepath.Dir(path))
			require.NoError(t, err)
			require.Len(t, names, 1, "no lock and no temporary file is left")
		})
	}
}

// A removed entry takes only its comma with it.
func TestRemovingKeepsTheOthers(t *testing.T) {
	t.Parallel()
	fsys := with(t, `{ "a": {"type":"oauth"}, "b": {"type":"api_key","key":"1"}, "c": 1.0 }`)
	require.NoError(t, keyfile.Store{Fs: fsys, File: path}.Remove(t.Context(), "b"))
	require.Equal(t, `{ "a": {"type":"oauth"}, "c": 1.0 }`, read(t, fsys))
}

// Logins belong to the program that made them.
func TestLoginsAreKept(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{
		`{"type":"oauth","access":"x","refresh":"y"}`, `{"type":"api_key2","key":"x"}`, `{"key":"x"}`, `"x"`, `null`, `[]`, `{"type":"api_key","type":"oauth"}`,
	} {
		content := `{"anthropic":` + entry + `}`
		fsys := with(t, content)
		s := keyfile.Store{Fs: fsys, File: path}
		require.True(t, fault.Is(s.Set(t.Context(), "anthropic", secret), fault.Denied), entry)
		require.True(t, fault.Is(s.Remove(t.Context(), "anthropic"), fault.Denied), entry)
		require.Equal(t, content, read(t, fsys))
	}
}

// What cannot be a provider or a key is refused before anything is written. A terminal program would run a key
// that begins with an exclamation mark.
func TestBadNamesAndKeys(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", "__proto__", "-x", ".x", "a/b", "../x", "a b", "a\nb", "a\x00b", "a\x1b[31m", "ä", "a\u202eb", strings.Repeat("a", 101), strings.Repeat("\xff", 5000),
	} {
		fsys := afero.NewMemMapFs()
		s := keyfile.Store{Fs: fsys, File: path}
		for _, err := range []error{s.Set(t.Context(), name, secret), s.Remove(t.Context(), name)} {
			requireOneSentence(t, err, fault.InvalidArgument, "provider")
		}
		require.Empty(t, read(t, fsys))
	}
	for _, key := range []string{
		"", " ", "a b", "a\nb", "a\r", "\x00", "kéy", "!cat /etc/passwd", "$HOME", "${HOME}", strings.Repeat("k", 8<<10+1), "\x7f", "\u202e",
	} {
		fsys := afero.NewMemMapFs()
		err := keyfile.Store{Fs: fsys, File: path}.Set(t.Context(), "anthropic", key)
		requireOneSentence(t, err, fault.InvalidArgument, "key")
		if len(key) > 3 {
			require.NotContains(t, err.Error(), key)
		}
		require.Empty(t, read(t, fsys))
	}
	fsys := afero.NewMemMapFs()
	require.NoError(t, keyfile.Store{Fs: fsys, File: path}.Set(t.Context(), "constructor", `"\{}`))
	var file map[string]struct{ Key string }
	require.NoError(t, json.Unmarshal([]byte(read(t, fsys)), &file))
	require.Equal(t, `"\{}`, file["constructor"].Key)
}

func requireOneSentence(t *testing.T, err error, kind fault.Kind, field string) {
	t.Helper()
	require.True(t, fault.Is(err, kind), "%v", err)
	require.NotContains(t, err.Error(), "\n")
	require.Less(t, len(err.Error()), 400)
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, field, f.Data["field"])
}

// A file that is not an auth.json stays as it is, and nothing of it is in the error.
func TestFilesOfAnotherForm(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"torn":       `{"anthropic":{"type":"api_key","key":"topsecret`,
		"list":       `["topsecret"]`,
		"text":       `topsecret`,
		"null":       `null`,
		"duplicates": `{"anthropic":{"type":"api_key","key":"topsecret"},"anthropic":{"type":"api_key","key":"other"},"` + "\\u0061nthropic" + `":{"type":"oauth"}}`,
		"comments":   "// topsecret\n{}",
		"huge":       `{"x":"` + strings.Repeat("topsecret", 2<<20) + `"}`,
		"two values": `{} {"a":"topsecret"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := with(t, content)
			err := keyfile.Store{Fs: fsys, File: path}.Set(t.Context(), "anthropic", secret)
			require.Error(t, err)
			require.Contains(t, []fault.Kind{fault.IO, fault.Denied}, fault.KindOf(err))
			require.NotContains(t, err.Error(), "topsecret")
			require.NotContains(t, err.Error(), secret)
			require.Equal(t, content, read(t, fsys))
		})
	}
}

// A link and a directory are not followed or replaced; a file that others may read is closed to them.
func TestLinksAndModes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, other := filepath.Join(dir, "auth.json"), filepath.Join(dir, "dotfiles.json")
	s := keyfile.Store{Fs: afero.NewOsFs(), File: file}
	require.NoError(t, os.WriteFile(file, []byte("{}"), 0o600))
	require.NoError(t, os.Chmod(file, 0o644))
	require.NoError(t, s.Set(t.Context(), "anthropic", secret))
	info, err := os.Lstat(file)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)
	require.NoError(t, os.Rename(file, other))
	require.NoError(t, os.Mkdir(file, 0o700))
	require.True(t, fault.Is(s.Set(t.Context(), "openai", secret), fault.IO))
	require.NoError(t, os.Remove(file))
	if os.Symlink(other, file) != nil {
		t.Skip("no links here")
	}
	before, err := os.ReadFile(other)
	require.NoError(t, err)
	err = s.Set(t.Context(), "openai", secret)
	require.ErrorContains(t, err, "it is a link")
	require.True(t, fault.Is(err, fault.IO))
	after, err := os.ReadFile(other)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// Whatever step fails, the file has its former content or the new one, and the error does not contain the key.
func TestEveryStepCanFail(t *testing.T) {
	t.Parallel()
	const from = `{"openai":{"type":"oauth","access":"x"}}`
	for _, mode := range []st.Mode{st.Once, st.Dead, st.Short} {
		for at := 1; ; at++ {
			memory := with(t, from)
			faulty := &st.FaultFs{Fs: memory, At: at, Mode: mode, Reads: true}
			err := keyfile.Store{Fs: faulty, File: path}.Set(t.Context(), "anthropic", secret)
			now := read(t, memory)
			if now != from {
				require.Contains(t, now, `{"openai":{"type":"oauth","access":"x"},`, "%v %d", mode, at)
				require.True(t, json.Valid([]byte(now)))
			} else {
				require.Error(t, err, "%v %d", mode, at)
				require.NotContains(t, err.Error(), secret)
			}
			if !faulty.Fired() {
				require.NoError(t, err)
				break
			}
		}
	}
}

// A loss of power leaves the former content or the new one.
func TestALossOfPower(t *testing.T) {
	t.Parallel()
	power := st.NewPowerFs()
	require.NoError(t, power.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, afero.WriteFile(power, path, []byte(`{"x":1}`), 0o600))
	power.Settle(t)
	require.NoError(t, keyfile.Store{Fs: power, File: path}.Set(t.Context(), "anthropic", secret))
	require.Contains(t, read(t, power.After(t, st.Loss{})), secret, "it was acknowledged")
}

// A terminal program that holds its lock is waited for; one that was killed is not.
func TestTheLockOfTheTerminalProgram(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fsys := with(t, "{}")
		require.NoError(t, fsys.Mkdir(path+".lock", 0o700))
		s := keyfile.Store{Fs: fsys, File: path}
		require.ErrorContains(t, s.Set(t.Context(), "anthropic", secret), "another program is changing it")
		require.Equal(t, "{}", read(t, fsys))
		<-time.After(15 * time.Second)
		require.Error(t, s.Set(t.Context(), "anthropic", secret), "a login may take so long")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.True(t, fault.Is(s.Set(ctx, "anthropic", secret), fault.Cancelled))
		<-time.After(30 * time.Second)
		require.NoError(t, s.Set(t.Context(), "anthropic", secret))
	})
}

// A directory that may not be used is not touched.
func TestAForbiddenDirectory(t *testing.T) {
	t.Parallel()
	denied := fault.New(fault.Denied, "No.")
	fsys := afero.NewMemMapFs()
	s := keyfile.Store{Fs: fsys, File: path, Usable: func() error { return denied }}
	require.ErrorIs(t, s.Set(t.Context(), "anthropic", secret), denied)
	require.ErrorIs(t, s.Remove(t.Context(), "anthropic"), denied)
	exists, err := afero.DirExists(fsys, filepath.Dir(path))
	require.NoError(t, err)
	require.False(t, exists)
}
