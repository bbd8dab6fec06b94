//go:build unix

package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mirror runs mirror-neovim.sh.
func mirror(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "./mirror-neovim.sh", args...)
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// git runs git in a directory and returns its output.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

func TestTheMirrorHasThePluginAtItsRootAndIsMadeOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "xcsh.nvim")
	out, err := mirror(t, dir, "v1.2.3")
	require.NoError(t, err, out)
	commit := git(t, dir, "rev-parse", "HEAD")

	files := strings.Fields(git(t, dir, "ls-tree", "-r", "--name-only", "HEAD"))
	for _, name := range []string{"LICENSE", "README.md", "doc/xcsh.txt", "lsp/xcsh.lua", "lua/xcsh/init.lua", "plugin/xcsh.lua"} {
		assert.Contains(t, files, name)
	}
	for _, name := range files {
		assert.NotRegexp(t, `^tests/|^\.luacheckrc$|stylua|^doc/tags$`, name)
	}

	out, err = mirror(t, dir, "v1.2.3")
	require.NoError(t, err, out)
	require.Equal(t, commit, git(t, dir, "rev-parse", "HEAD"), "a second run commits nothing")
	require.Equal(t, commit, git(t, dir, "rev-parse", "v1.2.3^{commit}"))
	require.Empty(t, git(t, dir, "status", "--porcelain", "--ignored"))
	require.Empty(t, git(t, dir, "remote"))
}

func TestLinksInTheReadmeOfTheMirrorLeaveItOnlyForItsVersionOfTheMainRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := mirror(t, dir, "v1.2.3")
	require.NoError(t, err, out)
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
	elsewhere := 0
	for _, m := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(text), -1) {
		if inMain, found := strings.CutPrefix(m[1], "https://github.com/xcsh-ls/xcsh-ls/"); found {
			elsewhere++
			kind, rest, _ := strings.Cut(inMain, "/v1.2.3/")
			assert.Contains(t, []string{"blob", "raw"}, kind, m[1])
			name, _, _ := strings.Cut(rest, "#")
			assert.FileExists(t, filepath.Join("..", name))
		} else if !strings.Contains(m[1], "://") {
			assert.FileExists(t, filepath.Join(dir, m[1]))
		}
	}
	require.NotZero(t, elsewhere)
	require.NotContains(t, string(text), "tests/run.sh")
}

func TestTheMirrorGetsACommitForAChangeAndLosesRemovedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := mirror(t, dir, "v1.2.3")
	require.NoError(t, err, out)
	// As if an earlier version had another file and other text.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lua/xcsh/old.lua"), []byte("return 1\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plugin/xcsh.lua"), []byte("return 2\n"), 0o644))
	git(t, dir, "add", "-A")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-q", "-m", "earlier")

	out, err = mirror(t, dir, "v1.2.4")
	require.NoError(t, err, out)
	require.Empty(t, git(t, dir, "diff", "v1.2.3", "v1.2.4", "--", ".", ":!README.md"), "only the links of the README have the version")
	require.NoFileExists(t, filepath.Join(dir, "lua/xcsh/old.lua"))
	require.Equal(t, "3", git(t, dir, "rev-list", "--count", "HEAD"))
}

func TestTheMirrorKeepsForeignFilesAndPublishedVersions(t *testing.T) {
	t.Parallel()
	t.Run("a directory with files", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o600))
		out, err := mirror(t, dir)
		require.Error(t, err)
		require.Contains(t, out, "neither empty nor a git repository")
		require.NoDirExists(t, filepath.Join(dir, ".git"))
	})
	t.Run("another repository", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		git(t, dir, "init", "-q")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o600))
		git(t, dir, "add", "-A")
		git(t, dir, "-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-q", "-m", "mine")
		out, err := mirror(t, dir)
		require.Error(t, err)
		require.Contains(t, out, "not a mirror of the plugin")
		require.FileExists(t, filepath.Join(dir, "mine"))
	})
	t.Run("a mirror with changes", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		out, err := mirror(t, dir, "v1.2.3")
		require.NoError(t, err, out)
		file := filepath.Join(dir, "plugin/xcsh.lua")
		require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
		out, err = mirror(t, dir, "v1.2.3")
		require.Error(t, err)
		require.Contains(t, out, "has changes")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, "mine", string(text))
	})
	t.Run("a published version", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		out, err := mirror(t, dir, "v1.2.3")
		require.NoError(t, err, out)
		published := git(t, dir, "rev-parse", "v1.2.3^{commit}")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "plugin/xcsh.lua"), []byte("return 2\n"), 0o644))
		git(t, dir, "-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-q", "-a", "-m", "later")
		out, err = mirror(t, dir, "v1.2.3")
		require.Error(t, err)
		require.Contains(t, out, "v1.2.3 already has other files")
		require.Equal(t, published, git(t, dir, "rev-parse", "v1.2.3^{commit}"))
	})
	t.Run("a tag that is no version", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		out, err := mirror(t, dir, "newest")
		require.Error(t, err)
		require.Contains(t, out, "not a version tag")
	})
}

