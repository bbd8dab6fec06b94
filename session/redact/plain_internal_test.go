package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// plainPass is a pass without anything that makes it fast: it compares every keyword at every position, tries every
// pattern around its keywords, and builds every view by looking at every byte.
type plainPass struct{ *pass }

func plainScan(set *ruleSet, name, text string) []Finding {
	p := plainPass{&pass{set: set}}
	if name != "" {
		if verdict := judged(name, text); verdict != no {
			p.add(&view{text: text}, 0, len(text), namedFinding(verdict))
		}
	} else if len(text) < 4 {
		return nil
	}
	p.all(text, 0)
	return merged(p.found)
}

func (p plainPass) all(text string, nested int) {
	plain := &view{text: text}
	p.scan(plain, false)
	if v := unescaped(plain, new(viewer)); v != nil {
		p.scan(v, false)
		plain = v
	}
	p.encoded(plain, nested)
	if v := plainJoined(plain); v != nil {
		p.scan(v, true)
		p.encoded(v, nested)
	}
	if v := plainURLDecoded(plain); v != nil {
		p.scan(v, false)
		p.encoded(v, nested)
	}
}

func (p plainPass) scan(v *view, split bool) {
	p.v, p.split, p.nameEnd, p.blockEnd = v, split, 0, 0
	p.windows, p.opened = nil, nil
	for _, h := range plainHits(p.set, v.text) {
		p.word(h.word, h.at)
	}
	for _, i := range p.opened {
		r := &p.set.rules[i]
		for _, w := range p.windows[i] {
			for _, m := range r.compiled().FindAllStringSubmatchIndex(v.text[w.from:w.to], -1) {
				if from, to, ok := r.secret(v.text[w.from:w.to], m); ok && !inBlob(v.text, w.from+from) {
					p.add(v, w.from+from, w.from+to, Finding{Kind: r.kind, rank: i})
				}
			}
		}
	}
}

// plainHits compares every word at every position.
func plainHits(set *ruleSet, text string) (hits []hit) {
	folded := lower(text)
	for word, w := range set.keywords {
		for at := 0; ; at++ {
			n := strings.Index(folded[at:], w)
			if n < 0 {
				break
			}
			at += n
			hits = append(hits, hit{word, at, at + len(w)})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.at, b.at)) })
	return hits
}

func (p plainPass) encoded(v *view, nested int) {
	for from := 0; from < len(v.text); from++ {
		to := from
		for to < len(v.text) && isWord[v.text[to]] {
			to++
		}
		if to-from >= leastEncoded {
			p.lookInto(v, from, to, nested)
		}
		from = to
	}
}

func (p plainPass) lookInto(v *view, from, to, nested int) {
	if to-from > mostEncoded || p.decode(v, from, to, nested) {
		return
	}
	word := v.text[from:to]
	if !strings.ContainsAny(word, "/=.~+-_") {
		p.doubt(v, from, to)
		return
	}
	for i := 0; i < len(word); {
		n := strings.IndexAny(word[i:], "/=.~")
		if n < 0 {
			n = len(word) - i
		}
		if n >= leastEncoded {
			end := i + n
			for end < len(word) && word[end] == '=' {
				end++
			}
			if !p.decode(v, from+i, from+end, nested) && len(word) <= mostDoubtful {
				p.doubt(v, from+i, from+i+n)
			}
		}
		i += n + 1
	}
}

func (p plainPass) decode(v *view, from, to, nested int) bool {
	text, ok := plainlyDecoded(v.text[from:to])
	if !ok || nested == mostNested {
		return ok
	}
	inner := plainPass{&pass{set: p.set}}
	inner.all(text, nested+1)
	for _, f := range inner.found {
		p.add(v, from, to, Finding{Kind: f.Kind, Doubtful: f.Doubtful, rank: f.rank})
	}
	return true
}

