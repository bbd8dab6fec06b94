//go:build artefacts

package artefacts

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Limits of sizes, in bytes. An artefact that is much larger than before contains something by mistake.
const (
	programLimit = 60 << 20
	archiveLimit = 22 << 20
	billLimit    = 300 << 10
)

// problems lists everything that is wrong with a release.
func (r *release) problems() []string {
	c := checker{release: r}
	c.sums()
	for _, t := range targets {
		c.archive(t)
		c.extension(t)
		c.bill(t)
		if t.os == "linux" {
			c.debian(t)
			c.rpm(t)
		}
	}
	c.cask()
	return c.found
}

type checker struct {
	*release
	name  string // of the artefact that is checked
	found []string
}

func (c *checker) add(format string, args ...any) {
	c.found = append(c.found, c.name+": "+fmt.Sprintf(format, args...))
}

// sums checks that checksums.txt has the checksums of all files and of no others.
func (c *checker) sums() {
	c.name = checksums
	listed := map[string]string{}
	for line := range strings.Lines(c.texts[checksums]) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = sum
	}
	for _, name := range c.published() {
		if listed[name] != c.release.sums[name] {
			c.add("%q is not the checksum of %s", listed[name], name)
		}
		delete(listed, name)
	}
	for name := range listed {
		c.add("%s is no file of a release", name)
	}
}

// want checks that a file has a text and a mode.
func (c *checker) want(name, text string) {
	c.plain(name)
	if f, ok := c.files[c.name][name]; ok && f.text != text {
		c.add("%s has another text", name)
	}
}

// plain checks that there is a file that everyone can read, and that is not executable.
func (c *checker) plain(name string) string {
	f, ok := c.files[c.name][name]
	if !ok {
		c.add("%s is missing", name)
		return ""
	}
	if f.text == "" {
		c.add("%s is empty", name)
	}
	c.mode(name, f, 0o644)
	return f.text
}

func (c *checker) mode(name string, f entry, mode uint32) {
	written := strings.HasSuffix(c.name, ".vsix") && mode == 0o644 && f.mode == 0o664 // by the packager itself
	if uint32(f.mode) != mode && !written {
		c.add("%s has the mode %o", name, f.mode)
	}
	if strings.HasSuffix(c.name, ".vsix") {
		return // the packager of VS Code has times of its own, and zip files have no owners
	}
	if !strings.HasSuffix(c.name, ".zip") && f.owner != "root:root" {
		c.add("%s belongs to %s", name, f.owner)
	}
	if !f.at.Equal(c.at) {
		c.add("%s is of %s, not of the commit's time", name, f.at.UTC().Format(time.RFC3339))
	}
}

// program checks the server in an artefact.
func (c *checker) program(name string, t target) {
	f, ok := c.files[c.name][name]
	if !ok {
		c.add("%s is missing", name)
		return
	}
	c.mode(name, f, 0o755)
	switch p := f.prog; {
	case p == nil:
		c.add("%s is no Go program", name)
	case p.os != t.os || p.arch != t.arch:
		c.add("%s is for %s/%s", name, p.os, p.arch)
	case !p.static:
		c.add("%s was built with cgo", name)
	case !p.versioned:
		c.add("%s does not have the version", name)
	case p.local:
		c.add("%s contains a path of the machine that built it", name)
	}
	if f.size > programLimit {
		c.add("%s has %d bytes", name, f.size)
	}
	if f.sum != c.files[c.release.archive(t)][t.program()].sum {
		c.add("%s is another program than that of %s", name, c.release.archive(t))
	}
}

// completions checks that the scripts of three shells are at these places, and define the completion of the program.
func (c *checker) completions(bash, zsh, fish string) {
	for name, start := range map[string]string{bash: "# bash completion", zsh: "#compdef xcsh-ls", fish: "# fish completion"} {
		if text := c.plain(name); !strings.HasPrefix(text, start) || !strings.Contains(text, "xcsh-ls") {
			c.add("%s is no completion", name)
		}
	}
}

// manual checks the manual pages in a directory, whose names have an ending.
func (c *checker) manual(dir, ending string) {
	for _, page := range c.pages {
		name := dir + page + ending
		text := c.plain(name)
		if ending == ".gz" {
			text, _ = unpacked(text)
		}
		if !strings.Contains(text, ".TH \""+strings.ToUpper(strings.TrimSuffix(page, ".1"))+"\" \"1\" \""+c.at.UTC().Format("Jan 2006")+"\"") {
			c.add("%s is not the page of this release", name)
		}
	}
}

