package attached_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/attached"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ prompt, want string }{
		"no file":                  {"what is <file path=\"a\"> here?", "what is <file path=\"a\"> here?"},
		"a file":                   {"<file path=\"a.go\">\npackage a\n</file>\n\nwhat is this?", "what is this?"},
		"part of a file":           {"<file path=\"a.go\" lines=\"2-5\">\nx</file>\n\nwhy?\nreally", "why?\nreally"},
		"several files":            {"<file path=\"a\">\nx</file>\n\n<file path=\"b\">\ny</file>\n\nboth", "both"},
		"a file with a tag":        {"<file path=\"a.xml\">\n<files>\n<file>1</file>\n</file>\n</files>\n</file>\n\nparse it", "parse it"},
		"words with a tag":         {"<file path=\"a\">\nx</file>\n\nclose it with </file> please", "close it with </file> please"},
		"a file of pi":             {"<file name=\"/w/a b.md\">\n# A\n</file>\nsummarize", "summarize"},
		"an image of pi":           {"<file name=\"/w/a.png\"></file>\nwhat is shown?", "what is shown?"},
		"nothing else":             {"<file path=\"src/a.go\">\nx</file>\n\n", "src/a.go"},
		"an odd path":              {"<file path=\"a>\\\"b\">\nx</file>\n\n", `a>"b`},
		"not closed":               {"<file path=\"a\">\nx", "<file path=\"a\">\nx"},
		"closed within a line":     {"<file path=\"a\">x</file> y", "<file path=\"a\">x</file> y"},
		"no path":                  {"<file>\nx</file>\n\ny", "<file>\nx</file>\n\ny"},
		"a path that does not end": {"<file path=\"a", "<file path=\"a"},
		"an instruction":           {"<instruction>\nEdit line 1.\n</instruction>\n\nin German", "in German"},
		"and a file":               {"<instruction>\nx\n</instruction>\n\n<file path=\"a\">\ny</file>\n\nwhy?", "why?"},
		"only an instruction":      {"<instruction>\nx\n</instruction>\n\n", "<instruction>\nx\n</instruction>\n\n"},
		"an open instruction":      {"<instruction>\nx", "<instruction>\nx"},
		"a later instruction":      {"a\n<instruction>\nx\n</instruction>\n\nb", "a\n<instruction>\nx\n</instruction>\n\nb"},
		"empty":                    {"", ""},
	} {
		require.Equal(t, c.want, attached.Words(c.prompt), name)
	}
}

// A prompt of a session file can hold anything.
func FuzzWords(f *testing.F) {
	f.Add("<file path=\"a\">\nx</file>\n\ny")
	f.Add("<file name=\"\\")
	f.Add("<instruction>\nx\n</instruction>\n\n<file path=\"a\">\ny</file>\n\nz")
	f.Fuzz(func(t *testing.T, prompt string) {
		words := attached.Words(prompt)
		if prompt != "" {
			require.NotEmpty(t, words)
		}
		if !strings.HasPrefix(prompt, "<file ") && !strings.HasPrefix(prompt, "<instruction>") {
			require.Equal(t, prompt, words)
		}
	})
}
