package attack

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// steering is text that controls a terminal, or hides or reorders text: the clipboard, a link, the
// title, colors, C1 forms of the same, an overwritten line, bidi controls, zero-width characters, and
// tags and selectors that carry a hidden text.
const steering = "\x1b]52;c;Y3VybCBldmls\a \x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\ \x1b]0;title\a \x1b[2J\x1b[31m \x1bP+q544e\x1b\\ \x1b_Gi=1\x1b\\ " +
	"\u009b2J \u009d52;c;eA==\u009c \u0090q\u009c \u009fx\u009c \u0085 shown\rhidden \x7f\b\v\f " +
	"\u061c\u200e\u200f\u202a\u202b\u202d\u202e\u202c\u2066\u2067\u2068\u2069 a\u200bb\u200cc\u200dd\u2060e\u2063f\ufeffg\u00adh\u180ei " +
	"\U000e0001\U000e0041\U000e007f \U000e0100\U000e01ef\ufe00 \u2028\u2029"

// ordinary is text that a careless filter breaks.
const ordinary = "naïve 日本語 العربية می\u200cخواهم हिन्दी क्\u200dष 👩🏽\u200d💻 ❤️ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 e\u0301"

// steers returns the first character of out that controls a terminal or deceives a reader, with its
// context, or "" if there is none. Ordinary text has invisible characters, too, and is ignored.
func steers(out string) string {
	out = strings.ReplaceAll(strings.ReplaceAll(out, ordinary, ""), "\r\n", "\n")
	for i, r := range out {
		_, size := utf8.DecodeRuneInString(out[i:])
		bad := r == utf8.RuneError && size == 1
		if r != '\n' && r != '\t' {
			bad = bad || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
		}
		if bad {
			return fmt.Sprintf("%U in %q", r, out[max(0, i-40):min(len(out), i+40)])
		}
	}
	return ""
}

func requireSteersNothing(t *testing.T, where, out string) {
	t.Helper()
	require.Empty(t, steers(out), where)
}

func requireQuiet(t *testing.T, what string, o outcome) {
	t.Helper()
	requireSteersNothing(t, what+", standard output", o.stdout)
	requireSteersNothing(t, what+", standard error", o.stderr)
}