// neovim returns a Neovim: $XCSH_TEST_NVIM, which must exist, or the one of PATH or of scripts/test.sh.
func neovim(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("XCSH_TEST_NVIM"); path != "" {
		require.FileExists(t, path)
		return path
	}
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	for _, name := range []string{"nvim", filepath.Join(home, ".cache/xcsh-ls/neovim-forky/bin/nvim")} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no nvim in PATH and none that scripts/test.sh downloaded")
	return ""
}

// runNeovim runs Lua code in a headless Neovim with a home of its own, in which git finds the plugin's
// repository in a directory. It returns the output of the code.
func runNeovim(t *testing.T, home, repository string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), neovim(t), append([]string{"--headless", "-n", "-i", "NONE"}, args...)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8",
		"XDG_CONFIG_HOME=" + home + "/config", "XDG_DATA_HOME=" + home + "/data", "XDG_STATE_HOME=" + home + "/state", "XDG_CACHE_HOME=" + home + "/cache",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + repository + ".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/xcsh-ls/xcsh.nvim",
	}
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	require.NoError(t, err, "%s%s", out, problems.String())
	return string(out)
}

// check prints the state of the plugin: the file that defines its commands, the modules that do not load, and whether its help
// is found.
const check = `
  local root = vim.fn.fnamemodify(vim.api.nvim_get_runtime_file('plugin/xcsh.lua', false)[1], ':p:h:h')
  local broken = {}
  for name, kind in vim.fs.dir(root .. '/lua/xcsh', { depth = 9 }) do
    if kind == 'file' and not loadfile(root .. '/lua/xcsh/' .. name) then
      table.insert(broken, name)
    end
  end
  vim.cmd.helptags(root .. '/doc') -- as plugin managers do
  io.stdout:write(vim.json.encode({
    root = vim.uv.fs_realpath(root),
    broken = #broken,
    chat = vim.fn.exists(':XcshChat'),
    module = type(require('xcsh').setup),
    help = pcall(vim.cmd.help, 'xcsh-install'),
  }))
  vim.cmd('qall!')
`

func TestNeovimLoadsThePluginFromACloneOfTheMirror(t *testing.T) {
	t.Parallel()
	work, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	repository := filepath.Join(work, "mirror")
	out, err := mirror(t, repository, "v1.2.3")
	require.NoError(t, err, out)
	clone := filepath.Join(work, "packages/pack/test/start/xcsh.nvim")
	git(t, work, "clone", "-q", "--branch", "v1.2.3", repository, clone)
	init := filepath.Join(work, "check.lua")
	require.NoError(t, os.WriteFile(init, []byte(check), 0o600))

	// The home is empty, so that nothing but Neovim's own files and the clone is found.
	got := runNeovim(t, filepath.Join(work, "home"), repository, "-u", "NORC",
		"--cmd", "set packpath="+filepath.Join(work, "packages")+",$VIMRUNTIME", "-c", "luafile "+init)
	require.JSONEq(t, `{"root": "`+clone+`", "broken": 0, "chat": 2, "module": "function", "help": true}`, got)
}

func TestTheSnippetForVimPackInstallsTheNewestVersion(t *testing.T) {
	t.Parallel()
	work, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	home := filepath.Join(work, "home")
	if runNeovim(t, home, work, "-u", "NONE", "-c", `lua io.stdout:write(vim.fn.has('nvim-0.12')) vim.cmd('qall!')`) == "0" {
		t.Skip("Neovim before 0.12 has no vim.pack")
	}
	readme, err := os.ReadFile("../editors/neovim/README.md")
	require.NoError(t, err)
	snippet := regexp.MustCompile(`(?m)^vim\.pack\.add.*$`).FindString(string(readme))
	require.NotEmpty(t, snippet)
	repository := filepath.Join(work, "mirror")
	for _, version := range []string{"v1.2.3", "v1.10.0"} {
		out, err := mirror(t, repository, version)
		require.NoError(t, err, out)
	}
	// A later commit without a version is not installed.
	git(t, repository, "-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-q", "--allow-empty", "-m", "later")

	// The question of vim.pack needs a user.
	config := "vim.fn.confirm = function() return 1 end\n" + snippet + "\n"
	require.NoError(t, os.MkdirAll(filepath.Join(home, "config/nvim"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, "config/nvim/init.lua"), []byte(config), 0o600))
	init := filepath.Join(work, "check.lua")
	require.NoError(t, os.WriteFile(init, []byte(check), 0o600))
	got := runNeovim(t, home, repository, "-c", "luafile "+init)
	installed := filepath.Join(home, "data/nvim/site/pack/core/opt/xcsh.nvim")
	require.JSONEq(t, `{"root": "`+installed+`", "broken": 0, "chat": 2, "module": "function", "help": true}`, got)
	require.Equal(t, git(t, repository, "rev-parse", "v1.10.0^{commit}"), git(t, installed, "rev-parse", "HEAD"))
}
