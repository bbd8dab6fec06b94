//go:build artefacts

package artefacts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// release is everything that "make vsix release-snapshot" leaves in dist, and what the repository says it must contain.
type release struct {
	version string
	at      time.Time         // of the commit
	source  map[string]string // texts of the repository, by their names
	pages   []string          // the manual pages that the program's commands need

	files  map[string]contents // of archives, packages and extensions, by their names
	texts  map[string]string   // of the other files
	sizes  map[string]int64
	sums   map[string]string
	fields map[string]string // of packages: version, architecture and licence
}

// target is a platform of a release.
type target struct {
	os, arch string
	vsix     string // its name in VS Code
}

var targets = []target{
	{"linux", "amd64", "linux-x64"},
	{"linux", "arm64", "linux-arm64"},
	{"darwin", "amd64", "darwin-x64"},
	{"darwin", "arm64", "darwin-arm64"},
	{"windows", "amd64", "win32-x64"},
	{"windows", "arm64", "win32-arm64"},
}

func (t target) program() string {
	if t.os == "windows" {
		return "xcsh-ls.exe"
	}
	return "xcsh-ls"
}

func (r *release) archive(t target) string {
	ending := ".tar.gz"
	if t.os == "windows" {
		ending = ".zip"
	}
	return fmt.Sprintf("xcsh-ls_%s_%s_%s%s", r.version, t.os, t.arch, ending)
}

func (r *release) bill(t target) string {
	return fmt.Sprintf("xcsh-ls_%s_%s_%s.cdx.json", r.version, t.os, t.arch)
}

func (r *release) extension(t target) string { return "xcsh-ls-" + t.vsix + ".vsix" }

func (r *release) packageOf(t target, kind string) string {
	return fmt.Sprintf("xcsh-ls_%s_%s_%s.%s", r.version, t.os, t.arch, kind)
}

// published are the names of the files that checksums.txt must list.
func (r *release) published() []string {
	var names []string
	for _, t := range targets {
		names = append(names, r.archive(t), r.bill(t), r.extension(t))
		if t.os == "linux" {
			names = append(names, r.packageOf(t, "deb"), r.packageOf(t, "rpm"))
		}
	}
	slices.Sort(names)
	return names
}

const (
	checksums = "checksums.txt"
	cask      = "xcsh-ls.rb"
)

// load reads the release in dist. It must be one of the current commit.
func load(t *testing.T) *release {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	r := &release{
		version: output(t, root, "scripts/release-version.sh"),
		source:  map[string]string{}, files: map[string]contents{}, texts: map[string]string{},
		sizes: map[string]int64{}, sums: map[string]string{}, fields: map[string]string{},
	}
	r.at, err = time.Parse(time.RFC3339, output(t, root, "git", "show", "--no-patch", "--format=%cI"))
	require.NoError(t, err)
	for _, name := range []string{"LICENSE", "THIRD_PARTY_NOTICES.txt", "README.md", "CHANGELOG.md", "editors/vscode/package.json"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		r.source[name] = string(text)
	}
	in := reader{version: r.version, root: root}
	paths := map[string]string{cask: filepath.Join(root, "dist", "release", "homebrew", "Casks", cask), checksums: filepath.Join(root, "dist", "release", checksums)}
	for _, name := range r.published() {
		paths[name] = filepath.Join(root, "dist", "release", name)
		if strings.HasSuffix(name, ".vsix") {
			paths[name] = filepath.Join(root, "dist", name)
		}
	}
	for name, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err, "run: make vsix release-snapshot")
		sum := sha256.Sum256(data)
		r.sizes[name], r.sums[name] = int64(len(data)), hex.EncodeToString(sum[:])
		switch filepath.Ext(name) {
		case ".json", ".rb", ".txt":
			r.texts[name] = string(data)
			continue
		case ".deb":
			r.fields[name] = output(t, root, "dpkg-deb", "--show", "--showformat=${Version} ${Architecture}", path)
		case ".rpm":
			r.fields[name] = output(t, root, "rpm", "--query", "--package", "--queryformat", "%{VERSION}-%{RELEASE} %{ARCH} %{LICENSE}", path)
		}
		r.files[name], err = in.read(path)
		require.NoError(t, err)
	}
	r.pages = pages(t, filepath.Join(root, "dist", "release", "*_linux_"+output(t, root, "go", "env", "GOARCH")+"*", "xcsh-ls"), r.version)
	return r
}

// pages runs the program for this machine, and returns the names of the manual pages that its commands must have.
func pages(t *testing.T, pattern, version string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.Len(t, found, 1, "the program for this machine")
	require.Equal(t, "xcsh-ls "+version, output(t, ".", found[0], "version"))
	names := []string{"xcsh-ls.1"}
	for line := range strings.Lines(output(t, ".", found[0], "__complete", "")) {
		if name, _, found := strings.Cut(line, "\t"); found && name != "help" {
			names = append(names, "xcsh-ls-"+name+".1")
		}
	}
	require.Greater(t, len(names), 10)
	return names
}

// clone is a copy that a test may change without changing r.
func (r *release) clone() *release {
	c := *r
	c.files, c.texts, c.sizes, c.sums, c.fields = maps.Clone(r.files), maps.Clone(r.texts), maps.Clone(r.sizes), maps.Clone(r.sums), maps.Clone(r.fields)
	for name, files := range c.files {
		c.files[name] = maps.Clone(files)
	}
	return &c
}
