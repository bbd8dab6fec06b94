package redact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

// settled redacts text until nothing changes.
func settled(t *testing.T, s *redact.Scanner, text string) string {
	t.Helper()
	for range 20 {
		var sure []redact.Finding
		for _, f := range redact.Settled(text, s.Scan(text)) {
			if !f.Doubtful {
				sure = append(sure, f)
			}
		}
		next := redact.Replace(text, sure)
		if next == text {
			return text
		}
		text = next
	}
	t.Fatalf("no end: %q", text)
	return ""
}

// A secret of the user that is a part of a replacement is replaced where it stands alone, and only there.
func TestReplacementsAreLeftAlone(t *testing.T) {
	t.Parallel()
	s := redact.NewScanner("redacted", "github", "‹redacted", "known›")
	for text, want := range map[string]string{
		"a redacted b":                           "a ‹redacted known› b",
		"github ‹redacted github› github":        "‹redacted known› ‹redacted github› ‹redacted known›",
		"‹redacted known›":                       "‹redacted known›",
		"‹redacted nonsense›":                    "‹‹redacted known› nonsense›",
		"‹redacted":                              "‹‹redacted known›",
		"github‹redacted named›github":           "‹redacted known›‹redacted named›‹redacted known›",
		"‹redacted ‹redacted known›":             "‹‹redacted known› ‹redacted known›",
		strings.Repeat("‹redacted known›", 1000): strings.Repeat("‹redacted known›", 1000),
	} {
		require.Equal(t, want, settled(t, s, text), text)
	}
}

// A text that only looks like a replacement hides nothing.
func TestOnlyKnownKindsAreReplacements(t *testing.T) {
	t.Parallel()
	key := "ghp" + "_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	for _, text := range []string{"‹redacted " + key + "›", "‹redacted named " + key + "›", "‹redacted›" + key, "‹redacted  named› " + key} {
		require.NotContains(t, settled(t, redact.NewScanner(), text), key)
	}
}

// FuzzSettled: repeated redaction ends, and the result contains no finding.
func FuzzSettled(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	for _, k := range append(keyKinds[:3:3], contextKinds...) {
		text, _ := carriers[0].pack(k.drawn(drawer(1)))
		f.Add(text + "‹redacted github›")
	}
	s := redact.NewScanner("redacted", "github", "known› ‹red", "named› passw")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= 4096 {
			settled(t, s, text)
		}
	})
}
