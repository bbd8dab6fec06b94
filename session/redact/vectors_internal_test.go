package redact

import (
	"bufio"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite testdata/vectors.txt")

// vectorFile has texts that the rules were generated for. It is hexadecimal, backwards, so that other
// scanners have nothing to report. Each line is the kind of the rule, what is found, as
// KIND:FROM:TO separated by commas, and the text.
const vectorFile = "testdata/vectors.txt"

// vectorsPerRule is how many texts are generated for a rule; more for one with alternatives.
const vectorsPerRule = 3

// vector is a text with a secret.
type vector struct{ rule, found, text string }

// Every rule finds its secrets, exactly. The texts were generated from the patterns once and are
// kept, so that a pattern that loses a form fails.
func TestEveryRuleFindsItsVectors(t *testing.T) {
	t.Parallel()
	if *update {
		require.NoError(t, os.WriteFile(vectorFile, []byte(generated(t)), 0o644))
	}
	vectors := readVectors(t)
	have := map[string]int{}
	scanner := NewScanner()
	for _, v := range vectors {
		have[v.rule]++
		require.Equal(t, v.found, scanned(scanner, v.text), "rule %s", v.rule)
	}
	for i := range allRules().rules {
		r := &allRules().rules[i]
		require.GreaterOrEqual(t, have[r.kind], vectorsPerRule, "rule %s needs vectors: go test ./session/redact -update", r.kind)
	}
	require.Greater(t, len(vectors), 600)
}

// scanned returns what a scanner finds in a text.
func scanned(s *Scanner, text string) string {
	var found []string
	for _, f := range s.Scan(text) {
		found = append(found, fmt.Sprintf("%s:%d:%d", f.Kind, f.From, f.To))
	}
	return strings.Join(found, ",")
}

func readVectors(t *testing.T) (list []vector) {
	t.Helper()
	f, err := os.Open(vectorFile)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v vector
		var text string
		n, err := fmt.Sscan(lines.Text(), &v.rule, &v.found, &text)
		require.NoError(t, err, "%d fields", n)
		raw, err := hex.DecodeString(reversed(text))
		require.NoError(t, err)
		v.text = string(raw)
		list = append(list, v)
	}
	require.NoError(t, lines.Err())
	return list
}

func reversed(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// generated is a new vector file.
func generated(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	scanner := NewScanner()
	for i := range allRules().rules {
		r := &allRules().rules[i]
		draw := &drawing{r: rand.New(rand.NewPCG(uint64(i), 1))}
		made := 0
		for tries := 0; tries < 20000 && made < vectorsPerRule+2*strings.Count(r.pattern, "|"); tries++ {
			text, ok := draw.match(r)
			if !ok {
				continue
			}
			found := scanned(scanner, text)
			if found == "" {
				continue // something around it makes it no secret, such as an image
			}
			fmt.Fprintln(&out, r.kind, found, reversed(hex.EncodeToString([]byte(text))))
			if made++; made == 9 {
				break
			}
		}
		require.GreaterOrEqual(t, made, vectorsPerRule, "%s %s", r.kind, r.pattern)
	}
	return out.String()
}

// drawing draws texts that match patterns.
type drawing struct{ r *rand.Rand }

// match draws a text in which a rule finds a secret by itself.
func (d *drawing) match(r *rule) (text string, ok bool) {
	pattern, err := syntax.Parse(r.pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	d.write(&b, pattern.Simplify())
	text = "\n" + b.String() + "\n"
	if !r.hasKeyword(text) {
		text = "\n" + r.keywords[d.r.IntN(len(r.keywords))] + text
	}
	m := r.compiled().FindStringSubmatchIndex(text)
	if m == nil {
		return "", false
	}
	_, _, ok = r.secret(text, m)
	return text, ok
}

// hasKeyword reports whether the rule is tried in a text.
func (r *rule) hasKeyword(text string) bool {
	return slices.ContainsFunc(r.keywords, func(k string) bool {
		return strings.Contains(text, k) || k == lower(k) && strings.Contains(lower(text), k)
	})
}

// write writes a text that matches re, as far as its anchors allow.
func (d *drawing) write(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			if re.Flags&syntax.FoldCase != 0 && d.r.IntN(4) == 0 {
				c = unicode.ToLower(c)
			}
			b.WriteRune(c)
		}
	case syntax.OpCharClass:
		b.WriteRune(d.rune(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte(' ' + byte(d.r.IntN(95)))
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			d.write(b, sub)
		}
	case syntax.OpAlternate:
		d.write(b, re.Sub[d.r.IntN(len(re.Sub))])
	case syntax.OpQuest:
		if d.r.IntN(2) == 0 {
			d.write(b, re.Sub[0])
		}
	case syntax.OpStar, syntax.OpPlus:
		for range d.r.IntN(4) + int(re.Op-syntax.OpStar) {
			d.write(b, re.Sub[0])
		}
	default: // anchors
	}
}

// rune draws one of a class, of ASCII if the class has any.
func (d *drawing) rune(class []rune) rune {
	var of []rune
	for i := 0; i < len(class); i += 2 {
		for c := class[i]; c <= min(class[i+1], unicode.MaxASCII); c++ {
			if c >= ' ' && c < unicode.MaxASCII {
				of = append(of, c)
			}
		}
	}
	if len(of) == 0 {
		return class[0]
	}
	return of[d.r.IntN(len(of))]
}
