package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// release is what a release consists of. Its exported fields and methods are for templates.
type release struct {
	root string
	// Version is the newest in CHANGELOG.md, without "v".
	Version string
	// Repository is the owner and the name of the repository, and Homepage its address.
	Repository, Homepage string
	// Description and License are those of the Homebrew cask.
	Description, License string
	// Checksums is the name of the file with the hashes of the archives.
	Checksums string

	name     *template.Template // of an archive, without its ending
	archives []archive
	hashes   map[string][]byte // by name of an archive; nil for placeholders
}

// archive is a file of a release with the program for one platform.
type archive struct {
	os, arch     string
	name, format string
}

// config is the part of .goreleaser.yaml that decides about names.
type config struct {
	ProjectName string `yaml:"project_name"`
	Builds      []struct {
		Binary string
		Goos   []string
		Goarch []string
		Ignore []any
	}
	Archives []struct {
		NameTemplate    string `yaml:"name_template"`
		Formats         []string
		FormatOverrides []struct {
			Goos    string
			Formats []string
		} `yaml:"format_overrides"`
	}
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
		Algorithm    string
	}
	HomebrewCasks []struct {
		Homepage, Description, License string
	} `yaml:"homebrew_casks"`
	Release struct {
		Github struct{ Owner, Name string }
	}
}

