package paging

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// alphabet has characters whose forms in JSON or in the other case are unusual.
var alphabet = []rune("aAbBkKsSzZ09_-.:<>&/\\\"'{}[], \t\n\u00a0\u2028äÄßſKÅåÅİıΣσςДд漢字かなカ한\U0001F600\ufffd\u001b\u007f")

func someText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range r.IntN(n) {
		b.WriteRune(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// quoted is JSON of a text, in which any character may be escaped.
func quoted(r *rand.Rand, text string) string {
	var b strings.Builder
	for _, c := range text {
		plain, _ := json.Marshal(string(c))
		switch {
		case c < 0x10000 && r.IntN(40) == 0:
			fmt.Fprintf(&b, []string{`\u%04x`, `\u%04X`}[r.IntN(2)], c)
		case c == '/' && r.IntN(2) == 0:
			b.WriteString(`\/`)
		case strings.ContainsRune("<>&\u2028", c):
			b.WriteRune(c)
		default:
			b.Write(plain[1 : len(plain)-1])
		}
	}
	return `"` + b.String() + `"`
}

// Whatever the text and however it is escaped, a message that holds it is not passed over.
func TestANeedleIsInEveryMessageThatHoldsTheText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	found, passed := 0, 0
	for range 20_000 {
		text := someText(r, 24)
		m := []byte(fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%s}]}`, quoted(r, text)))
		query := someText(r, 6)
		if all := []rune(text); len(all) > 2 && r.IntN(2) == 0 {
			from := r.IntN(len(all) - 1)
			query = string(all[from : from+1+r.IntN(len(all)-from)])
			if r.IntN(2) == 0 {
				query = strings.ToUpper(query)
			}
		}
		wanted := searchable(query)
		if wanted == "" {
			continue
		}
		may := needleOf(wanted).mayBeIn(m)
		if _, ok := find(m, wanted); ok {
			found++
			require.True(t, may, "%q in %s", wanted, m)
		}
		if !may {
			passed++
		}
	}
	require.Greater(t, found, 3_000)
	require.Greater(t, passed, 3_000, "most other messages are passed over")
}

// Escapes of control characters, which terminal programs write, do not make a message worth decoding.
func TestNeedlesOfTexts(t *testing.T) {
	for _, c := range []struct {
		wanted, m string
		may       bool
	}{
		{"generator", `{"content":"a GENERATOR"}`, true},
		{"generator", `{"content":"generato r"}`, false},
		{"generator", `{"content":"\u001b[31mred\u001B[0m"}`, false},
		{"generator", `{"content":"gener\u0061tor"}`, true},
		{"a/b", `{"content":"none"}`, false},
		{"/", `{"content":"none"}`, true},
		{"漢字", `{"content":"漢字"}`, true},
		{"漢字", `{"content":"漢"}`, false},
		{"äh", `{"content":"ÄH"}`, true},
		{"x", `x`, true},
		{"xy", `x`, false},
		{"xy", ``, false},
	} {
		require.Equal(t, c.may, needleOf(c.wanted).mayBeIn([]byte(c.m)), "%q in %s", c.wanted, c.m)
	}
}
