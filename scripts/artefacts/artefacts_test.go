//go:build artefacts

// Package artefacts tests the files of a release that "make vsix release-snapshot" has built. It needs dpkg and rpm.
package artefacts

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	out, err := command.Output()
	require.NoError(t, err, "%s", command)
	return strings.TrimSpace(string(out))
}

// TestRelease checks the release, and then that the same checks notice damaged copies.
func TestRelease(t *testing.T) {
	r := load(t)
	require.Empty(t, r.problems())
	linux, windows := targets[0], targets[4]
	archive, zip, vsix, bill := r.archive(linux), r.archive(windows), r.extension(windows), r.bill(linux)
	deb, rpm := r.packageOf(linux, "deb"), r.packageOf(linux, "rpm")
	remove := func(name, file string) func(*release) {
		return func(r *release) {
			if _, ok := r.files[name][file]; !ok {
				panic(file + " is not in " + name)
			}
			delete(r.files[name], file)
		}
	}
	edit := func(name, file string, change func(*entry)) func(*release) {
		return func(r *release) {
			f, ok := r.files[name][file]
			if !ok {
				panic(file + " is not in " + name)
			}
			if f.prog != nil {
				p := *f.prog
				f.prog = &p
			}
			change(&f)
			r.files[name][file] = f
		}
	}
	replace := func(name, old, text string) func(*release) {
		return func(r *release) {
			if !strings.Contains(r.texts[name], old) {
				panic(old + " is not in " + name)
			}
			r.texts[name] = strings.Replace(r.texts[name], old, text, 1)
		}
	}
	for name, damage := range map[string]struct {
		do      func(*release)
		problem string
	}{
		"an archive without notices":        {remove(archive, "THIRD_PARTY_NOTICES.txt"), archive + ": THIRD_PARTY_NOTICES.txt is missing"},
		"old notices":                       {edit(zip, "THIRD_PARTY_NOTICES.txt", func(f *entry) { f.text += "\n" }), "THIRD_PARTY_NOTICES.txt has another text"},
		"an archive without a licence":      {remove(zip, "LICENSE"), zip + ": LICENSE is missing"},
		"an archive without a page":         {remove(archive, "man/xcsh-ls-run.1"), archive + ": man/xcsh-ls-run.1 is missing"},
		"a page of another day":             {edit(archive, "man/xcsh-ls.1", func(f *entry) { f.text = strings.ReplaceAll(f.text, " 20", " 19") }), "man/xcsh-ls.1 is not the page"},
		"no completion for PowerShell":      {remove(zip, "completions/xcsh-ls.ps1"), "completions/xcsh-ls.ps1 is missing"},
		"an empty completion":               {edit(archive, "completions/_xcsh-ls", func(f *entry) { f.text = "" }), "completions/_xcsh-ls is empty"},
		"a stray file":                      {func(r *release) { r.files[archive]["notes.txt"] = r.files[archive]["README.md"] }, "notes.txt does not belong"},
		"a text that everyone can change":   {edit(archive, "README.md", func(f *entry) { f.mode = 0o666 }), "README.md has the mode 666"},
		"a program that can't be run":       {edit(zip, "xcsh-ls.exe", func(f *entry) { f.mode = 0o644 }), "xcsh-ls.exe has the mode 644"},
		"a file of the user who built it":   {edit(archive, "LICENSE", func(f *entry) { f.owner = "builder:builder" }), "LICENSE belongs to builder:builder"},
		"a time of the build":               {edit(archive, "LICENSE", func(f *entry) { f.at = f.at.Add(1e9) }), "not of the commit's time"},
		"a program without a version":       {edit(archive, "xcsh-ls", func(f *entry) { f.prog.versioned = false }), "xcsh-ls does not have the version"},
		"a program for another machine":     {edit(archive, "xcsh-ls", func(f *entry) { f.prog.arch = "arm64" }), "xcsh-ls is for linux/arm64"},
		"a program with cgo":                {edit(archive, "xcsh-ls", func(f *entry) { f.prog.static = false }), "was built with cgo"},
		"a program with a path":             {edit(archive, "xcsh-ls", func(f *entry) { f.prog.local = true }), "contains a path"},
		"a script in place of the program":  {edit(archive, "xcsh-ls", func(f *entry) { f.prog = nil }), "xcsh-ls is no Go program"},
		"a huge program":                    {edit(archive, "xcsh-ls", func(f *entry) { f.size = programLimit + 1 }), "xcsh-ls has 62914561 bytes"},
		"a huge archive":                    {func(r *release) { r.sizes[archive] = archiveLimit + 1 }, archive + ": it has"},
		"an empty archive":                  {func(r *release) { r.sizes[vsix] = 100 }, vsix + ": it has 100 bytes"},
		"a package without notices":         {remove(deb, "/usr/share/doc/xcsh-ls/THIRD_PARTY_NOTICES.txt"), deb + ": /usr/share/doc/xcsh-ls/THIRD_PARTY_NOTICES.txt is missing"},
		"a package without a copyright":     {remove(deb, "/usr/share/doc/xcsh-ls/copyright"), "copyright is missing"},
		"a copyright without the terms":     {edit(deb, "/usr/share/doc/xcsh-ls/copyright", func(f *entry) { f.text = f.text[:300] }), "copyright does not have the licence"},
		"a package without a changelog":     {remove(deb, "/usr/share/doc/xcsh-ls/changelog.Debian.gz"), "changelog.Debian.gz is missing"},
		"a package without a page":          {remove(rpm, "/usr/share/man/man1/xcsh-ls.1.gz"), rpm + ": /usr/share/man/man1/xcsh-ls.1.gz is missing"},
		"a page that is not compressed":     {edit(deb, "/usr/share/man/man1/xcsh-ls.1.gz", func(f *entry) { f.text = "text" }), "xcsh-ls.1.gz is not the page"},
		"completions elsewhere":             {remove(rpm, "/usr/share/zsh/site-functions/_xcsh-ls"), "/usr/share/zsh/site-functions/_xcsh-ls is missing"},
		"a package of another version":      {func(r *release) { r.fields[deb] = "0.0.0-1 amd64" }, deb + ": its version and architecture are 0.0.0-1 amd64"},
		"a package with another licence":    {func(r *release) { r.fields[rpm] += "-0" }, rpm + ": its version, architecture and licence"},
		"an rpm without a licence":          {remove(rpm, "/usr/share/licenses/xcsh-ls/LICENSE"), "/usr/share/licenses/xcsh-ls/LICENSE is missing"},
		"an extension without notices":      {remove(vsix, "extension/THIRD_PARTY_NOTICES.txt"), vsix + ": extension/THIRD_PARTY_NOTICES.txt is missing"},
		"an extension without npm licences": {remove(vsix, "extension/media/licenses.txt"), "extension/media/licenses.txt is missing"},
		"an extension with another server":  {edit(vsix, "extension/bin/xcsh-ls.exe", func(f *entry) { f.sum = "0" }), "another program than that of " + zip},
		"an extension without a server":     {remove(vsix, "extension/bin/xcsh-ls.exe"), "extension/bin/xcsh-ls.exe is missing"},
		"an extension for another platform": {edit(vsix, "extension.vsixmanifest", func(f *entry) { f.text = strings.Replace(f.text, "win32-x64", "linux-x64", 1) }), "it is for another platform"},
		"an extension of another version":   {edit(vsix, "extension/package.json", func(f *entry) { f.text = `{"version": "0.0.0"}` }), `its version is "0.0.0"`},
		"a bill without a serial number":    {replace(bill, `"serialNumber": "urn:uuid:`, `"serialNumber": "`), "is no serial number"},
		"a bill of another time":            {replace(bill, `"timestamp": "20`, `"timestamp": "19`), bill + ": its time is 19"},
		"a bill of another version":         {replace(bill, `"version": "`+r.version+`"`, `"version": "0.0.0"`), `it is of version "0.0.0"`},
		"a bill without a licence":          {replace(bill, `"id": "Apache-2.0"`, `"id": ""`), "has no licence"},
		"a bill without a module":           {replace(bill, `"name": "github.com/spf13/cobra"`, `"name": "github.com/spf13/other"`), "it does not list the modules"},
		"a bill of another program":         {replace(bill, r.files[archive]["xcsh-ls"].sum, strings.Repeat("0", 64)), "it is of another program"},
		"a bill in another format":          {replace(bill, `"specVersion": "1.5"`, `"specVersion": "1.2"`), "it is in CycloneDX 1.2"},
		"a bill that is no JSON":            {func(r *release) { r.texts[bill] = r.texts[bill][:5000] }, bill + ": unexpected end of JSON input"},
		"a wrong checksum":                  {replace(checksums, r.sums[vsix], strings.Repeat("0", 64)), "is not the checksum of " + vsix},
		"a missing checksum":                {replace(checksums, "  "+deb, "  other.deb"), `"" is not the checksum of ` + deb},
		"a checksum of an unknown file":     {replace(checksums, "  "+deb, "  other.deb"), "other.deb is no file of a release"},
		"a cask of another version":         {replace(cask, `version "`+r.version, `version "0`), cask + ": it does not have the version"},
		"a cask with a wrong checksum":      {replace(cask, r.sums[r.archive(targets[3])], strings.Repeat("0", 64)), "it does not have the checksum of " + r.archive(targets[3])},
		"a cask without a manual page":      {replace(cask, `"man/xcsh-ls.1"`, `"man/other"`), "it does not install man/xcsh-ls.1"},
	} {
		copied := r.clone()
		damage.do(copied)
		assert.Contains(t, strings.Join(copied.problems(), "\n"), damage.problem, name)
	}
	require.Empty(t, r.problems(), "the copies share nothing with the release")
}
