package redact

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Finding is a secret in a text, or a possible one.
type Finding struct {
	From, To int    // its position
	Kind     string // a name for display
	Doubtful bool   // not certain enough to replace without asking

	rank int // the smaller rank determines the kind of two that overlap
}

// The ranks after those of the rules, which are their numbers.
const (
	rankKnown = -1
	rankBlock = 1000 + iota
	rankNamed
	rankLearned
	rankDoubtful
)

// Scanner finds secrets. It is safe for concurrent use. The zero value has no secrets of the
// user.
type Scanner struct {
	set   *ruleSet
	known map[string]Finding
	once  sync.Once
}

// NewScanner returns a scanner that also finds the texts in known, which are secrets of the user.
// Texts that are too short are ignored.
func NewScanner(known ...string) *Scanner {
	s := &Scanner{known: map[string]Finding{}}
	for _, text := range known {
		if len(text) >= leastKnown {
			s.known[text] = Finding{Kind: "known", rank: rankKnown}
		}
	}
	return s
}

// Learned returns a scanner that also finds texts that s found elsewhere in a document, given
// with their kinds.
func (s *Scanner) Learned(texts map[string]string) *Scanner {
	learned := &Scanner{known: map[string]Finding{}}
	for text, kind := range texts {
		learned.known[text] = Finding{Kind: kind, rank: rankLearned}
	}
	maps.Copy(learned.known, s.known)
	return learned
}

// IsLearnable reports whether a secret can be recognized when it stands alone.
func IsLearnable(secret string) bool {
	const most = 64
	f := featuresOf(secret)
	return len(secret) >= 8 && len(secret) <= most && f.digits > 0 && f.letters > 1 && f.spaces == 0 &&
		!strings.ContainsAny(secret, "\\\"") && entropy(secret) > 2.5
}

// leastKnown is the length of the shortest text that may be a secret of the user. A shorter one
// would be found in every word.
const leastKnown = 6

func (s *Scanner) rules() *ruleSet {
	s.once.Do(func() {
		if s.set = allRules(); len(s.known) > 0 {
			s.set = newRuleSet(s.known)
		}
	})
	return s.set
}

// Scan returns the findings in text, in order and without overlaps.
func (s *Scanner) Scan(text string) []Finding {
	if len(text) < 4 {
		return nil
	}
	p := newPass(s.rules())
	p.all(text, 0)
	return p.done()
}

// Named returns the findings in text, which is the value of name in some structure.
func (s *Scanner) Named(name, text string) []Finding {
	p := newPass(s.rules())
	if verdict := judged(name, text); verdict != no {
		p.add(&view{text: text}, 0, len(text), namedFinding(verdict))
	}
	p.all(text, 0)
	return p.done()
}

// mostNested is the maximum depth of nested base64.
const mostNested = 2

// all scans text in every form.
func (p *pass) all(text string, nested int) {
	p.plain = view{text: text}
	plain := &p.plain
	p.scan(plain, false)
	if v := unescaped(plain, &p.viewers[0]); v != nil {
		p.scan(v, false)
		plain = v
	}
	p.encoded(plain, nested)
	if v := joined(plain, &p.viewers[1]); v != nil {
		p.scan(v, true)
		p.encoded(v, nested)
	}
	if v := urlDecoded(plain, &p.viewers[1]); v != nil {
		p.scan(v, false)
		p.encoded(v, nested)
	}
}

// merged sorts findings and merges overlapping ones. A finding that overlaps a secret is
// not doubtful.
func merged(found []Finding) []Finding {
	if len(found) == 0 {
		return nil
	}
	byPlace := func(a, b Finding) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.rank, b.rank)) }
	slices.SortStableFunc(found, byPlace)
	var sure, doubtful []Finding
	for _, f := range found {
		if f.Doubtful {
			doubtful = appendMerged(doubtful, f)
		} else {
			sure = appendMerged(sure, f)
		}
	}
	if doubtful == nil {
		return sure
	}
	at := 0
	all := slices.Clone(sure)
	for _, f := range doubtful {
		for at < len(sure) && sure[at].To <= f.From {
			at++
		}
		if at == len(sure) || f.To <= sure[at].From {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, byPlace)
	return all
}

func appendMerged(all []Finding, f Finding) []Finding {
	if n := len(all); n > 0 && f.From < all[n-1].To {
		last := &all[n-1]
		last.To = max(last.To, f.To)
		if f.rank < last.rank {
			last.Kind, last.rank = f.Kind, f.rank
		}
		return all
	}
	return append(all, f)
}

// Mark begins the replacement of a secret.
const Mark = "‹redacted"

// Replacement is the text that replaces a secret.
func Replacement(kind string) string { return Mark + " " + kind + "›" }

// Replace returns text with a replacement for each finding.
func Replace(text string, found []Finding) string {
	var out strings.Builder
	done := 0
	for _, f := range found {
		out.WriteString(text[done:f.From])
		out.WriteString(Replacement(f.Kind))
		done = f.To
	}
	out.WriteString(text[done:])
	return out.String()
}
