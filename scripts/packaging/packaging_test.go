package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const root = "../.."

func TestTheFilesAreCurrentAndNameArchivesOfARelease(t *testing.T) {
	t.Parallel()
	require.NoError(t, run(root, true, "", "", ""))
}

// copyOf returns a copy of the files that the program reads, one of them with a replacement.
func copyOf(t *testing.T, file, old, replacement string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"CHANGELOG.md", ".goreleaser.yaml", "LICENSE", "docs/editors.md", "editors/neovim/lsp/xcsh.lua"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	require.NoError(t, os.CopyFS(filepath.Join(dir, directory), os.DirFS(filepath.Join(root, directory))))
	text, err := os.ReadFile(filepath.Join(dir, file))
	require.NoError(t, err)
	require.Contains(t, string(text), old)
	require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(strings.Replace(string(text), old, replacement, 1)), 0o600))
	return dir
}

func TestAChangedNameOfArchivesMakesEveryManifestStale(t *testing.T) {
	t.Parallel()
	dir := copyOf(t, ".goreleaser.yaml", `"xcsh-ls_{{ .Version }}_{{ .Os }}_{{ .Arch }}"`, `"xcsh-ls_{{ .Version }}-{{ .Os }}_{{ .Arch }}"`)
	err := run(dir, true, "", "", "")
	for _, name := range []string{"mason/package.yaml", "acp/agent.json", "scoop/xcsh-ls.json", "aur/PKGBUILD", "aur/.SRCINFO", "nix/flake.nix", "zed/src/lib.rs"} {
		require.ErrorContains(t, err, directory+"/"+name+" is stale")
		require.ErrorContains(t, err, name+" names xcsh-ls_")
	}
	require.NoError(t, run(dir, false, "", "", ""))
	require.NoError(t, run(dir, true, "", "", ""))
}

func TestAnArchiveThatNoReleaseHasIsReportedAlsoInFilesWrittenByHand(t *testing.T) {
	t.Parallel()
	dir := copyOf(t, "packaging/README.md", "\n", "\nxcsh-ls_0.1.0_plan9_amd64.tar.gz\n")
	require.ErrorContains(t, run(dir, true, "", "", ""), "README.md names xcsh-ls_0.1.0_plan9_amd64.tar.gz, which .goreleaser.yaml does not produce")
}

func TestANewVersionChangesEveryFileWithAVersion(t *testing.T) {
	t.Parallel()
	dir := copyOf(t, "CHANGELOG.md", "## [0.1.0]", "## [0.2.0]\n\n## [0.1.0]")
	err := run(dir, true, "", "", "")
	for _, name := range []string{"mason/package.yaml", "zed/extension.toml", "zed/Cargo.toml", "emacs/xcsh-ls.el", "acp/agent.json", "scoop/xcsh-ls.json", "aur/PKGBUILD", "aur/.SRCINFO", "nix/flake.nix"} {
		require.ErrorContains(t, err, directory+"/"+name+" is stale")
	}
	require.NoError(t, run(dir, false, "", "", ""))
	require.NoError(t, run(dir, true, "v0.2.0", "", ""))
	require.NoError(t, filepath.WalkDir(filepath.Join(dir, directory), func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(name) != ".md" {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			assert.NotContains(t, string(text), "0.1.0", name)
		}
		return err
	}))
}

func TestAReleaseNeedsASectionInTheChangelog(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, run(root, true, "v9.9.9", "", ""), "the tag is v9.9.9, but the newest version in CHANGELOG.md is")
}

// checksums returns a checksums.txt as goreleaser writes it, with other files, and the hashes of the archives.
func checksums(t *testing.T, r *release) (text string, hashes map[string][32]byte) {
	t.Helper()
	hashes = map[string][32]byte{}
	var b strings.Builder
	names := []string{"xcsh-ls_1_linux_amd64.cdx.json"}
	for _, a := range r.archives {
		names = append(names, a.name)
	}
	for _, name := range names {
		hashes[name] = sha256.Sum256([]byte(name))
		fmt.Fprintf(&b, "%x  %s\n", hashes[name], name)
	}
	return b.String(), hashes
}

