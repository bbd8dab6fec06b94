package visible_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// ordinary is text that must not change.
var ordinary = []string{
	"", "plain ASCII ~ \\u001b \"quoted\"", "two\nlines\tand a tab\r\nand Windows\r\n",
	"naïve Ünïcödé “quotes” – — … €", "e\u0301 combining", "\u00a0no-break\u3000wide", "\ufffd itself", "\ue0b0 private use",
	"日本語のテキスト、中文，한국어", "Русский Ελληνικά עברית",
	"العربية", "می\u200cخواهم کتاب\u200cها", "بِ\u200cها", "ه\u200d.ق", "हिन्दी क्\u200dष क्\u200cष", "শ্রীলঙ্কা র\u200d্যাব", "ශ්\u200dරී ලංකාව", "മലയാളം ന്\u200d", "ខ្មែរ", "မြန်မာ",
	"😀 👍🏽 ❤️ ☎︎ ©️ 1️⃣ #️⃣ 🇩🇪", "👩🏽\u200d💻 👨\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 🏴\u200d☠️ 👩\u200d❤️\u200d💋\u200d👨 🧑🏿\u200d🚀 🐻\u200d❄️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿",
}

// escaped is text that must change, with the result.
var escaped = []struct{ name, from, want string }{
	{"clipboard", "\x1b]52;c;ZXZpbA==\a", `\u001b]52;c;ZXZpbA==\u0007`},
	{"title with string terminator", "\x1b]0;x\x1b\\", `\u001b]0;x\u001b\`},
	{"C1 introducers", "\u009b2J\u009d0;x\u009c\u0090q\u009c\u0098\u009e\u009f", `\u009b2J\u009d0;x\u009c\u0090q\u009c\u0098\u009e\u009f`},
	{"colours", "\x1b[1;31mred\x1b[0m", `\u001b[1;31mred\u001b[0m`},
	{"C0 and DEL", "\x00\x07\x08\x0b\x0c\x0e\x1f\x7f", `\u0000\u0007\u0008\u000b\u000c\u000e\u001f\u007f`},
	{"next line", "a\u0085b", `a\u0085b`},
	{"lone carriage return", "rm -rf /\recho hello\r\r\n\r", "rm -rf /\\u000decho hello\\u000d\r\n\\u000d"},
	{"line separators", "a\u2028b\u2029c", `a\u2028b\u2029c`},
	{"bidi", "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", `\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069`},
	{"zero width", "a\u200bb\u200cc\u200dd\u2060e\u2061\u2062\u2063\u2064\ufeff\u180e\u00ad", `a\u200bb\u200cc\u200dd\u2060e\u2061\u2062\u2063\u2064\ufeff\u180e\u00ad`},
	{"fillers", "\u034f\u115f\u1160\u17b4\u3164\uffa0\ufff9", `\u034f\u115f\u1160\u17b4\u3164\uffa0\ufff9`},
	{"tags", "hi\U000e0041\U000e0042\U000e007f\U000e0001", `hi\U000e0041\U000e0042\U000e007f\U000e0001`},
	{"tags of no flag", "🏴\U000e0068\U000e0069\U000e007f", `🏴\U000e0068\U000e0069\U000e007f`},
	{"a flag without its end", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067", `🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067`},
	{"tags behind a flag", "🏴󠁧󠁢󠁥󠁮󠁧󠁿\U000e0041", `🏴󠁧󠁢󠁥󠁮󠁧󠁿\U000e0041`},
	{"variation selectors", "a\ufe00b\ufe0fc\U000e0100\U000e01ef", `a\ufe00b\ufe0fc\U000e0100\U000e01ef`},
	{"selectors behind an emoji", "😀\ufe0f\ufe0f\ufe0e\ufe01", "😀\ufe0f" + `\ufe0f\ufe0e\ufe01`},
	{"joiner behind an emoji", "😀\u200d", `😀\u200d`},
	{"joiner between emoji and letter", "😀\u200dx", `😀\u200dx`},
	{"joiners between emoji", "😀\u200d\u200d😀", `😀\u200d\u200d😀`},
	{"selector of no keycap", "1\ufe0f2", `1\ufe0f2`},
	{"second joiner in Arabic", "ه\u200d\u200d\u200c", "ه\u200d" + `\u200d\u200c`},
	{"joiner behind a space", "ه \u200c", `ه \u200c`},
	{"no UTF-8", "a\xff\x9bb\xc3", `a\xff\x9bb\xc3`},
	{"half a surrogate", "\xed\xa0\x80", `\xed\xa0\x80`},
	{"overlong", "\xc0\x9b", `\xc0\x9b`},
	{"beyond Unicode", "\xf4\x90\x80\x80", `\xf4\x90\x80\x80`},
}

func TestOrdinaryTextStays(t *testing.T) {
	t.Parallel()
	for _, s := range ordinary {
		require.Equal(t, s, visible.Text(s))
		require.Equal(t, s, stream(t, visible.NewWriter, s, 1))
		require.Equal(t, s, string(visible.JSON([]byte(s))))
	}
}

func TestInvisibleCharactersAreEscaped(t *testing.T) {
	t.Parallel()
	for _, c := range escaped {
		require.Equal(t, c.want, visible.Text(c.from), c.name)
		require.Equal(t, c.want, visible.Text(c.want), c.name)
		require.Equal(t, c.want, stream(t, visible.NewWriter, c.from, 1), c.name)
	}
}

func TestLineIsOneLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, `two\nlines\r\n\tand \u001b[31mred\u2028`, visible.Line("two\nlines\r\n\tand \x1b[31mred\u2028"))
	require.Equal(t, "می\u200cخواهم 👩🏽\u200d💻", visible.Line("می\u200cخواهم 👩🏽\u200d💻"))
}

// JSON keeps its value: a raw control can only occur in a string, a carriage return only outside.
func TestJSONMeansTheSame(t *testing.T) {
	t.Parallel()
	for _, s := range append([]string{"\u009b", "\u202e", "\u007f", "\U000e0041", "\u2028", "a\u200db"}, ordinary...) {
		doc, err := json.Marshal([]string{s})
		require.NoError(t, err)
		raw := []byte(`["` + s + `"]`)
		if json.Valid(raw) { // it may have characters that Marshal escapes
			doc = raw
		}
		safe := visible.JSON(doc)
		require.Equal(t, string(safe), visible.Text(string(safe)))
		require.JSONEq(t, string(doc), string(safe))
	}
	require.JSONEq(t, `{"a":[1]}`, string(visible.JSON([]byte("{\"a\":\r[1]}\r"))))
	require.Equal(t, `"\ufffd"`, string(visible.JSON([]byte("\"\x9b\""))))
	require.Equal(t, `"\udb40\udc41"`, string(visible.JSON([]byte("\"\U000e0041\""))))
}

// stream writes s in pieces of n bytes.
func stream(t testing.TB, newWriter func(io.Writer) *visible.Writer, s string, n int) string {
	t.Helper()
	var out strings.Builder
	w := newWriter(&out)
	for s != "" {
		piece := s[:min(n, len(s))]
		s = s[len(piece):]
		wrote, err := w.Write([]byte(piece))
		require.NoError(t, err)
		require.Equal(t, len(piece), wrote)
	}
	require.NoError(t, w.Flush())
	return out.String()
}

// Bytes with a certain outcome are not held back, and the end of one text does not affect
// the next one.
func TestWriterHoldsBackNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w := visible.NewWriter(&out)
	for _, step := range []struct{ piece, shown string }{
		{"one\n", "one\n"}, {"😀", "😀"}, {"\u200d", ""}, {"x", `\u200dx`}, {"\xe2\x80", ""}, {"\xae", `\u202e`}, {"1", "1"}, {"\r", ""}, {"\n", "\r\n"},
	} {
		out.Reset()
		_, err := io.WriteString(w, step.piece)
		require.NoError(t, err)
		require.Equal(t, step.shown, out.String())
	}
	out.Reset()
	_, _ = io.WriteString(w, "😀\r")
	require.NoError(t, w.Flush())
	_, _ = io.WriteString(w, "\n\ufe0f")
	require.Equal(t, `😀\u000d`+"\n"+`\ufe0f`, out.String())
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWriterReturnsTheErrorOfItsWriter(t *testing.T) {
	t.Parallel()
	n, err := visible.NewWriter(failing{io.ErrClosedPipe}).Write([]byte("x"))
	require.Zero(t, n)
	require.Equal(t, io.ErrClosedPipe, err)
}
