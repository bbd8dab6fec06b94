// Notices writes THIRD_PARTY_NOTICES.txt: the licences of everything by others that a release of the program contains.
//
//	go run ./scripts/notices          write the file
//	go run ./scripts/notices -check   fail if it is stale
//
// These are the modules that are linked on one of the platforms of a release, the standard library, and the embedded files that
// were taken from others. The VS Code extension has a file of its own for its npm packages.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	program = "./cmd/xcsh-ls"
	file    = "THIRD_PARTY_NOTICES.txt"
)

func main() {
	check := flag.Bool("check", false, "fail if "+file+" is stale")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	text, err := notices()
	if err != nil {
		return err
	}
	if !check {
		return os.WriteFile(file, text, 0o644) //nolint:gosec // a file of the repository
	}
	old, err := os.ReadFile(file)
	if err == nil && !bytes.Equal(bytes.ReplaceAll(old, []byte("\r\n"), []byte("\n")), text) {
		err = errors.New(file + " is stale; run: go run ./scripts/notices")
	}
	return err
}

// part is a licence with the things under it.
type part struct {
	names []string
	text  string
}

// notices returns the whole file. A text that several modules share is there once.
func notices() ([]byte, error) {
	modules, err := linked()
	if err != nil {
		return nil, err
	}
	var parts []part
	add := func(name, text string) {
		i := slices.IndexFunc(parts, func(p part) bool { return p.text == text })
		if i < 0 {
			parts = append(parts, part{text: text})
			i = len(parts) - 1
		}
		parts[i].names = append(parts[i].names, name)
	}
	for _, m := range modules {
		text, err := licences(m.dirs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.path, err)
		}
		add(strings.TrimSpace(m.path+" "+m.version), text)
	}
	for _, e := range embedded {
		text, err := e.read()
		if err != nil {
			return nil, err
		}
		add(e.name, text)
	}
	var b bytes.Buffer
	b.WriteString("xcsh-ls contains software and data by others. Their licences follow.\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "\n%s\n\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(p.names, "\n"), p.text)
	}
	return b.Bytes(), nil
}

// platforms are those of a release. Each links some modules of its own.
var platforms = []string{"linux", "darwin", "windows"}

// module is a module that is linked, with the directories of its linked packages and those above them up to its own.
type module struct {
	path, version string
	dirs          []string
}

// linked returns the standard library and the modules of the program, sorted by path.
func linked() ([]module, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find the standard library: %w", err)
	}
	all := map[string]module{}
	for _, platform := range platforms {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", program)
		cmd.Env = append(os.Environ(), "GOOS="+platform, "GOARCH=amd64", "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("list the packages of %s: %w", platform, err)
		}
		for line := range strings.Lines(string(out)) {
			if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 4 {
				m := all[f[0]]
				all[f[0]] = module{f[0], f[1], append(m.dirs, upwards(f[3], f[2])...)}
			}
		}
	}
	modules := slices.SortedFunc(maps.Values(all), func(a, b module) int { return strings.Compare(a.path, b.path) })
	// Without a version: each machine has its own.
	std := module{path: "the standard library of Go", dirs: []string{strings.TrimSpace(string(root))}}
	return append([]module{std}, modules...), nil
}

// upwards returns a directory and those above it, up to root.
func upwards(dir, root string) []string {
	dirs := []string{dir}
	for dir != root {
		dir = filepath.Dir(dir)
		dirs = append(dirs, dir)
	}
	return dirs
}

var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|copyright)([-._].*)?$`)

// licences returns the texts of the licence files in directories, each once, that of the module first. A module without any may not
// be linked.
func licences(dirs []string) (string, error) {
	var texts []string
	for _, dir := range slices.Compact(slices.Sorted(slices.Values(dirs))) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			if e.IsDir() || !licenceName.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			text, err := read(filepath.Join(dir, e.Name()))
			if err != nil {
				return "", err
			}
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	if len(texts) == 0 {
		return "", fmt.Errorf("no licence file in %q", dirs)
	}
	return strings.Join(texts, "\n\n"), nil
}

func read(path string) (string, error) {
	b, err := os.ReadFile(path)
	return strings.TrimSpace(strings.ReplaceAll(string(b), "\r", "")), err
}