// only checks that there are no files other than manual pages and these.
func (c *checker) only(manual string, names ...string) {
	for name := range c.files[c.name] {
		if !slices.Contains(names, name) && !strings.HasPrefix(name, manual) {
			c.add("%s does not belong in it", name)
		}
	}
}

func (c *checker) size(limit int64) {
	if size := c.sizes[c.name]; size > limit || size < limit/10 {
		c.add("it has %d bytes", size)
	}
}

func (c *checker) archive(t target) {
	c.name = c.release.archive(t)
	c.size(archiveLimit)
	texts := []string{"LICENSE", "THIRD_PARTY_NOTICES.txt", "README.md", "CHANGELOG.md"}
	for _, name := range texts {
		c.want(name, c.source[name])
	}
	c.program(t.program(), t)
	c.completions("completions/xcsh-ls", "completions/_xcsh-ls", "completions/xcsh-ls.fish")
	if !strings.HasPrefix(c.plain("completions/xcsh-ls.ps1"), "# powershell completion") {
		c.add("completions/xcsh-ls.ps1 is no completion")
	}
	c.manual("man/", "")
	c.only("man/xcsh-ls", append(texts, t.program(), "completions/xcsh-ls", "completions/_xcsh-ls", "completions/xcsh-ls.fish", "completions/xcsh-ls.ps1")...)
}

// installed checks the files that are in both kinds of packages, and that there are no others.
func (c *checker) installed(t target, zsh, licence string, others ...string) {
	c.size(archiveLimit)
	const doc = "/usr/share/doc/xcsh-ls/"
	c.program("/usr/bin/xcsh-ls", t)
	c.want(doc+"THIRD_PARTY_NOTICES.txt", c.source["THIRD_PARTY_NOTICES.txt"])
	c.want(doc+"README.md", c.source["README.md"])
	const bash, fish = "/usr/share/bash-completion/completions/xcsh-ls", "/usr/share/fish/vendor_completions.d/xcsh-ls.fish"
	c.completions(bash, zsh, fish)
	const manual = "/usr/share/man/man1/"
	c.manual(manual, ".gz")
	c.only(manual+"xcsh-ls", append(others, "/usr/bin/xcsh-ls", doc+"THIRD_PARTY_NOTICES.txt", doc+"README.md", bash, zsh, fish, licence)...)
}

func (c *checker) debian(t target) {
	c.name = c.packageOf(t, "deb")
	const copyright, changelog = "/usr/share/doc/xcsh-ls/copyright", "/usr/share/doc/xcsh-ls/changelog.Debian.gz"
	c.installed(t, "/usr/share/zsh/vendor-completions/_xcsh-ls", copyright, changelog, "/usr/share/lintian/overrides/xcsh-ls")
	text := regexp.MustCompile(`(?m)^ \.?`).ReplaceAllString(c.plain(copyright), "")
	_, terms, _ := strings.Cut(c.source["LICENSE"], "\n\nPermission")
	if terms == "" || !strings.Contains(text, strings.TrimSpace(terms)) {
		c.add("%s does not have the licence", copyright)
	}
	if changes, _ := unpacked(c.plain(changelog)); !strings.HasPrefix(changes, "xcsh-ls (") || !strings.Contains(changes, c.at.UTC().Format("02 Jan 2006 15:04:05")) {
		c.add("%s is not the changelog of this release", changelog)
	}
	if fields := strings.Replace(c.version, "-", "~", 1) + "-1 " + t.arch; c.fields[c.name] != fields {
		c.add("its version and architecture are %s, not %s", c.fields[c.name], fields)
	}
}

func (c *checker) rpm(t target) {
	c.name = c.packageOf(t, "rpm")
	const licence = "/usr/share/licenses/xcsh-ls/LICENSE"
	c.installed(t, "/usr/share/zsh/site-functions/_xcsh-ls", licence)
	c.want(licence, c.source["LICENSE"])
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[t.arch]
	if fields := strings.Replace(c.version, "-", "~", 1) + "-1 " + arch + " MIT"; c.fields[c.name] != fields {
		c.add("its version, architecture and licence are %s, not %s", c.fields[c.name], fields)
	}
}

