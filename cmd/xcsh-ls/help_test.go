package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// everyCommand calls check with each command and its full name, including the hidden ones.
func everyCommand(t *testing.T, check func(t *testing.T, c *cobra.Command)) {
	t.Helper()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		t.Run(c.CommandPath(), func(t *testing.T) { check(t, c) })
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	root := rootCommand()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	walk(root)
}

// verbs are the words with which a short description may begin.
var verbs = regexp.MustCompile(`^(Check|Create|Delete|Export|Find|Generate|Help|Import|List|Move|Print|Pull|Restore|Run|Send|Set|Share|Undo|Use)\b`)

// ours reports whether the texts of a command are written here, not in cobra.
func ours(c *cobra.Command) bool {
	return !strings.Contains(c.CommandPath()+" ", " completion ") && c.Name() != "help"
}

func TestHelpOfCommands(t *testing.T) {
	t.Parallel()
	everyCommand(t, func(t *testing.T, c *cobra.Command) {
		assert.Regexp(t, verbs, c.Short, "starts with a verb")
		assert.NotRegexp(t, `[.!…]$`, c.Short)
		assert.LessOrEqual(t, len(c.Short), 60, "fits beside the names of the commands")
		if !ours(c) || c.Hidden || c.Name() == "version" {
			return
		}
		assert.Regexp(t, `(?s)^[A-Z].*\.$`, c.Long, "sentences")
		assert.Contains(t, c.Example, "xcsh-ls")
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			assert.LessOrEqual(t, len(line), 101, "fits a terminal: %s", line)
		}
	})
}

func TestHelpOfFlags(t *testing.T) {
	t.Parallel()
	everyCommand(t, func(t *testing.T, c *cobra.Command) {
		c.InitDefaultHelpFlag()
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			value, usage := pflag.UnquoteUsage(f)
			assert.Regexp(t, `^([a-z]|[A-Z]+ for )`, usage, "--%s starts in lower case", f.Name)
			assert.NotRegexp(t, `[.!…]$`, usage, "--%s has no final period", f.Name)
			if f.Value.Type() != "bool" && ours(c) {
				assert.Regexp(t, `^[A-Za-z|]+$`, value, "--%s", f.Name)
				assert.NotContains(t, []string{"string", "stringArray", "int"}, value, "--%s names its value", f.Name)
			}
		})
	})
}

// The examples are command lines that the program accepts.
func TestHelpExamplesAreValid(t *testing.T) {
	t.Parallel()
	everyCommand(t, func(t *testing.T, c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			_, line, is := strings.Cut(line, "xcsh-ls ")
			if !is || !ours(c) {
				continue
			}
			found, rest, err := rootCommand().Find(withoutValue(strings.Fields(line)))
			require.NoError(t, err, line)
			if c.HasParent() {
				require.Equal(t, c.CommandPath(), found.CommandPath(), line)
			}
			require.NoError(t, found.ParseFlags(rest), line)
		}
	})
}

// banned returns the phrases of the word check (scripts/words).
func banned(t *testing.T) map[string]*regexp.Regexp {
	t.Helper()
	rules, err := os.ReadFile("../../scripts/words/rules.txt")
	require.NoError(t, err)
	found := map[string]*regexp.Regexp{}
	for line := range strings.Lines(string(rules)) {
		if rule, ok := strings.CutPrefix(line, "ban "); ok {
			phrase, _, _ := strings.Cut(rule, " => ")
			found[phrase] = regexp.MustCompile(`(?i)\b` + strings.ReplaceAll(regexp.QuoteMeta(phrase), " ", `\s+`) + `\b`)
		}
	}
	require.NotEmpty(t, found)
	return found
}

func TestHelpUsesNoBannedPhrases(t *testing.T) {
	t.Parallel()
	phrases := banned(t)
	phrases["what-clause"] = regexp.MustCompile(`(?i)\bwhat\s+(is|was|are|the|a|can|may|could|would|looks)\b`)
	phrases["nobody"] = regexp.MustCompile(`(?i)\b(nobody|somebody|whoever|person)\b`)
	everyCommand(t, func(t *testing.T, c *cobra.Command) {
		var help bytes.Buffer
		c.SetOut(&help)
		require.NoError(t, c.Help())
		text := help.String()
		text = strings.ReplaceAll(text, c.Example, "") // prompts may use any words
		for phrase, pattern := range phrases {
			assert.NotRegexp(t, pattern, text, phrase)
		}
	})
}
