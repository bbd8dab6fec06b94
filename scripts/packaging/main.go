// Packaging writes packaging/: what the places need from which users install, such as registries and package managers.
//
//	go run ./scripts/packaging                             write the files, with placeholders for hashes
//	go run ./scripts/packaging -check [-tag v1.2.3]        fail if a file is stale or names an archive that no release has
//	go run ./scripts/packaging -checksums FILE -out DIR    write the files with the hashes of a release to DIR
//
// The version is the newest in CHANGELOG.md. The names of archives, the description and the repository come from .goreleaser.yaml. The
// texts are in scripts/packaging/templates, in which <% and %> enclose what is filled in.
package main

import (
	"bytes"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

// directory has the files.
const directory = "packaging"

//go:embed all:templates
var templates embed.FS

func main() {
	check := flag.Bool("check", false, "fail if a file is stale")
	tag := flag.String("tag", "", "with -check, the tag of the release that begins")
	checksums := flag.String("checksums", "", "the checksums.txt of a release")
	out := flag.String("out", "", "with -checksums, the directory for the files")
	flag.Parse()
	if err := run(".", *check, *tag, *checksums, *out); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func run(root string, check bool, tag, checksums, out string) error {
	if (checksums == "") != (out == "") {
		return errors.New("-checksums and -out belong together")
	}
	r, err := readRelease(root)
	if err != nil {
		return err
	}
	if tag != "" && tag != "v"+r.Version {
		return fmt.Errorf("the tag is %s, but the newest version in CHANGELOG.md is %s; add its section and run: go run ./scripts/packaging", tag, r.Version)
	}
	if checksums != "" {
		if err := r.readHashes(checksums); err != nil {
			return err
		}
	}
	files, err := r.files()
	switch {
	case err != nil:
		return err
	case check:
		return r.check(files)
	case out != "":
		return write(out, files)
	}
	return write(filepath.Join(root, directory), files)
}

// stamped are files that are written by hand, except for a version, which is the group of the expression.
var stamped = map[string]*regexp.Regexp{
	"emacs/xcsh-ls.el": regexp.MustCompile(`(?m)^;; Version: (.*)$`),
}

// files returns the generated files by name.
func (r *release) files() (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(templates, "templates", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := templates.ReadFile(name)
		if err != nil {
			return err
		}
		name = strings.TrimPrefix(name, "templates/")
		files[name], err = r.render(name, string(text))
		return err
	})
	if err != nil {
		return nil, err
	}
	for name, version := range stamped {
		text, err := r.Include(path.Join(directory, name))
		if err != nil {
			return nil, err
		}
		m := version.FindStringSubmatchIndex(text)
		if m == nil {
			return nil, fmt.Errorf("%s has no version", name)
		}
		files[name] = text[:m[2]] + r.Version + text[m[3]:]
	}
	return files, nil
}

// render fills in a template.
func (r *release) render(name, text string) (string, error) {
	t, err := template.New(name).Delims("<%", "%>").Option("missingkey=error").Parse(strings.ReplaceAll(text, "\r\n", "\n"))
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, r); err != nil {
		return "", err
	}
	return b.String(), nil
}

func write(dir string, files map[string]string) error {
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // files of the repository, and of a release
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return nil
}

// check reports files that differ from the generated ones, and names of archives that no release has, also in files that are
// written by hand.
func (r *release) check(files map[string]string) error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		old, err := r.Include(path.Join(directory, name))
		if err != nil || old != files[name] {
			problems = append(problems, fmt.Errorf("%s/%s is stale; run: go run ./scripts/packaging", directory, name))
		}
	}
	known := map[string]bool{}
	for _, a := range r.archives {
		known[a.name] = true
	}
	err := filepath.WalkDir(filepath.Join(r.root, directory), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, name := range r.archivesIn(string(text)) {
			if !known[name] {
				problems = append(problems, fmt.Errorf("%s names %s, which .goreleaser.yaml does not produce", filepath.ToSlash(file), name))
			}
		}
		return nil
	})
	return errors.Join(append(problems, err)...)
}

// versions are the forms in which manifests write the version in the name of an archive.
var versions = []string{`{{ version | strip_prefix "v" }}`, "${pkgver}", "$pkgver", "${version}", "$version", "{version}", "{VERSION}", "VERSION"}

var archiveName = regexp.MustCompile(`xcsh-ls[_-][\w.+-]*\.(?:tar\.\w+|tgz|zip|7z)\b`)

// archivesIn returns the names of archives in a text, with the version.
func (r *release) archivesIn(text string) []string {
	for _, form := range versions {
		text = strings.ReplaceAll(text, form, r.Version)
	}
	return archiveName.FindAllString(text, -1)
}
