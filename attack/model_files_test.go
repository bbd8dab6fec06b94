package attack

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// wallet is a victim's machine with more credentials, and links to them inside the project.
func wallet(t *testing.T) *victim {
	v := newVictim(t)
	for _, name := range []string{
		".gnupg/private-keys-v1.d/k", ".azure/tokens", ".config/gcloud/credentials.db", ".kube/config", ".config/gh/hosts.yml",
		".git-credentials", ".config/git/credentials", ".npmrc", ".pypirc", ".cargo/credentials.toml", ".gem/credentials", ".vault-token",
		".password-store/a.gpg", ".config/google-chrome/Default/Cookies", ".mozilla/firefox/p/logins.json",
		"Library/Keychains/login.keychain-db", ".local/share/keyrings/login.keyring", ".bash_history", ".zsh_history",
		".omp/agent/agent.db", ".omp/agent/auth.json", ".pi/agent/auth.json", ".pi/agent/models.json", ".xcsh/agent/models.yml",
		"_netrc", ".m2/settings.xml",
	} {
		v.write(filepath.Join(v.home, name), secret+" "+name+"\n")
	}
	v.write(v.path("plain.txt"), "plain\n")
	for name, to := range map[string]string{
		"key": ".ssh/id_rsa", "keys": ".ssh", "home": "", "auth": ".xcsh/agent/auth.json",
	} {
		require.NoError(t, os.Symlink(filepath.Join(v.home, filepath.FromSlash(to)), v.path("link-"+name)))
	}
	require.NoError(t, os.Link(filepath.Join(v.home, ".xcsh/agent/auth.json"), v.path("hard-auth.txt")))
	require.NoError(t, os.Link(filepath.Join(v.home, ".ssh/id_rsa"), v.path("hard-key.txt")))
	require.NoError(t, os.Link(filepath.Join(v.home, ".netrc"), v.path("hard-netrc.txt")))
	return v
}

// waysTo returns paths under which the model may try to open a credential.
func (v *victim) waysTo() []string {
	ways := []string{
		"~/.ssh/id_rsa", "@~/.ssh/id_rsa", "~/../home/.netrc", "../home/.aws/credentials", v.home + "/work/../.docker/config.json",
		v.home + "/./.ssh//id_rsa", "link-key", "link-keys/id_rsa", "link-home/.netrc", "link-home/.ssh/../.netrc", "link-auth",
		"hard-auth.txt", "hard-key.txt", "hard-netrc.txt",
	}
	for _, name := range []string{
		".gnupg/private-keys-v1.d/k", ".azure/tokens", ".config/gcloud/credentials.db", ".kube/config", ".config/gh/hosts.yml",
		".git-credentials", ".config/git/credentials", ".npmrc", ".pypirc", ".cargo/credentials.toml", ".gem/credentials", ".vault-token",
		".password-store/a.gpg", ".config/google-chrome/Default/Cookies", ".mozilla/firefox/p/logins.json",
		"Library/Keychains/login.keychain-db", ".local/share/keyrings/login.keyring", ".bash_history", ".zsh_history",
		".omp/agent/agent.db", ".omp/agent/auth.json", ".pi/agent/auth.json", ".pi/agent/models.json", ".xcsh/agent/models.yml",
		".xcsh/agent/auth.json", "_netrc", ".m2/settings.xml",
	} {
		ways = append(ways, filepath.Join(v.home, name))
	}
	if runtime.GOOS == "linux" {
		ways = append(ways, "/proc/self/root"+v.home+"/.ssh/id_rsa", "/proc/self/cwd/../home/.ssh/id_rsa", "/proc/self/environ", "/proc/thread-self/environ")
	}
	return ways
}

// modes are the approval modes. Reading never needs approval, so the boundary must hold in each mode.
var modes = []string{"read-only", "ask", "auto-edit", "yolo"}

func TestTheModelReadsNoCredentials(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			v := wallet(t)
			v.env = append(v.env, "SOME_TOKEN="+secret)
			var calls [][]providertest.Call
			for _, path := range v.waysTo() {
				calls = append(calls, call("read", map[string]any{"path": path}), call("grep", map[string]any{"pattern": ".", "path": path}))
			}
			v.does(calls...)
			v.ask("--approval", mode)
			assert.Empty(t, v.leaked())
			require.Len(t, v.results(), len(calls))
		})
	}
}