func (c *checker) extension(t target) {
	c.name = c.release.extension(t)
	c.size(archiveLimit)
	c.want("extension/THIRD_PARTY_NOTICES.txt", c.source["THIRD_PARTY_NOTICES.txt"])
	c.want("extension/LICENSE.txt", c.source["LICENSE"])
	for _, name := range []string{"extension/media/licenses.txt", "extension/dist/extension.js", "extension/readme.md", "extension/changelog.md"} {
		c.plain(name)
	}
	c.program("extension/bin/"+t.program(), t)
	var source, packed struct{ Version string }
	if err := json.Unmarshal([]byte(c.source["editors/vscode/package.json"]), &source); err != nil {
		c.add("package.json: %v", err)
	}
	if err := json.Unmarshal([]byte(c.plain("extension/package.json")), &packed); err != nil || packed.Version != source.Version {
		c.add("its version is %q, not %q: %v", packed.Version, source.Version, err)
	}
	if !strings.Contains(c.version, "-") && packed.Version != c.version {
		c.add("its version is %q, that of the release %q", packed.Version, c.version)
	}
	if !strings.Contains(c.plain("extension.vsixmanifest"), `TargetPlatform="`+t.vsix+`"`) {
		c.add("it is for another platform")
	}
}

var serial = regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

type component struct {
	Name, Version string
	Licenses      []struct {
		Expression string
		License    struct{ ID string }
	}
}

func (c component) licensed() bool {
	return len(c.Licenses) == 1 && c.Licenses[0].Expression+c.Licenses[0].License.ID != ""
}

func (c *checker) bill(t target) {
	c.name = c.release.bill(t)
	c.size(billLimit)
	var b struct {
		BomFormat, SpecVersion, SerialNumber string
		Metadata                             struct {
			Timestamp  time.Time
			Component  component
			Properties []struct{ Name, Value string }
		}
		Components []component
	}
	if err := json.Unmarshal([]byte(c.texts[c.name]), &b); err != nil {
		c.add("%v", err)
		return
	}
	if b.BomFormat != "CycloneDX" || b.SpecVersion != "1.5" {
		c.add("it is in %s %s", b.BomFormat, b.SpecVersion)
	}
	if !serial.MatchString(b.SerialNumber) {
		c.add("%q is no serial number", b.SerialNumber)
	}
	if !b.Metadata.Timestamp.Equal(c.at) {
		c.add("its time is %s", b.Metadata.Timestamp)
	}
	if b.Metadata.Component.Version != c.version {
		c.add("it is of version %q", b.Metadata.Component.Version)
	}
	program := c.files[c.release.archive(t)][t.program()]
	sums := map[string]string{}
	for _, p := range b.Metadata.Properties {
		sums[p.Name] = p.Value
	}
	if sums["cdx:gomod:binary:hash:SHA-256"] != program.sum {
		c.add("it is of another program")
	}
	c.components(program, append(b.Components, b.Metadata.Component))
}

// components checks that a bill of material has the modules of a program and the licence of each.
func (c *checker) components(program entry, listed []component) {
	versions := map[string]string{}
	for _, part := range listed {
		versions[part.Name] = part.Version
		if !part.licensed() {
			c.add("%s has no licence", part.Name)
		}
	}
	want := map[string]string{"std": versions["std"], "github.com/xcsh-ls/xcsh-ls": c.version}
	if program.prog != nil {
		maps.Copy(want, program.prog.modules)
	}
	if versions["std"] == "" || !maps.Equal(want, versions) {
		c.add("it does not list the modules of the program")
	}
}

// cask checks the file for Homebrew.
func (c *checker) cask() {
	c.name = cask
	text := c.texts[cask]
	if !strings.Contains(text, `version "`+c.version+`"`) {
		c.add("it does not have the version")
	}
	for _, t := range targets {
		if t.os != "windows" && !strings.Contains(text, `sha256 "`+c.release.sums[c.release.archive(t)]+`"`) {
			c.add("it does not have the checksum of %s", c.release.archive(t))
		}
	}
	for _, part := range []string{"man/xcsh-ls.1", "completions/xcsh-ls", "completions/_xcsh-ls", "completions/xcsh-ls.fish"} {
		if !strings.Contains(text, `"`+part+`"`) {
			c.add("it does not install %s", part)
		}
	}
}