func TestAReleaseFillsInTheHashesOfItsArchives(t *testing.T) {
	t.Parallel()
	r, err := readRelease(root)
	require.NoError(t, err)
	text, hashes := checksums(t, r)
	dir := t.TempDir()
	file, out := filepath.Join(dir, "checksums.txt"), filepath.Join(dir, "out")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	require.NoError(t, run(root, false, "", file, out))

	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		return string(text)
	}
	var scoop struct {
		Architecture map[string]struct{ URL, Hash string }
	}
	require.NoError(t, json.Unmarshal([]byte(read("scoop/xcsh-ls.json")), &scoop))
	require.Len(t, scoop.Architecture, 2)
	for _, a := range scoop.Architecture {
		hash := hashes[a.URL[strings.LastIndex(a.URL, "/")+1:]]
		require.Equal(t, hex.EncodeToString(hash[:]), a.Hash)
	}
	pkgbuild, srcinfo, flake := read("aur/PKGBUILD"), read("aur/.SRCINFO"), read("nix/flake.nix")
	for _, arch := range []string{"amd64", "arm64"} {
		hash := hashes["xcsh-ls_"+r.Version+"_linux_"+arch+".tar.gz"]
		gnu := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
		require.Contains(t, pkgbuild, "sha256sums_"+gnu+"=('"+hex.EncodeToString(hash[:])+"')")
		require.Contains(t, srcinfo, "sha256sums_"+gnu+" = "+hex.EncodeToString(hash[:]))
		for _, system := range []string{"linux", "darwin"} {
			hash := hashes["xcsh-ls_"+r.Version+"_"+system+"_"+arch+".tar.gz"]
			require.Contains(t, flake, `_${version}`+"_"+system+"_"+arch+".tar.gz\";\n          hash = \"sha256-"+base64.StdEncoding.EncodeToString(hash[:])+`"`)
		}
	}
	require.NoError(t, filepath.WalkDir(out, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			assert.NotContains(t, string(text), strings.Repeat("0", 64), name)
			assert.NotContains(t, string(text), strings.Repeat("A", 43), name)
		}
		return err
	}))
	require.NoError(t, run(root, true, "", "", ""), "the files of the repository keep their placeholders")
}

func TestAReleaseWithoutAHashOfAnArchiveHasNoManifests(t *testing.T) {
	t.Parallel()
	r, err := readRelease(root)
	require.NoError(t, err)
	good, _ := checksums(t, r)
	for name, test := range map[string]struct{ text, want string }{
		"a missing archive": {strings.Replace(good, r.archives[0].name, "another.tar.gz", 1), "has no checksum of " + r.archives[0].name},
		"a short hash":      {strings.Replace(good, good[:64], good[:62], 1), "not a SHA-256 checksum"},
		"no hash":           {"<html>\n" + good, "not a SHA-256 checksum"},
		"nothing":           {"", "has no checksum of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file, out := filepath.Join(dir, "checksums.txt"), filepath.Join(dir, "out")
			require.NoError(t, os.WriteFile(file, []byte(test.text), 0o600))
			require.ErrorContains(t, run(root, false, "", file, out), test.want)
			require.NoDirExists(t, out)
		})
	}
}

func TestAConfigurationThatLeavesNamesOpenIsRefused(t *testing.T) {
	t.Parallel()
	for old, replacement := range map[string]string{
		"    formats: [tar.gz]\n    format_overrides":    "    formats: [tar.gz, tar.xz]\n    format_overrides",
		"  algorithm: sha256":                            "  algorithm: sha512",
		"{{ .Os }}_{{ .Arch }}\"\n    formats: [tar.gz]": "{{ .Os }}_{{ .Target }}\"\n    formats: [tar.gz]",
		"goarch: [amd64, arm64]":                         "goarch: [amd64]",
	} {
		require.Error(t, run(copyOf(t, ".goreleaser.yaml", old, replacement), false, "", "", ""), replacement)
	}
}

// file returns a file of packaging/.
func file(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, directory, name))
	require.NoError(t, err)
	return text
}

func TestTheEntryForMasonHasTheFieldsOfItsSchema(t *testing.T) {
	t.Parallel()
	r, err := readRelease(root)
	require.NoError(t, err)
	var entry struct {
		Name, Description, Homepage     string
		Licenses, Languages, Categories []string
		Source                          struct {
			ID    string
			Asset []struct{ Target, File, Bin string }
		}
		Bin    map[string]string
		Neovim struct{ Lspconfig string }
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(file(t, "mason/package.yaml"))))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&entry))
	require.Equal(t, "pkg:github/xcsh-ls/xcsh-ls@v"+r.Version, entry.Source.ID)
	require.Equal(t, []string{"LSP"}, entry.Categories)
	require.NotEmpty(t, entry.Description)
	require.Len(t, entry.Source.Asset, len(r.archives))
	targets := map[string]bool{}
	for _, a := range entry.Source.Asset {
		targets[a.Target] = true
		require.Equal(t, strings.HasPrefix(a.Target, "win_"), strings.HasSuffix(a.Bin, ".exe"))
		require.Equal(t, strings.HasPrefix(a.Target, "win_"), strings.HasSuffix(a.File, "_amd64.zip") || strings.HasSuffix(a.File, "_arm64.zip"))
	}
	require.Len(t, targets, len(r.archives))
	require.FileExists(t, filepath.Join(root, directory, "nvim-lspconfig/lsp", entry.Neovim.Lspconfig+".lua"))
}

