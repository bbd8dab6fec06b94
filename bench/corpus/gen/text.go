package gen

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// kind is a sort of text.
type kind int

const (
	prose kind = iota
	code
	output // of a shell
	kinds
)

// text is a supply of made-up text of each kind, from which pieces are cut.
type text struct {
	words []string
	pool  [kinds]string
}

const poolSize = 1 << 20

var (
	syllables = strings.Fields("al ba con de er fo ge ha in jo ka lo me nu or pre qui re se tra un ver wi xe yo zo tion ment ing ster ble ness ous ify ate ure")
	foreign   = []string{"│ ", "├── ", "✓ ", "→", "…", "“quoted”", "naïve", "Übergröße", "日本語のテキスト", "中文说明", "한국어", "🚀", "👍🏽", "Привет"}
)

func newText(r *rand.Rand) *text {
	t := &text{}
	for len(t.words) < 20_000 {
		var word strings.Builder
		for range 2 + r.IntN(3) {
			word.WriteString(syllables[r.IntN(len(syllables))])
		}
		t.words = append(t.words, word.String())
	}
	for k := range kinds {
		var b strings.Builder
		for b.Len() < poolSize {
			t.sentence(&b, r, k)
		}
		t.pool[k] = b.String()
	}
	return t
}

// word returns a word, with common ones more often.
func (t *text) word(r *rand.Rand) string {
	return t.words[int(float64(len(t.words))*math.Pow(r.Float64(), 3))]
}

func (t *text) sentence(b *strings.Builder, r *rand.Rand, k kind) {
	w := func() string { return t.word(r) }
	switch k {
	case code:
		indent := strings.Repeat("\t", r.IntN(4))
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(b, "%sconst %s = await this.%s(\"%s\", { %s: %d });\n", indent, w(), w(), w(), w(), r.IntN(10_000))
		case 1:
			fmt.Fprintf(b, "%sif (%s.%s !== undefined && %s > %d) {\n", indent, w(), w(), w(), r.IntN(100))
		case 2:
			fmt.Fprintf(b, "%s// %s %s %s %s\n", indent, w(), w(), w(), w())
		default:
			fmt.Fprintf(b, "%sreturn `${%s}\\n${%s}` as %s;\n%s}\n\n", indent, w(), w(), w(), indent)
		}
	case output:
		fmt.Fprintf(b, "src/%s/%s.ts:%d:  %s(\"%s\") %x\n", w(), w(), r.IntN(3000), w(), w(), r.Uint32())
	default:
		for range 4 + r.IntN(8) {
			b.WriteString(w() + " ")
		}
		b.WriteString([]string{"and then. ", "- `x`: ", "for now.\n\n", "```ts\n", "## "}[r.IntN(5)])
	}
}

// appendText appends about n bytes of a kind to a JSON string that is open.
func (t *text) appendText(dst []byte, r *rand.Rand, k kind, n int) []byte {
	if r.IntN(100) < 6 {
		dst = append(dst, foreign[r.IntN(len(foreign))]...)
	}
	for n > 0 {
		piece := min(n, 16<<10)
		at := r.IntN(poolSize - piece)
		dst = appendEscaped(dst, t.pool[k][at:at+piece])
		n -= piece
	}
	return dst
}

// appendEscaped appends s as the inside of a JSON string. Of the control characters
// only tab and newline occur.
func appendEscaped(dst []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// length draws a text length from a log-normal distribution.
func length(r *rand.Rand, median int, sigma float64, most int) int {
	return min(most, max(8, int(float64(median)*math.Exp(r.NormFloat64()*sigma))))
}

// appendBase64 appends n random bytes in base 64.
func appendBase64(dst []byte, r *rand.Rand, n int) []byte {
	raw := make([]byte, 0, n+8)
	for len(raw) < n {
		raw = binary.LittleEndian.AppendUint64(raw, r.Uint64())
	}
	return base64.StdEncoding.AppendEncode(dst, raw[:n])
}