func plainlyDecoded(word string) (text string, ok bool) {
	for len(word) > 0 && (word[len(word)-1] == '=' || word[len(word)-1] == '.') {
		word = word[:len(word)-1]
	}
	if len(word) >= 2*leastEncoded && len(word)%2 == 0 {
		if b, err := hex.DecodeString(word); err == nil && isText(b) {
			return string(b), true
		}
	}
	if len(word)%4 == 1 {
		word = word[:len(word)-1]
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(word, "-_") {
		encoding = base64.RawURLEncoding
	}
	head, err := encoding.DecodeString(word[:min(len(word), 32)&^3])
	if err != nil || !isText(head) && !isWide(head) {
		return "", false
	}
	b, err := encoding.DecodeString(word)
	if err != nil {
		return "", false
	}
	if isWide(b) {
		return narrow(b), true
	}
	return string(b), isText(b)
}

func plainJoined(of *view) *view {
	var w viewer
	text := of.text
	for i := 0; i < len(text); {
		at := i
		i++
		if !mayJoin[text[at]] || at < w.done {
			continue
		}
		from, to, ok := at, 0, false
		if text[at] == '\n' {
			from, to, ok = wrap(text, at)
		} else {
			to, ok = concatenation(text, at)
		}
		if ok && from >= w.done {
			w.same(text, from)
			w.drop(to)
			if text[at] == '\n' {
				w.soft = append(w.soft, len(w.text))
			}
			i = to
		}
	}
	if w.seams == nil {
		return nil
	}
	return w.view(of)
}

func plainURLDecoded(of *view) *view {
	var w viewer
	text := of.text
	encoded := strings.Contains(text, "://") && strings.Contains(text, "+")
	if !encoded && !strings.ContainsAny(text, "%&") {
		return nil
	}
	for i := 0; i < len(text); {
		c, size, ok := byte(0), 0, false
		switch text[i] {
		case '%':
			c, size, ok = hexEscape(text[i:], 3)
			encoded = encoded || ok
		case '&':
			c, size, ok = entity(text[i:])
			encoded = encoded || ok
		case '+':
			c, size, ok = ' ', 1, true
		}
		if !ok {
			i++
			continue
		}
		w.same(text, i)
		w.put(c, size)
		i += size
	}
	if !encoded {
		return nil
	}
	return w.view(of)
}

// requirePlain requires that a scanner finds what the plain pass finds.
func requirePlain(t *testing.T, s *Scanner, name, text string) {
	t.Helper()
	var got []Finding
	if name == "" {
		got = s.Scan(text)
	} else {
		got = s.Named(name, text)
	}
	require.Equal(t, plainScan(s.rules(), name, text), got, "%q", text)
}

// compared is a scanner with keys of the user: short and long ones, and one that isn't text.
func compared() *Scanner {
	return NewScanner("the-users-own-key-1", "\xff\xfe\xfd\xfc\xfb\xfa", "aaaaaa", strings.Repeat("Ab1+", 40))
}

// FuzzScanIsPlain compares the scanner with the plain pass over arbitrary texts.
func FuzzScanIsPlain(f *testing.F) {
	for _, text := range []string{"", "password=q7Zp1Lw9Xk2", "a'\r\n", "AKIA", "xox\\u0062-1", "https://a+b:c%41d@e", "aaaaaaa", "key: &quot;A1b2C3d4E5f6&quot;"} {
		f.Add(text, "api_key")
	}
	s := compared()
	f.Fuzz(func(t *testing.T, text, name string) {
		requirePlain(t, s, "", text)
		if name != "" && text != "" {
			requirePlain(t, s, name, text)
		}
	})
}

// The scanner finds exactly what the plain pass finds: in vectors, in parts of them, one behind the other, and in
// noise made of what the patterns and the views are made of.
func TestScanFindsWhatAPlainPassFinds(t *testing.T) {
	t.Parallel()
	s := compared()
	vectors := readVectors(t)
	r := rand.New(rand.NewPCG(46, 1))
	for i, v := range vectors {
		if i%15 == 0 {
			requirePlain(t, s, "", v.text)
		}
	}
	for range 60 {
		requirePlain(t, s, "", mixture(r, s.rules(), vectors))
	}
	for range 30 {
		requirePlain(t, s, "password", mixture(r, s.rules(), vectors))
	}
}

// noise are pieces that views and patterns look at.
var noise = []string{
	"\n", "\r\n", "\"", "'", "`", "\" + \"", "' '", "\\n", "\\\"", "\\\\", "\\u0041", "\\x3d", "\\\n  +", "%41", "%", "&amp;", "&", "+", "://", "=", ": ", " ", "\t", "é", "\xff", "ſ", "K",
	"password", "token", "the-users-own-key-1", "aaaaaaaa", "A1b2C3d4", "q7Zp1Lw9Xk2", "0123456789abcdef", "cGFzc3dvcmQ9aHVudGVyMjI=", "70617373776f72643d71375a70314c77", Mark,
}

// mixture is a text of noise, keywords and parts of vectors.
func mixture(r *rand.Rand, set *ruleSet, vectors []vector) string {
	var b strings.Builder
	for range 1 + r.IntN(40) {
		switch r.IntN(5) {
		case 0:
			text := vectors[r.IntN(len(vectors))].text
			from := r.IntN(len(text))
			b.WriteString(text[from : from+r.IntN(len(text)-from)+1])
		case 1:
			text := vectors[r.IntN(len(vectors))].text
			at := r.IntN(len(text))
			b.WriteString(text[:at] + noise[r.IntN(len(noise))] + text[at:])
		case 2:
			w := set.keywords[r.IntN(len(set.keywords))]
			if r.IntN(2) == 0 {
				w = strings.ToUpper(w)
			}
			b.WriteString(w)
		default:
			b.WriteString(noise[r.IntN(len(noise))])
		}
	}
	return b.String()
}

// The automaton finds the words that comparing all words finds, in their order. Only a word whose case no use accepts may
// be missing.
func TestTheAutomatonFindsEveryWord(t *testing.T) {
	t.Parallel()
	set := compared().rules()
	vectors := readVectors(t)
	r := rand.New(rand.NewPCG(46, 2))
	accepted := func(text string, hits []hit) (kept []hit) {
		for _, h := range hits {
			if slices.ContainsFunc(set.uses[h.word], func(u use) bool { return u.exact == "" || text[h.at:h.end] == u.exact }) {
				kept = append(kept, h)
			}
		}
		return kept
	}
	found := 0
	for range 200 {
		text := mixture(r, set, vectors)
		got := set.words.find(text, nil)
		require.Equal(t, accepted(text, plainHits(set, text)), accepted(text, got), "%q", text)
		found += len(got)
	}
	require.Greater(t, found, 1000)
}

// What a pattern needs is in every text that it matches.
func TestEveryMatchHasWhatItsPatternNeeds(t *testing.T) {
	t.Parallel()
	checked := 0
	for i := range allRules().rules {
		rule := &allRules().rules[i]
		if rule.needs().n >= leastNeed {
			checked++
		}
		draw := &drawing{r: rand.New(rand.NewPCG(uint64(i), 46))}
		for range 20 {
			text, _ := draw.match(rule)
			for _, m := range rule.compiled().FindAllString(text, -1) {
				require.True(t, rule.needs().isIn(m), "%s %q", rule.pattern, m)
				require.True(t, rule.needs().isIn("x"+m+" "), "%s %q", rule.pattern, m)
			}
		}
	}
	require.Greater(t, checked, 200, "few patterns are passed over early")
}

// The need of a pattern, and texts with and without it.
func TestNeeds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern string
		n       int
		with    []string
		without []string
	}{
		{`[a-f]{8}`, 8, []string{"abcdefab", "-abcdefabc", "x abcdefab"}, []string{"", "abcdefa", "abcd-efabcde", "abcdefg"}},
		{`(?i)[k]{6}`, 6, []string{"kKkKkK", "KKKKKK"}, []string{"kkkkk"}},
		{`(?i)kelvin`, 6, []string{"Kelvin", "ſkelvin"}, []string{"kelvi"}},
		{`(?:[0-9]{10}|[a-z]{7})x?`, 7, []string{"0000000000", "aaaaaaa"}, []string{"AAAAAAAAAAAA"}},
		{`(?:[0-9]{10}|y)`, 1, []string{""}, nil},
		{`[0-9]*`, 0, []string{""}, nil},
		{`(?:[a-c]{7})?`, 0, []string{""}, nil},
		{`(?:abcdefg){2,3}`, 7, []string{"abcdefg"}, []string{"abcdef"}},
		{`(?s).{30}`, 0, []string{""}, nil},
	} {
		n := needed(tc.pattern)()
		require.Equal(t, tc.n, n.n, tc.pattern)
		for _, text := range tc.with {
			require.True(t, n.isIn(text), "%s %q", tc.pattern, text)
		}
		for _, text := range tc.without {
			require.False(t, n.isIn(text), "%s %q", tc.pattern, text)
		}
	}
}
