package naming_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/naming"
)

func TestTitlesInAnswers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"<title>Fix the parser</title>":                          "Fix the parser",
		"Sure! <TITLE>\n Fix\tthe  parser\n</TITLE>":             "Fix the parser",
		"<title>修正</title>":                                      "修正",
		"<title/>":                                               "",
		"<title></title>":                                        "",
		"<title>none</title>":                                    "",
		"<title>42</title>":                                      "",
		"<title>a</title><title>b</title>":                       "",
		"Fix the parser":                                         "",
		"<title>" + strings.Repeat("a ", 13) + "</title>":        "",
		"<title>" + strings.Repeat("a", 81) + "</title>":         "",
		"<title>never ends " + strings.Repeat("<title>", 10_000): "",
	} {
		title, ok := naming.Title(answer)
		require.Equal(t, want != "", ok, "%.40q", answer)
		if ok {
			require.Equal(t, want, title)
		}
	}
}

func TestPrompts(t *testing.T) {
	t.Parallel()
	_, ok := naming.Prompt(" 12 !? ")
	require.False(t, ok)
	p, ok := naming.Prompt(strings.Repeat("ü", 5000))
	require.True(t, ok)
	require.Less(t, utf8.RuneCountInString(p), 2100)
	require.True(t, utf8.ValidString(p))
}
