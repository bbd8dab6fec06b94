package docs_test

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// startPages returns the quick starts with their texts, code included.
func startPages(t *testing.T) map[string]string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "docs", "start", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	pages := map[string]string{}
	for _, name := range found {
		page := "docs/start/" + filepath.Base(name)
		pages[page] = read(t, page)
	}
	return pages
}

func TestTheReadmeLinksEveryQuickStart(t *testing.T) {
	t.Parallel()
	readme := read(t, "README.md")
	for page := range startPages(t) {
		assert.Contains(t, readme, "("+page+")")
	}
}

// Every quick start leads from the installation to a prompt without a key, to an earlier session and back.
func TestQuickStartsHaveTheSameSteps(t *testing.T) {
	t.Parallel()
	title := regexp.MustCompile(`(?m)^## (.+)$`)
	for page, text := range startPages(t) {
		if page == "docs/start/install.md" {
			continue
		}
		var titles []string
		for _, m := range title.FindAllStringSubmatch(text, -1) {
			titles = append(titles, strings.TrimSuffix(m[1], " program"))
		}
		assert.Equal(t, []string{"Install", "The first prompt", "Resume a session", "Back to the terminal", "Next"}, titles, page)
		assert.Contains(t, strings.ToLower(text), "offline", page)
		assert.Contains(t, text, "xcsh --", page)
	}
}

// The names in quick starts and in the troubleshooting are those of the programs. Those of the server and of make have a test of their own.
func TestNamesInQuickStartsExist(t *testing.T) {
	t.Parallel()
	program := sourceText(t, "cmd/xcsh-ls", ".go")
	sources := map[string]string{
		"vscode": read(t, "editors/vscode/package.nls.json"),
		"nvim":   read(t, "editors/neovim/doc/xcsh.txt"),
		"el":     read(t, "packaging/emacs/xcsh-ls.el"),
		"flag":   program,
		"verb":   program,
	}
	pages := startPages(t)
	pages["docs/troubleshooting.md"] = read(t, "docs/troubleshooting.md")
	pages["docs/faq.md"] = read(t, "docs/faq.md")
	checked, unknown := map[string]int{}, []string{}
	for page, text := range pages {
		for kind, pattern := range map[string]*regexp.Regexp{
			"vscode": regexp.MustCompile(`\*xcsh: ([^*]+)\*`),
			"nvim":   regexp.MustCompile("`:(Xcsh[A-Za-z]+)"),
			"el":     regexp.MustCompile("M-x (xcsh-ls-[a-z-]+)"),
			"flag":   regexp.MustCompile(`xcsh-ls [a-z]+.* --([a-z-]+)`),
			"verb":   regexp.MustCompile("(?m)(?:`|^)xcsh-ls ([a-z]+)"),
		} {
			for _, m := range pattern.FindAllStringSubmatch(text, -1) {
				checked[kind]++
				named := regexp.MustCompile(fmt.Sprintf(map[string]string{
					"vscode": `"%s"`, "nvim": `\*:%s\*`, "el": `\(defun %s `, "flag": `"%s"`, "verb": `Use: +"%s\b`,
				}[kind], regexp.QuoteMeta(m[1])))
				if m[1] != "completion" && !named.MatchString(sources[kind]) { // which cobra adds
					unknown = append(unknown, page+": "+m[0])
				}
			}
		}
	}
	require.Empty(t, unknown)
	require.Len(t, checked, 5)
}

// sourceText returns the files of a directory with an extension that are no tests, one after the other.
func sourceText(t *testing.T, dir, ext string) string {
	t.Helper()
	return strings.Join(slices.Collect(maps.Values(sourceFiles(t, dir, ext))), "\n")
}

// sourceFiles returns the texts of these files.
func sourceFiles(t *testing.T, dir, ext string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(filepath.Join(root, dir), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(skipped, d.Name()) || d.Name() == "testdata" || d.Name() == "test" || d.Name() == "tests"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ext || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		rel, err := filepath.Rel(root, name)
		require.NoError(t, err)
		files[rel] = read(t, filepath.ToSlash(rel))
		return nil
	}))
	require.NotEmpty(t, files)
	return files
}

// The messages in the troubleshooting, in italics in the first column, are in the source, where the values of a
// message are verbs of a format.
func TestMessagesInTheTroubleshootingExist(t *testing.T) {
	t.Parallel()
	sources := sourceFiles(t, "editors/vscode/src", ".ts")
	maps.Copy(sources, sourceFiles(t, "editors/neovim/lua", ".lua"))
	for _, dir := range []string{"agent", "cmd", "commands", "internal", "session", "team"} {
		maps.Copy(sources, sourceFiles(t, dir, ".go"))
	}
	for name, text := range sources {
		sources[name] = strings.NewReplacer(`\"`, `"`, `\'`, `'`).Replace(text)
	}
	require.False(t, inSource(sources, "*The moon is made of … today.*"))
	message := regexp.MustCompile(`\*[^*]+\*`)
	found := 0
	for line := range strings.Lines(read(t, "docs/troubleshooting.md")) {
		if !strings.HasPrefix(line, "| *") {
			continue
		}
		cell, _, _ := strings.Cut(line[2:], " | ")
		for _, m := range message.FindAllString(cell, -1) {
			found++
			assert.True(t, inSource(sources, m), "no source file has the message %s", m)
		}
	}
	require.Greater(t, found, 40)
}

// inSource reports whether one file has all parts of a message between its values.
func inSource(sources map[string]string, message string) bool {
	parts := slices.DeleteFunc(strings.Split(strings.Trim(message, "*"), "…"), func(s string) bool { return len(strings.Trim(s, " .,:()")) < 3 })
	for _, text := range sources {
		if len(parts) > 0 && !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, strings.Trim(part, " ")) }) {
			return true
		}
	}
	return false
}
