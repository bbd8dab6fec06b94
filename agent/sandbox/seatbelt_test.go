package sandbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
)

// lint reads a profile as sandbox-exec would: one list after the other, of known words.
func lint(t *testing.T, profile string) (rules []string) {
	t.Helper()
	depth, start, quoted := 0, 0, false
	for i := 0; i < len(profile); i++ {
		switch c := profile[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			if depth == 0 {
				start = i
			}
			depth++
		case c == ')':
			depth--
			require.GreaterOrEqual(t, depth, 0, profile)
			if depth == 0 {
				rules = append(rules, profile[start:i+1])
			}
		default:
			require.True(t, depth > 0 || c == '\n', "text between the rules: %q", profile[i:])
		}
	}
	require.Zero(t, depth, profile)
	require.False(t, quoted, profile)
	operations := map[string]bool{
		"default": true, "file-write*": true, "file-read*": true, "file-read-metadata": true, "mach-lookup": true, "appleevent-send": true, "lsopen": true,
		"job-creation": true, "network*": true, "network-outbound": true, "signal": true,
	}
	filters := []string{"subpath", "literal", "regex", "global-name", "remote", "target"}
	require.Equal(t, "(version 1)", rules[0])
	for _, rule := range rules[1:] {
		words := strings.Fields(strings.Trim(rule, "()"))
		require.Contains(t, []string{"allow", "deny"}, words[0], rule)
		for _, word := range words[1:] {
			if strings.HasPrefix(word, "(") {
				require.Contains(t, filters, word[1:], rule)
				break
			}
			require.True(t, operations[strings.TrimRight(word, ")")], rule)
		}
	}
	return rules
}

func TestProfile(t *testing.T) {
	t.Parallel()
	unixOnly(t)
	strict := sandbox.Profile(sandbox.Policy{Level: sandbox.Strict, Deny: []string{"/Users/u/.ssh"}})
	rules := lint(t, strict)
	require.Contains(t, rules, "(deny network*)")
	require.Contains(t, rules, "(deny file-write*)")
	require.Contains(t, strict, `(deny file-read* file-write*`+"\n  "+`(subpath "/Users/u/.ssh"))`)
	require.NotContains(t, strict, `(subpath "/w")`)

	standard := sandbox.Profile(sandbox.Policy{Level: sandbox.Standard, Write: []string{"/w"}, Network: true})
	rules = lint(t, standard)
	require.NotContains(t, rules, "(deny network*)")
	require.Contains(t, standard, `(subpath "/w")`)
	require.Contains(t, standard, "(remote unix-socket)")
	require.Less(t, strings.Index(standard, "(deny file-write*)"), strings.Index(standard, "(allow file-write*"), "later rules win")
}

// A folder's name is a text in the profile and nothing else.
func FuzzProfile(f *testing.F) {
	f.Add(`/w") (allow default) ("`)
	f.Add("/w\\")
	f.Add("/w\"\\\n(")
	f.Fuzz(func(t *testing.T, name string) {
		unixOnly(t)
		if strings.ContainsRune(name, 0) {
			t.Skip("no name has a NUL")
		}
		plain := sandbox.Profile(sandbox.Policy{Level: sandbox.Standard, Write: []string{"/w"}})
		rules := lint(t, sandbox.Profile(sandbox.Policy{Level: sandbox.Standard, Write: []string{"/w" + name}}))
		require.Len(t, rules, len(lint(t, plain)))
	})
}
