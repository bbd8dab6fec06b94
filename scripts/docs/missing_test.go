package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const missingPage = "docs/missing.md"

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(text)
}

// Each row of the page about missing features has a reason and an alternative, and users find the page.
// TestCommandsSettingsAndTargetsExist and TestRelativeLinksLeadToFilesAndHeadings check its names and links.
func TestMissingFeaturesHaveReasons(t *testing.T) {
	t.Parallel()
	rows := 0
	for line := range strings.Lines(read(t, missingPage)) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		assert.Len(t, cells, 4, line)
		for _, c := range cells {
			assert.NotEmpty(t, strings.TrimSpace(c), line)
		}
	}
	require.Greater(t, rows, 40)
	require.Contains(t, read(t, "README.md"), "("+missingPage+")")
	require.Contains(t, read(t, "docs/differences.md"), "(missing.md)")
}

// The flags, shell commands and options that the page names exist.
func TestFlagsAndOptionsOfMissingFeaturesExist(t *testing.T) {
	t.Parallel()
	source := ""
	files, err := filepath.Glob(filepath.Join(root, "cmd/xcsh-ls/*.go"))
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		source += string(text)
	}
	options := read(t, "docs/protocol.md")
	flag, command := regexp.MustCompile(`--([a-z-]+)`), regexp.MustCompile(`xcsh-ls ([a-z]+)`)
	option := regexp.MustCompile(`^[a-z]+\.[a-z]+$`)
	names := 0
	for _, m := range code.FindAllStringSubmatch(read(t, missingPage), -1) {
		for _, f := range flag.FindAllStringSubmatch(m[1], -1) {
			names++
			assert.Contains(t, source, `"`+f[1]+`"`, "no flag --%s", f[1])
		}
		for _, c := range command.FindAllStringSubmatch(m[1], -1) {
			names++
			assert.Regexp(t, `Use: +"`+c[1]+`[ "]`, source, "no command %s", c[1])
		}
		if option.MatchString(m[1]) && filepath.Ext(m[1]) != ".json" && filepath.Ext(m[1]) != ".db" && !strings.HasPrefix(m[1], "xcsh.") {
			names++
			assert.Contains(t, options, "`"+m[1]+"`", "no option %s", m[1])
		}
	}
	require.Greater(t, names, 8)
}

// A tool that the page calls missing does not exist.
func TestMissingToolsAreMissing(t *testing.T) {
	t.Parallel()
	described := func(name string) []string {
		files, err := filepath.Glob(filepath.Join(root, "agent/*", name+".md"))
		require.NoError(t, err)
		return files
	}
	for _, name := range []string{"read", "lsp", "ask"} {
		require.NotEmpty(t, described(name), "the tools have other files now")
	}
	for _, name := range []string{"fetch", "memory", "web_search", "websearch"} {
		assert.Empty(t, described(name), "remove the tool %s from %s", name, missingPage)
	}
}
