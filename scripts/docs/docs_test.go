package docs_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the root of the repository.
const root = "../.."

// skipped are directories without documents of the project.
var skipped = []string{".git", ".cache", "node_modules", "dist", "bin", "golden"}

// document is a Markdown file.
type document struct {
	path string // in the repository
	text string // without fenced code
}

var (
	fence   = regexp.MustCompile("(?ms)^ *(```+|~~~+).*?^ *(```+|~~~+)$")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	scheme  = regexp.MustCompile(`^[a-z]+:`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	code    = regexp.MustCompile("`([^`\n]+)`")
)

// documents returns the Markdown files of the repository.
func documents(t *testing.T) []document {
	t.Helper()
	var all []document
	require.NoError(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skipped, d.Name()):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(file) != ".md":
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		all = append(all, document{filepath.ToSlash(rel), fence.ReplaceAllString(string(text), "")})
		return err
	}))
	require.NotEmpty(t, all)
	return all
}

// exists reports whether a file or directory of the repository exists. The path may be a pattern.
func exists(t *testing.T, name string) bool {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(name)))
	require.NoError(t, err, name)
	return len(found) > 0
}

func TestRelativeLinksLeadToFilesAndHeadings(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	all := documents(t)
	for _, d := range all {
		texts[d.path] = d.text
	}
	links := 0
	for _, d := range all {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(d.text, ""), -1) {
			if scheme.MatchString(m[1]) {
				continue
			}
			links++
			name, anchor, _ := strings.Cut(m[1], "#")
			target := d.path
			if name != "" {
				target = path.Join(path.Dir(d.path), name)
			}
			if assert.True(t, exists(t, target), "%s: %s does not exist", d.path, m[1]) && anchor != "" {
				assert.Contains(t, anchors(texts[target]), anchor, "%s: no such heading: %s", d.path, m[1])
			}
		}
	}
	require.NotZero(t, links)
}

// anchors returns the names by which links address the headings of a document, as GitHub forms them.
func anchors(text string) []string {
	dropped := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	var names []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return names
}

// TestPathsInTextExist checks the paths in backticks that begin with a directory of the repository. Capital
// letters and x stand for any name. The code map of ARCHITECTURE.md has a test of its own.
func TestPathsInTextExist(t *testing.T) {
	t.Parallel()
	inRepository := regexp.MustCompile(`^(?:acp|agent|attack|bench|cmd|commands|devcontainer-feature|docs|editors|history|internal|lsp|packaging|scripts|session|share|testdata)/[\w./*-]+$`)
	placeholder := regexp.MustCompile(`\b(?:[A-Z]{2,}|x)\b`)
	paths := 0
	for _, d := range documents(t) {
		if isStatement(d.path) || strings.HasSuffix(d.path, "acp.md") || strings.HasPrefix(d.path, "agent/") {
			continue // names of tests, methods of the protocol, descriptions for models
		}
		text, _, _ := strings.Cut(d.text, "\n## Code map\n")
		for _, m := range code.FindAllStringSubmatch(text, -1) {
			name := strings.TrimPrefix(m[1], "./")
			if !inRepository.MatchString(name) {
				continue
			}
			paths++
			known := exists(t, placeholder.ReplaceAllString(name, "*")) || exists(t, path.Join(path.Dir(d.path), name))
			assert.True(t, known, "%s: %s does not exist", d.path, name)
		}
	}
	require.NotZero(t, paths)
}

// isStatement reports whether a document has the statements of a specification, word for word.
func isStatement(path string) bool {
	return path == "docs/coverage.md" || strings.HasPrefix(path, "docs/coverage/")
}

// TestCommandsSettingsAndTargetsExist checks the names of server commands, settings, and targets of
// make and npm.
func TestCommandsSettingsAndTargetsExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	var manifest []struct {
		Name string `json:"name"`
	}
	readJSON(t, "commands/manifest.gen.json", &manifest)
	for _, c := range manifest {
		known[c.Name] = true
	}
	require.True(t, known["xcsh.resume"])
	var extension struct {
		Scripts     map[string]string `json:"scripts"`
		Contributes struct {
			Configuration json.RawMessage `json:"configuration"`
		} `json:"contributes"`
	}
	readJSON(t, "editors/vscode/package.json", &extension)
	for name := range extension.Scripts {
		known["npm run "+name] = true
	}
	for _, m := range regexp.MustCompile(`"(xcshLs\.[\w.]+)":`).FindAllSubmatch(extension.Contributes.Configuration, -1) {
		known[string(m[1])] = true
	}
	require.True(t, known["xcshLs.model"])
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9-]+):`).FindAllSubmatch(makefile, -1) {
		known["make "+string(m[1])] = true
	}
	names := regexp.MustCompile(`^(?:xcsh\.[a-z]\w+(?:\.[a-z]\w+)?|xcshLs\.[\w.]+|make [a-z-]+|npm run [a-z0-9:]+)`)
	for _, d := range documents(t) {
		if isStatement(d.path) {
			continue // of a specification, with other names
		}
		for _, m := range code.FindAllStringSubmatch(d.text, -1) {
			if name := names.FindString(m[1]); name != "" && !strings.HasSuffix(m[1], ".lua") {
				assert.True(t, known[name], "%s: `%s` does not exist", d.path, name)
			}
		}
	}
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, v))
}
