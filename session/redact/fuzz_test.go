package redact_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

// FuzzScan scans arbitrary text: no panic; findings are in order, do not overlap and end within
// the text; the user's own keys are gone from the result; and the preview of doubtful text is
// short, on one line and not the text.
func FuzzScan(f *testing.F) {
	const own = "the-users-own-key-1"
	for _, c := range carriers {
		for _, k := range append(keyKinds[:3:3], contextKinds...) {
			text, _ := c.pack(k.drawn(drawer(1)))
			f.Add(text, "password")
		}
		text, _ := c.pack("", own, "")
		f.Add(text, "")
	}
	for _, text := range hostile {
		f.Add(text, "api_key")
	}
	scanner := redact.NewScanner(own, "\xff\xfe\xfd\xfc\xfb\xfa")
	f.Fuzz(func(t *testing.T, text, name string) {
		requireSound(t, text, scanner.Scan(text))
		requireSound(t, text, scanner.Named(name, text))
	})
}

func requireSound(t *testing.T, text string, found []redact.Finding) {
	t.Helper()
	end := 0
	var sure []redact.Finding
	const mostShown = 1000
	for i, f := range found {
		require.LessOrEqual(t, end, f.From)
		require.Less(t, f.From, f.To)
		require.LessOrEqual(t, f.To, len(text))
		require.NotEmpty(t, f.Kind)
		end = f.To
		if i >= mostShown {
			continue
		}
		before, preview := redact.Before(text, found, i), redact.Masked(text[f.From:f.To])
		require.LessOrEqual(t, utf8.RuneCountInString(before), 24)
		require.LessOrEqual(t, utf8.RuneCountInString(preview), 5)
		require.NotContains(t, before+preview, "\n")
	}
	for _, f := range found {
		if !f.Doubtful {
			sure = append(sure, f)
		}
	}
	if utf8.ValidString(text) {
		out := redact.Replace(text, sure)
		require.NotContains(t, out, "the-users-own-key-1")
		require.Equal(t, len(sure), strings.Count(out, redact.Mark)-strings.Count(text, redact.Mark)+marksIn(text, sure))
	}
}

// marksIn is the number of marks that the replaced passages contained themselves.
func marksIn(text string, found []redact.Finding) (n int) {
	for _, f := range found {
		n += strings.Count(text[f.From:f.To], redact.Mark)
	}
	return n
}

// hostile texts are made to take much time or to break the parts of the scanner.
var hostile = []string{
	"", "\\", "\\\\\\", "%", "%4", "&", "&#x", "\n", "\"", "\"\"", "'+'", "a\\\n", "password", "password=", "password:\"", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----",
	"----- PRIVATE KEY", "END PRIVATE KEY", "-----END PRIVATE KEY-----", "://:@", "token\\", "=====", "\x00\xff", "‹redacted x›", "password=‹redacted named›",
}

// The time for a hostile text is proportional to its length.
func TestHostileTextsTakeLinearTime(t *testing.T) {
	racetest.Large(t)
	scanner := redact.NewScanner("the-users-own-key-1")
	took := func(text string) time.Duration {
		best := time.Hour
		for range 2 {
			start := time.Now()
			scanner.Scan(text)
			best = min(best, time.Since(start))
		}
		return best
	}
	const size = 1 << 15
	for _, unit := range units {
		short := strings.Repeat(unit, 1+size/(1+len(unit)))
		long := strings.Repeat(short, 4)
		// Quadratic time would be 16 times as long, every time; a busy machine slows some runs.
		quadratic := func() bool {
			first, second := took(short), took(long)
			slow := second > 300*time.Millisecond && second > 10*first
			if slow {
				t.Logf("%q: %v, and four times the length %v", unit, first, second)
			}
			return slow
		}
		attempts := 1
		for ; attempts <= 5 && quadratic(); attempts++ {
		}
		require.LessOrEqual(t, attempts, 5, "%q takes more than linear time", unit)
	}
}

// units are repeated to make hostile texts.
var units = append(slices.Clip(hostile),
	"password: ", "token=", "key key key ", "\\n", "\\\"", "a1B2", "a1B2c3D4e5F6g7H8\n", "\"a1B2\" + ", "%41", "&quot;", "\\\n", "A", "eyJ", "ghp_", "sk-", "://", "://a:b@", "curl -u a:",
	"-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----\nA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6\n", "cGFzc3dvcmQ9aHVudGVyMjI=", "cGFzc3dvcmQ9aHVudGVyMjI", "mnemonic abandon ",
	"adafruit = ", "discord ", "<password>", "name: password value: ", "Cookie: a=b1; ", "machine a login b password ",
)
