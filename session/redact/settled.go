package redact

import (
	"strings"
	"sync"
)

// span is a range of a text.
type span struct{ from, to int }

// Settled returns findings in text without those that lie in a replacement that an earlier pass left, so that redacting a text
// again changes nothing. A finding that contains a part of a replacement is extended to the whole.
//
// A replacement is only one of a known kind: a secret in other text that looks like one is found.
func Settled(text string, found []Finding) []Finding {
	marks := replacements(text)
	if len(marks) == 0 {
		return found
	}
	var settled []Finding
	at := 0
	for _, f := range found {
		for at < len(marks) && marks[at].to <= f.From {
			at++
		}
		f, inside := f.around(marks[at:])
		switch n := len(settled); {
		case inside:
		case n > 0 && f.From < settled[n-1].To:
			settled[n-1].To = max(settled[n-1].To, f.To)
		default:
			settled = append(settled, f)
		}
	}
	return settled
}

// around extends f to the marks that it overlaps. inside reports that it lies in one of them.
func (f Finding) around(marks []span) (extended Finding, inside bool) {
	for _, m := range marks {
		if f.To <= m.from {
			break
		}
		if m.from <= f.From && f.To <= m.to {
			return f, true
		}
		f.From, f.To = min(f.From, m.from), max(f.To, m.to)
	}
	return f, false
}

// replacements returns where [Replacement] stands in text.
func replacements(text string) (all []span) {
	for i := 0; ; {
		at := strings.Index(text[i:], Mark)
		if at < 0 {
			return all
		}
		from := i + at
		i = from + len(Mark)
		rest, ok := strings.CutPrefix(text[i:], " ")
		if !ok {
			continue
		}
		kind, _, ok := strings.Cut(rest[:min(len(rest), longestKind()+len("›"))], "›")
		if ok && kinds()[kind] {
			i = from + len(Replacement(kind))
			all = append(all, span{from, i})
		}
	}
}

// kinds are the kinds of all findings.
var kinds = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{"known": true, "private-key": true, "named": true, "high-entropy": true}
	for _, r := range allRules().rules {
		all[r.kind] = true
	}
	return all
})

// longestKind is the length of the longest of them.
var longestKind = sync.OnceValue(func() (n int) {
	for kind := range kinds() {
		n = max(n, len(kind))
	}
	return n
})
