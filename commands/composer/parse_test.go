package composer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands/composer"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]composer.Word{
		"":                                      nil,
		"@a.go":                                 {{Text: "a.go"}},
		"why does @a.go:10-20 fail, (@b)?":      {{Text: "a.go:10-20"}, {Text: "b)?"}},
		"mail me@example.org":                   nil,
		"@@x @ @\"\" @\"open":                   {{Text: "@x"}},
		"@\"my notes.txt\":3 and @\"b\"#L3-L4":  {{Text: "my notes.txt:3", Quoted: true}, {Text: "b#L3-L4", Quoted: true}},
		"@a @a\n@a":                             {{Text: "a"}},
		"\t@a\n\n@b":                            {{Text: "a"}, {Text: "b"}},
		"#selection and x#selection":            {{Text: "selection"}},
		"#selections":                           nil,
		"```py\n@a\n```\n@b\n~~~~\n@c\n~~~\n@d": {{Text: "b"}},
		"`@a`":                                  nil,
		"@日本語.md。":                              {{Text: "日本語.md。"}},
	} {
		assert.Equal(t, want, composer.Parse(text), "%q", text)
	}
}

func TestParseIsBounded(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 3 * composer.MaxReferences {
		many.WriteString(" @" + strings.Repeat("x", i+1))
	}
	require.Len(t, composer.Parse(many.String()), composer.MaxReferences)
	require.Empty(t, composer.Parse("@"+strings.Repeat("x", 5000)))
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"problems": {composer.Problems}, "diagnostics": {composer.Problems}, "buffer,": {composer.Buffer}, "selection": {composer.Selection},
		"terminal?": {composer.Terminal}, "symbol:Run": {composer.Symbol, "Run"}, "symbol:pkg.Run.": {composer.Symbol, "pkg.Run"},
	} {
		kind, query, ok := composer.Word{Text: text}.Kind()
		assert.True(t, ok, text)
		assert.Equal(t, want, [2]string{kind, query}, text)
	}
	for _, w := range []composer.Word{{Text: "problem"}, {Text: "symbol:"}, {Text: "symbol"}, {Text: "./buffer"}, {Text: "buffer", Quoted: true}, {}} {
		_, _, ok := w.Kind()
		assert.False(t, ok, "%q", w.Text)
	}
}

func TestSlash(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"/stats": {"stats"}, " /rename  New title \n": {"rename", "New title"}, "/compact\nthe API": {"compact", "the API"},
	} {
		name, args, ok := composer.Slash(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, [2]string{name, args}, text)
	}
	for _, text := range []string{"", "/", "/etc/hosts is what?", "stats", "a /stats"} {
		_, _, ok := composer.Slash(text)
		assert.False(t, ok, text)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"@a:1-2 @\"b c\"#L1", "```\n@x\n", "#selection @symbol:x", "@\x00", "@\xff\"\xfe"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := composer.Parse(text)
		require.LessOrEqual(t, len(words), composer.MaxReferences)
		seen := map[composer.Word]bool{}
		for _, w := range words {
			require.NotEmpty(t, w.Text)
			require.Contains(t, text, strings.TrimRight(w.Text, "0123456789-L#:"), "it was typed")
			require.False(t, seen[w], "once")
			seen[w] = true
		}
	})
}

// Only the references that are new in a changed text are added, in a form that means the same.
func TestAddedReferences(t *testing.T) {
	t.Parallel()
	before := `see @a.go and @"my notes.txt":3, #selection`
	after := `see @b.go:10-20 and @"my notes.txt":3, @"my notes.txt":4 @"other notes" #selection @problems.`
	added := composer.Added(before, after)
	require.Equal(t, `@b.go:10-20 @"my notes.txt":4 @"other notes" @problems. `, added)
	require.Equal(t, []composer.Word{
		{Text: "b.go:10-20"}, {Text: "my notes.txt:4", Quoted: true}, {Text: "other notes", Quoted: true}, {Text: "problems."},
	}, composer.Parse(added))
	require.Empty(t, composer.Added(after, after))
	require.Empty(t, composer.Added("", "nothing"))
}
