package redact

import (
	"regexp/syntax"
	"sync"
	"unicode"
	"unicode/utf8"
)

// need is what every match of a pattern contains: n successive bytes of a set. Most patterns end in a key of so many letters
// and digits, so that this is known to be missing around most keywords long before the pattern has been tried.
type need struct {
	set [256]bool
	n   int
}

// leastNeed is the length from which a need is worth checking.
const leastNeed = 6

// needs caches the needs of patterns.
var needs sync.Map // pattern → func() *need

func needed(pattern string) func() *need {
	f, _ := needs.LoadOrStore(pattern, sync.OnceValue(func() *need {
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			return &need{} // compiling it fails, too
		}
		n := needOf(re)
		return &n
	}))
	return f.(func() *need) //nolint:errcheck // nothing else is stored
}

// needOf returns the longest need of a pattern. Its n is 0 if none is known.
func needOf(re *syntax.Regexp) need {
	switch re.Op {
	case syntax.OpLiteral:
		return literalNeed(re)
	case syntax.OpCharClass:
		return need{classSet(re.Rune), 1}
	case syntax.OpCapture, syntax.OpPlus:
		return needOf(re.Sub[0])
	case syntax.OpRepeat:
		return repeatNeed(re)
	case syntax.OpConcat:
		var longest need
		for _, sub := range re.Sub {
			if n := needOf(sub); n.n > longest.n {
				longest = n
			}
		}
		return longest
	case syntax.OpAlternate:
		return anyNeed(re.Sub)
	default: // empty matches, any characters, what may be missing
		return need{}
	}
}

func literalNeed(re *syntax.Regexp) (all need) {
	for _, c := range re.Rune {
		ranges := []rune{c, c}
		if re.Flags&syntax.FoldCase != 0 {
			ranges = folded(c)
		}
		all = all.or(need{set: classSet(ranges)})
		all.n++
	}
	return all
}

func repeatNeed(re *syntax.Regexp) need {
	if re.Min == 0 {
		return need{}
	}
	sub := needOf(re.Sub[0])
	if re.Sub[0].Op == syntax.OpCharClass {
		sub.n = re.Min
	}
	return sub
}

// folded returns the ranges of c and the characters that are equal to it in another case.
func folded(c rune) []rune {
	ranges := []rune{c, c}
	for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
		ranges = append(ranges, f, f)
	}
	return ranges
}

// anyNeed is the need of a pattern that matches one of several.
func anyNeed(subs []*syntax.Regexp) need {
	all := needOf(subs[0])
	for _, sub := range subs[1:] {
		n := needOf(sub)
		least := min(all.n, n.n)
		all = all.or(n)
		all.n = least
	}
	return all
}

// or returns a need with the bytes of both, and the length of n.
func (n need) or(other need) need {
	for c, in := range other.set {
		n.set[c] = n.set[c] || in
	}
	return n
}

// classSet returns the bytes of the characters in ranges, each a pair of its first and its last. Other characters than those of ASCII
// are represented by all their bytes.
func classSet(ranges []rune) (set [256]bool) {
	for i := 0; i+1 < len(ranges); i += 2 {
		for c := ranges[i]; c <= min(ranges[i+1], utf8.RuneSelf-1); c++ {
			set[c] = true
		}
		if ranges[i+1] >= utf8.RuneSelf {
			for c := utf8.RuneSelf; c < len(set); c++ {
				set[c] = true
			}
		}
	}
	return set
}

// isIn reports whether text has what n describes.
func (n *need) isIn(text string) bool {
	if n.n < leastNeed {
		return true
	}
	for i := n.n - 1; i < len(text); {
		at := i
		for at > i-n.n && n.set[text[at]] {
			at--
		}
		if at == i-n.n {
			return true
		}
		i = at + n.n
	}
	return false
}