func TestTheEntryForTheRegistryOfAgentsFollowsItsSchema(t *testing.T) {
	t.Parallel()
	var entry struct {
		ID, Name, Version, Description, Repository, License string
		Authors                                             []string
		Distribution                                        struct {
			Binary map[string]struct {
				Archive, Cmd string
				Args         []string
			}
		}
	}
	decoder := json.NewDecoder(strings.NewReader(string(file(t, "acp/agent.json"))))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&entry))
	require.Regexp(t, `^[a-z][a-z0-9-]*$`, entry.ID)
	require.Regexp(t, `^\d+\.\d+\.\d+$`, entry.Version)
	require.NotEmpty(t, entry.Description)
	require.Len(t, entry.Distribution.Binary, 6)
	for platform, target := range entry.Distribution.Binary {
		require.Regexp(t, `^(darwin|linux|windows)-(aarch64|x86_64)$`, platform)
		require.Contains(t, target.Archive, "/v"+entry.Version+"/")
		require.NotContains(t, target.Archive, "latest")
		require.Equal(t, []string{"acp"}, target.Args)
		require.Equal(t, strings.HasPrefix(platform, "windows"), strings.HasSuffix(target.Cmd, ".exe"))
	}
}

func TestTheIconForTheRegistryOfAgentsIsSmallAndHasNoColors(t *testing.T) {
	t.Parallel()
	decoder := xml.NewDecoder(strings.NewReader(string(file(t, "acp/icon.svg"))))
	fills := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		element, _ := token.(xml.StartElement)
		for _, a := range element.Attr {
			switch a.Name.Local {
			case "width", "height":
				require.Equal(t, "16", a.Value)
			case "fill", "stroke":
				fills++
				require.Equal(t, "currentColor", a.Value)
			}
		}
	}
	require.NotZero(t, fills)
}

func TestScoopFindsTheNextVersionWhereItFindsThisOne(t *testing.T) {
	t.Parallel()
	type urls map[string]struct{ URL string }
	var manifest struct {
		Version, Bin string
		Architecture urls
		Autoupdate   struct{ Architecture urls }
	}
	require.NoError(t, json.Unmarshal(file(t, "scoop/xcsh-ls.json"), &manifest))
	require.Len(t, manifest.Architecture, 2)
	for name, next := range manifest.Autoupdate.Architecture {
		require.Equal(t, manifest.Architecture[name].URL, strings.ReplaceAll(next.URL, "$version", manifest.Version))
	}
	require.Equal(t, "xcsh-ls.exe", manifest.Bin)
}

// Zed documents these members of a manifest and requires those that are checked; it has no schema.
func TestTheManifestForZedHasTheDocumentedMembers(t *testing.T) {
	t.Parallel()
	var manifest struct {
		ID, Name, Version, Description, Repository string
		Authors                                    []string
		SchemaVersion                              int `toml:"schema_version"`
		LanguageServers                            map[string]struct {
			Name      string
			Languages []string
		} `toml:"language_servers"`
	}
	meta, err := toml.Decode(string(file(t, "zed/extension.toml")), &manifest)
	require.NoError(t, err)
	require.Empty(t, meta.Undecoded(), "misspelled members are ignored by Zed")
	require.Equal(t, 1, manifest.SchemaVersion)
	require.Regexp(t, `^[a-z0-9-]+$`, manifest.ID)
	require.NotContains(t, manifest.ID+manifest.Name, "zed", "the registry refuses it")
	require.NotContains(t, manifest.ID, "extension", "the registry refuses it")
	require.Regexp(t, `^\d+\.\d+\.\d+$`, manifest.Version)
	require.NotEmpty(t, manifest.Description)
	require.Regexp(t, `^https://github\.com/[\w-]+/[\w-]+$`, manifest.Repository)
	require.NotEmpty(t, manifest.Authors)
	for _, author := range manifest.Authors {
		require.Regexp(t, `^[^<>]+ <[^@<> ]+@[^@<> ]+>$`, author)
	}
	require.Len(t, manifest.LanguageServers, 1)
	server := manifest.LanguageServers["xcsh-ls"]
	require.NotEmpty(t, server.Name)
	require.NotEmpty(t, server.Languages)
	require.Contains(t, string(file(t, "zed/LICENSE")), "MIT License", "the registry requires a licence beside the manifest")
	var crate struct {
		Package struct{ Version string }
	}
	_, err = toml.Decode(string(file(t, "zed/Cargo.toml")), &crate)
	require.NoError(t, err)
	require.Equal(t, manifest.Version, crate.Package.Version)
}

func TestTheConfigurationForHelixIsValid(t *testing.T) {
	t.Parallel()
	var languages struct {
		LanguageServer map[string]struct{ Command string } `toml:"language-server"`
	}
	_, err := toml.Decode(string(file(t, "helix/languages.toml")), &languages)
	require.NoError(t, err)
	require.Equal(t, "xcsh-ls", languages.LanguageServer["xcsh"].Command)
}