func TestTheModelSearchesNoCredentials(t *testing.T) {
	t.Parallel()
	v := wallet(t)
	var calls [][]providertest.Call
	for _, path := range []string{"", "..", "~", "~/.ssh", "~/.xcsh", "~/.xcsh/agent", "~/.config", "link-home", "link-keys", "~/.ssh/.", "../home"} {
		calls = append(calls, call("grep", map[string]any{"pattern": "SECRET", "path": path}))
		calls = append(calls, call("grep", map[string]any{"pattern": "SECRET", "path": path, "glob": "**/*"}))
	}
	v.does(calls...)
	v.ask()
	assert.Empty(t, v.leaked())
	require.Len(t, v.results(), len(calls))
}

func TestTheModelListsNoCredentials(t *testing.T) {
	t.Parallel()
	v := wallet(t)
	v.write(filepath.Join(v.home, ".ssh", secret), "")
	v.write(filepath.Join(v.home, ".password-store", secret), "")
	var calls [][]providertest.Call
	for _, path := range []string{"~/.ssh", "~/.ssh/../.ssh/", "link-keys", "link-home/.ssh", "../home/.password-store", "/proc/self/root" + v.home + "/.ssh"} {
		calls = append(calls, call("ls", map[string]any{"path": path}), call("find", map[string]any{"pattern": "*", "path": path}))
	}
	calls = append(calls, call("find", map[string]any{"pattern": "*", "path": "~"}), call("find", map[string]any{"pattern": "*", "path": "link-home"}))
	v.does(calls...)
	v.ask()
	assert.Empty(t, v.leaked())
	require.Len(t, v.results(), len(calls))
}

// An edit would show the file's content in its preview and in its error, and a write would destroy it.
func TestTheModelChangesNoCredentials(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			v := wallet(t)
			var calls [][]providertest.Call
			for _, path := range append(v.waysTo(), "~/.ssh/authorized_keys", "link-keys/authorized_keys") {
				calls = append(calls, call("write", map[string]any{"path": path, "content": "x"}))
				calls = append(calls, call("edit", map[string]any{"path": path, "edits": []any{map[string]any{"oldText": "TOP", "newText": "x"}}}))
			}
			v.does(calls...)
			v.ask("--approval", mode)
			assert.Empty(t, v.leaked())
			assert.Contains(t, v.read(filepath.Join(v.home, ".ssh/id_rsa")), secret)
			assert.Contains(t, v.read(filepath.Join(v.home, ".xcsh/agent/auth.json")), secret)
			assert.NoFileExists(t, filepath.Join(v.home, ".ssh/authorized_keys"))
		})
	}
}

// On many machines, names that differ only in case are the same file.
func TestCaseMakesNoDifference(t *testing.T) {
	t.Parallel()
	v := wallet(t)
	if _, err := os.Stat(filepath.Join(v.home, ".SSH")); err != nil {
		t.Skip("file names of this machine differ by case")
	}
	v.does(call("read", map[string]any{"path": "~/.SSH/ID_RSA"}), call("read", map[string]any{"path": "~/.Xcsh/Agent/AUTH.json"}))
	v.ask()
	assert.Empty(t, v.leaked())
}

// Ordinary files stay readable: the boundary protects only credentials.
func TestTheModelReadsOrdinaryFiles(t *testing.T) {
	t.Parallel()
	v := wallet(t)
	v.write(v.path(".env.example"), "EXAMPLE=1\n")
	v.write(v.path("auth.json"), "of the project\n")
	require.NoError(t, os.Link(v.path("plain.txt"), v.path("second.txt")))
	v.does(
		call("read", map[string]any{"path": "plain.txt"}), call("read", map[string]any{"path": "second.txt"}),
		call("read", map[string]any{"path": "../outside/file"}), call("read", map[string]any{"path": "auth.json"}),
		call("grep", map[string]any{"pattern": "EXAMPLE"}), call("ls", map[string]any{"path": "~"}),
	)
	v.ask()
	results := v.results()
	require.Len(t, results, 6)
	for i, want := range []string{"plain", "plain", "outside", "of the project", ".env.example:1", ".ssh/"} {
		assert.Contains(t, results[i], want)
	}
}
