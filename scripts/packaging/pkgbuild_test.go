//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// bash runs a script that has sourced the PKGBUILD, in a directory.
func bash(t *testing.T, dir, script string) string {
	t.Helper()
	pkgbuild, err := filepath.Abs(filepath.Join(root, directory, "aur/PKGBUILD"))
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", `. "$PKGBUILD"; `+script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PKGBUILD="+pkgbuild)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// TestTheSummaryOfThePackageForArchSaysWhatThePackageSays writes .SRCINFO as makepkg --printsrcinfo does.
func TestTheSummaryOfThePackageForArchSaysWhatThePackageSays(t *testing.T) {
	t.Parallel()
	got := bash(t, t.TempDir(), `
		echo "pkgbase = $pkgname"
		list() { local name=$1 v; shift; for v; do printf '\t%s = %s\n' "$name" "$v"; done; }
		list pkgdesc "$pkgdesc"; list pkgver "$pkgver"; list pkgrel "$pkgrel"; list url "$url"
		list arch "${arch[@]}"; list license "${license[@]}"; list optdepends "${optdepends[@]}"
		list provides "${provides[@]}"; list conflicts "${conflicts[@]}"; list options "${options[@]}"
		for a in "${arch[@]}"; do
			declare -n source=source_$a sums=sha256sums_$a
			list "source_$a" "${source[@]}"; list "sha256sums_$a" "${sums[@]}"
		done
		printf '\npkgname = %s\n' "$pkgname"`)
	require.Equal(t, string(file(t, "aur/.SRCINFO")), got)
}

// TestThePackageForArchInstallsTheFilesOfAnArchive uses the files that .goreleaser.yaml puts into archives.
func TestThePackageForArchInstallsTheFilesOfAnArchive(t *testing.T) {
	t.Parallel()
	var c struct {
		Archives []struct{ Files []struct{ Src, Dst string } }
	}
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &c))
	// The files that release-files.sh makes.
	made := map[string][]string{
		"completions": {"xcsh-ls", "_xcsh-ls", "xcsh-ls.fish", "xcsh-ls.ps1"},
		"man":         {"xcsh-ls.1", "xcsh-ls-run.1"},
	}
	names := []string{"xcsh-ls"}
	for _, f := range c.Archives[0].Files {
		if f.Dst == "" {
			names = append(names, f.Src)
		}
		for _, name := range made[f.Dst] {
			names = append(names, f.Dst+"/"+name)
		}
	}
	archive, installed := t.TempDir(), t.TempDir()
	for _, name := range names {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(archive, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(archive, name), []byte(name), 0o600))
	}
	bash(t, archive, `pkgdir=`+installed+` && package`)
	for to, from := range map[string]string{
		"usr/bin/xcsh-ls": "xcsh-ls",
		"usr/share/bash-completion/completions/xcsh-ls":          "completions/xcsh-ls",
		"usr/share/zsh/site-functions/_xcsh-ls":                  "completions/_xcsh-ls",
		"usr/share/fish/vendor_completions.d/xcsh-ls.fish":       "completions/xcsh-ls.fish",
		"usr/share/man/man1/xcsh-ls-run.1":                       "man/xcsh-ls-run.1",
		"usr/share/licenses/xcsh-ls-bin/LICENSE":                 "LICENSE",
		"usr/share/doc/xcsh-ls-bin/CHANGELOG.md":                 "CHANGELOG.md",
		"usr/share/licenses/xcsh-ls-bin/THIRD_PARTY_NOTICES.txt": "THIRD_PARTY_NOTICES.txt",
	} {
		text, err := os.ReadFile(filepath.Join(installed, to))
		require.NoError(t, err)
		require.Equal(t, from, string(text))
	}
	info, err := os.Stat(filepath.Join(installed, "usr/bin/xcsh-ls"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode().Perm())
}
