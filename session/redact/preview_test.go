package redact_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

func TestMasked(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "…", "short": "…", "eightchr": "e…r", "abcdefghijklyz": "ab…yz", "\x1b[31mabcdefg\u202e": "·[…g·",
	} {
		require.Equal(t, want, redact.Masked(in))
	}
}

// The text shown in front of a passage contains nothing of another one.
func TestBefore(t *testing.T) {
	t.Parallel()
	found := []redact.Finding{{From: 0, To: 6}, {From: 11, To: 15}}
	require.Equal(t, "and ", redact.Before("secret and this", found, 1))
	require.Equal(t, "·on it: ", redact.Before("secret\nxx\n\ton it: this", []redact.Finding{{From: 18, To: 22}}, 0))
	require.LessOrEqual(t, len([]rune(redact.Before("a very long line with äöü and a lot in front of this", []redact.Finding{{From: 51, To: 55}}, 0))), 24)
}

// A file of keys and the environment are only searched for secrets.
func TestKnown(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"plain-words", "Kw7xSunnyDay"}, redact.KnownOf([]string{
		"ACME_TOKEN=plain-words", "DB_PASSWORD=Kw7xSunnyDay", "HOME=/root", "SSH_AUTH_SOCK=/tmp/a/b", "PWD=/home/dev/secret1", "TOKEN=short", "A", "KEY_ID=0123456789", "MAX_TOKEN=123456789",
	}))
	getenv := func(name string) string { return map[string]string{"MY_KEY": "value-of-mine"}[name] }
	require.ElementsMatch(t, []string{"key-of-a", "value-of-mine", "header-of-c", "refresh-1"}, redact.KnownIn([]byte(`{
		"a":{"type":"api_key","key":"key-of-a"},"b":{"apiKey":"$MY_KEY"},"c":{"headers":{"Authorization":"Bearer header-of-c"}},
		"d":{"refresh":"refresh-1","expires":1,"id":"gpt-5-codex-long-name"},"e":{"apiKey":"!pass show x"}}`), getenv))
	require.Empty(t, redact.KnownIn([]byte(`{"a`), getenv))
}

// A private key is replaced however much of it is left and whichever characters surround its
// lines.
func TestPrivateKeys(t *testing.T) {
	t.Parallel()
	const line = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0A1b2C3d4E5f6G7h8I9j0"
	begin, end := "-----BEGIN RSA PRIVATE"+" KEY-----", "-----END RSA PRIVATE"+" KEY-----"
	for name, text := range map[string]string{
		"whole":        begin + "\n" + line + "\n" + line + "\nQ7r8==\n" + end,
		"no end":       begin + "\n" + line + "\n" + line + "\n",
		"no beginning": line + "\n" + line + "\n" + end,
		"one line":     begin + " " + line + " " + line + " " + end,
		"numbered":     "    1\t" + begin + "\n    2\t" + line + "\n    3\t" + line + "\n    4\t" + end,
		"diff":         "+" + begin + "\n+" + line + "\n+" + line + "\n+" + end,
		"escaped":      `{"key":"` + begin + `\n` + line + `\n` + line + `\n` + end + `\n"}`,
		"source":       `k := "` + begin + `\n" +` + "\n\t\"" + line + `\n" +` + "\n\t\"" + line + `\n" +` + "\n\t\"" + end + `\n"`,
		"indented":     "key: |\n    " + begin + "\n    " + line + "\n    " + line + "\n    " + end,
		"quoted":       "> " + begin + "\n> " + line + "\n> " + line + "\n> " + end,
	} {
		require.NotContains(t, redacted(redact.NewScanner(), text), line[:40], name)
	}
	for _, text := range []string{begin, "grep -r '" + begin + "' .", begin + "\nand then nothing follows\n", "-----BEGIN PUBLIC KEY-----\n" + line + "\n-----END PUBLIC KEY-----"} {
		require.Equal(t, text, redacted(redact.NewScanner(), text))
	}
}
