package redact

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// rule is a kind of secret that is recognized by its form. pattern is only tried around a
// keyword: it may begin at most [before] bytes before one. A keyword without capital letters
// occurs in any case. group is the part of a match that is the secret; 0 means the first group
// that matched, or all. A match whose entropy is less than entropy bits per byte is rejected.
type rule struct {
	kind     string
	keywords []string
	pattern  string
	group    int
	entropy  float64
	check    func(secret string) bool // rejects matches of the pattern; may be nil
	run      int                      // if not 0, the keyword begins a word that continues for so many bytes

	compiled func() *regexp.Regexp
	needs    func() *need
}

// ruleSet is all rules with the automaton that finds their keywords.
type ruleSet struct {
	rules []rule
	words *automaton
	uses  [][]use // by word

	keywords []string // by word, in lower case
}

// use is a purpose of a keyword.
type use struct {
	what  purpose
	rule  int     // for aRule
	exact string  // the case that the keyword must have; "" for any
	found Finding // for aKnown
}

type purpose uint8

const (
	aRule purpose = iota
	aName
	aBlock
	aKnown
)

// allRules is compiled at its first use. A pattern is compiled when its keyword first occurs.
var allRules = sync.OnceValue(func() *ruleSet { return newRuleSet(nil) })

func newRuleSet(known map[string]Finding) *ruleSet {
	s := &ruleSet{rules: slices.Concat(ownRules(), gitleaks)}
	index := map[string]int{}
	var words []string
	add := func(word string, u use) {
		folded := lower(word)
		at, ok := index[folded]
		if !ok {
			at = len(words)
			index[folded] = at
			words, s.uses = append(words, folded), append(s.uses, nil)
		}
		if folded != word {
			u.exact = word
		}
		s.uses[at] = append(s.uses[at], u)
	}
	for i := range s.rules {
		r := &s.rules[i]
		r.compiled, r.needs = compiled(r.pattern), needed(r.pattern)
		for _, k := range r.keywords {
			add(k, use{what: aRule, rule: i})
		}
	}
	for _, w := range nameWords {
		add(w, use{what: aName})
	}
	add(blockMark, use{what: aBlock})
	for _, w := range slices.Sorted(maps.Keys(known)) {
		add(w, use{what: aKnown, exact: w, found: known[w]})
	}
	s.keywords, s.words = words, newAutomaton(words, s.forms())
	return s
}

// forms returns the spellings that the uses of each word accept; nil: all.
func (s *ruleSet) forms() [][]string {
	forms := make([][]string, len(s.uses))
	for i, uses := range s.uses {
		exact := make([]string, 0, len(uses))
		for _, u := range uses {
			exact = append(exact, u.exact)
		}
		if !slices.Contains(exact, "") {
			forms[i] = exact
		}
	}
	return forms
}

// patterns caches the compiled patterns, for the rule sets that know further words.
var patterns sync.Map // pattern → func() *regexp.Regexp

func compiled(pattern string) func() *regexp.Regexp {
	f, _ := patterns.LoadOrStore(pattern, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) }))
	return f.(func() *regexp.Regexp) //nolint:errcheck // nothing else is stored
}

// secret returns the part of a match that is the secret.
func (r *rule) secret(text string, match []int) (from, to int, ok bool) {
	from, to = match[0], match[1]
	if r.group > 0 {
		from, to = match[2*r.group], match[2*r.group+1]
	} else {
		for i := 2; i < len(match); i += 2 {
			if match[i] >= 0 && match[i] < match[i+1] {
				from, to = match[i], match[i+1]
				break
			}
		}
	}
	if from < 0 || from == to {
		return 0, 0, false
	}
	s := text[from:to]
	if strings.Contains(s, Mark) || r.entropy > 0 && entropy(s) < r.entropy || r.check != nil && !r.check(s) {
		return 0, 0, false
	}
	return from, to, true
}

// entropy is the Shannon entropy of the bytes of s in bits.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// lower is s with small letters for those of ASCII, byte for byte.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = fold(c)
	}
	return string(b)
}

func fold(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// begins reports whether a key of the rule may begin with the keyword text[from:to].
func (r *rule) begins(text string, from, to int) bool {
	if from > 0 && isLetter[text[from-1]] || len(text)-to < r.run {
		return false
	}
	for i := range r.run {
		if !isWord[text[to+i]] {
			return false
		}
	}
	return true
}

var (
	isLetter = byteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
	isBlob   = byteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/\r\n")
)

// inBlob reports whether text[at] is in the middle of base64, such as an image, in which
// any string may occur by chance.
func inBlob(text string, at int) bool {
	const least = 100
	if at < least {
		return false
	}
	for i := at - least; i < at; i++ {
		if !isBlob[text[i]] {
			return false
		}
	}
	return true
}