// heading matches the newest version in CHANGELOG.md. Manifests are made for releases only: some formats allow no pre-release.
var heading = regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\]`)

func readRelease(root string) (*release, error) {
	changes, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	version := heading.FindSubmatch(changes)
	if version == nil {
		return nil, errors.New("CHANGELOG.md has no version")
	}
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		return nil, err
	}
	var c config
	if err := yaml.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf(".goreleaser.yaml: %w", err)
	}
	r, err := c.release(string(version[1]))
	if err != nil {
		return nil, fmt.Errorf(".goreleaser.yaml: %w", err)
	}
	r.root = root
	return r, nil
}

// release returns the names that goreleaser will use. It fails for a configuration that it would have to guess about.
func (c *config) release(version string) (*release, error) {
	if len(c.Builds) != 1 || len(c.Archives) != 1 || len(c.HomebrewCasks) != 1 || len(c.Archives[0].Formats) != 1 || len(c.Builds[0].Ignore) > 0 {
		return nil, errors.New("not one build without ignored platforms, one archive with one format, and one cask")
	}
	if c.Checksum.Algorithm != "sha256" {
		return nil, fmt.Errorf("the manifests need SHA-256 checksums, not %q", c.Checksum.Algorithm)
	}
	name, err := template.New("name_template").Option("missingkey=error").Parse(c.Archives[0].NameTemplate)
	if err != nil {
		return nil, err
	}
	repository, cask := c.Release.Github, c.HomebrewCasks[0]
	r := &release{
		Version:     version,
		Repository:  repository.Owner + "/" + repository.Name,
		Homepage:    "https://github.com/" + repository.Owner + "/" + repository.Name,
		Description: cask.Description,
		License:     cask.License,
		Checksums:   c.Checksum.NameTemplate,
		name:        name,
	}
	for _, system := range c.Builds[0].Goos {
		for _, arch := range c.Builds[0].Goarch {
			a := archive{os: system, arch: arch, format: c.Archives[0].Formats[0]}
			for _, o := range c.Archives[0].FormatOverrides {
				if o.Goos == system && len(o.Formats) == 1 {
					a.format = o.Formats[0]
				}
			}
			if a.name, err = r.nameOf(a, version); err != nil {
				return nil, err
			}
			r.archives = append(r.archives, a)
		}
	}
	return r, nil
}

// nameOf returns the name of an archive with this version or a variable in its place.
func (r *release) nameOf(a archive, version string) (string, error) {
	var b bytes.Buffer
	err := r.name.Execute(&b, map[string]string{"Version": version, "Os": a.os, "Arch": a.arch})
	return b.String() + "." + a.format, err
}

// readHashes reads a checksums.txt, which must have a hash of every archive.
func (r *release) readHashes(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	r.hashes = map[string][]byte{}
	for line := range strings.Lines(string(text)) {
		hash, name, found := strings.Cut(strings.TrimSpace(line), "  ")
		decoded, err := hex.DecodeString(hash)
		if !found || err != nil || len(decoded) != 32 {
			return fmt.Errorf("%s: not a SHA-256 checksum and a name: %q", file, line)
		}
		r.hashes[name] = decoded
	}
	for _, a := range r.archives {
		if r.hashes[a.name] == nil {
			return fmt.Errorf("%s has no checksum of %s", file, a.name)
		}
	}
	return nil
}

// Platform is an archive under the name that a registry uses for its platform.
type Platform struct {
	r *release
	a archive
	// Key is the registry's name of the platform.
	Key string
	// OS is the operating system in Go's names, and Format the ending of the archive.
	OS, Format string
}

// Platforms returns archives by triples of a registry's name of a platform, and the operating system and architecture in Go's names.
func (r *release) Platforms(triples ...string) ([]Platform, error) {
	var all []Platform
	for ; len(triples) >= 3; triples = triples[3:] {
		found := false
		for _, a := range r.archives {
			if a.os == triples[1] && a.arch == triples[2] {
				found = true
				all = append(all, Platform{r: r, a: a, Key: triples[0], OS: a.os, Format: a.format})
			}
		}
		if !found {
			return nil, fmt.Errorf("no release has a program for %s/%s (%s)", triples[1], triples[2], triples[0])
		}
	}
	if len(triples) > 0 {
		return nil, fmt.Errorf("%q has no system and architecture", triples)
	}
	return all, nil
}

// Program returns the name of the program in the archive.
func (p Platform) Program() string {
	if p.OS == "windows" {
		return "xcsh-ls.exe"
	}
	return "xcsh-ls"
}

// Pattern returns the name of the archive with a registry's variable for the version.
func (p Platform) Pattern(variable string) (string, error) {
	return p.r.nameOf(p.a, variable)
}

// URLPattern returns the address of the archive with a registry's variable for the version.
func (p Platform) URLPattern(variable string) (string, error) {
	name, err := p.r.nameOf(p.a, variable)
	return p.r.Homepage + "/releases/download/v" + variable + "/" + name, err
}

// URL returns the address of the archive.
func (p Platform) URL() (string, error) {
	return p.URLPattern(p.r.Version)
}

// hash returns the hash of the archive, or zeros before a release.
func (p Platform) hash() []byte {
	if p.r.hashes == nil {
		return make([]byte, 32)
	}
	return p.r.hashes[p.a.name]
}

// SHA256 returns the hash of the archive in hexadecimal.
func (p Platform) SHA256() string {
	return hex.EncodeToString(p.hash())
}

// SRI returns the hash of the archive as Nix writes it.
func (p Platform) SRI() string {
	return "sha256-" + base64.StdEncoding.EncodeToString(p.hash())
}

// Include returns a file of the repository.
func (r *release) Include(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(name)))
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}

// After returns a file of the repository without the part before a separator.
func (r *release) After(name, separator string) (string, error) {
	text, err := r.Include(name)
	_, rest, found := strings.Cut(text, separator)
	if err == nil && !found {
		err = fmt.Errorf("%s has no %q", name, separator)
	}
	return rest, err
}

// Snippet returns the first fenced code of a language in a document.
func (r *release) Snippet(document, language string) (string, error) {
	text, err := r.Include(document)
	_, rest, found := strings.Cut(text, "\n```"+language+"\n")
	code, _, closed := strings.Cut(rest, "```\n")
	if err == nil && (!found || !closed) {
		err = fmt.Errorf("%s has no code in %s", document, language)
	}
	return code, err
}
