package redact

import (
	"strings"
	"sync"
)

// pass is one scan of a text.
type pass struct {
	set    *ruleSet
	found  []Finding
	starts map[int]bool // where the certain findings begin

	plain   view      // the text
	viewers [2]viewer // of its other forms

	// Of the current view.
	v        *view
	split    bool // only findings that were split count
	hits     []hit
	windows  map[int][]window
	opened   []int // the rules with windows
	nameEnd  int   // names up to here were checked
	blockEnd int
}

// passes keeps the memory of scans, because most texts are short and have no findings.
var passes = sync.Pool{New: func() any { return new(pass) }}

func newPass(set *ruleSet) *pass {
	p := passes.Get().(*pass) //nolint:errcheck // nothing else is in the pool
	p.set = set
	return p
}

// mostKept is the number of hits whose memory is kept.
const mostKept = 1 << 12

// done returns the findings, merged, and keeps the memory of p for another scan.
func (p *pass) done() []Finding {
	found := merged(p.found)
	p.release()
	return found
}

func (p *pass) release() {
	if cap(p.hits) > mostKept || cap(p.found) > mostKept {
		return
	}
	if len(p.starts) > 0 {
		clear(p.starts)
	}
	p.found, p.plain, p.v, p.split = p.found[:0], view{}, nil, false
	passes.Put(p)
}

// window is a range in which a pattern is tried.
type window struct{ from, to int }

const (
	before     = 100  // size of a window before a keyword
	behind     = 400  // and after it, at least
	longestKey = 8192 // and at most, if a word is so long
)

// scan searches a view for secrets.
func (p *pass) scan(v *view, split bool) {
	p.v, p.split, p.nameEnd, p.blockEnd = v, split, 0, 0
	p.hits = p.set.words.find(v.text, p.hits[:0])
	for _, h := range p.hits {
		p.word(h.word, h.at)
	}
	for _, i := range p.opened {
		for _, w := range p.windows[i] {
			p.match(i, w)
		}
		p.windows[i] = p.windows[i][:0]
	}
	p.opened = p.opened[:0]
}

// word records a keyword at v.text[at:].
func (p *pass) word(word, at int) {
	length := p.set.words.lengths[word]
	for _, u := range p.set.uses[word] {
		if u.exact != "" && p.v.text[at:at+length] != u.exact {
			continue
		}
		switch u.what {
		case aRule:
			if r := &p.set.rules[u.rule]; r.run == 0 || r.begins(p.v.text, at, at+length) {
				p.open(u.rule, at)
			}
		case aName:
			p.name(at)
		case aBlock:
			p.block(at)
		case aKnown:
			p.add(p.v, at, at+length, u.found)
		}
	}
}

// open applies a rule around a keyword.
func (p *pass) open(rule, at int) {
	all := p.windows[rule]
	if n := len(all); n > 0 && at+behind/2 < all[n-1].to {
		return
	}
	w := window{max(0, at-before), wordEnd(p.v.text, min(len(p.v.text), at+behind))}
	if n := len(all); n > 0 && w.from <= all[n-1].to {
		all[n-1].to = w.to
		return
	}
	if p.windows == nil {
		p.windows = map[int][]window{}
	}
	if len(all) == 0 {
		p.opened = append(p.opened, rule)
	}
	p.windows[rule] = append(all, w)
}

// wordEnd returns the end of the word at text[i].
func wordEnd(text string, i int) int {
	for end := min(len(text), i+longestKey); i < end && isWord[text[i]]; i++ {
	}
	return i
}

func (p *pass) match(i int, w window) {
	r := &p.set.rules[i]
	text := p.v.text[w.from:w.to]
	if !r.needs().isIn(text) {
		return
	}
	for _, m := range r.compiled().FindAllStringSubmatchIndex(text, -1) {
		if from, to, ok := r.secret(text, m); ok && !inBlob(p.v.text, w.from+from) {
			p.add(p.v, w.from+from, w.from+to, Finding{Kind: r.kind, rank: i})
		}
	}
}

// add records a finding at v.text[from:to].
func (p *pass) add(v *view, from, to int, f Finding) {
	if strings.Contains(v.text[from:to], Mark) && f.rank != rankBlock {
		return
	}
	if p.split && !p.wasSplit(v, from, to) {
		return
	}
	f.From, f.To = v.span(from, to)
	p.found = append(p.found, f)
	if f.Doubtful {
		return
	}
	if p.starts == nil {
		p.starts = map[int]bool{}
	}
	p.starts[f.From] = true
}

// wasSplit reports whether a finding in a view of joined text is more than in the same view of
// the plain text: it crosses a seam, and the text after the seam belongs to it. A key that was
// found whole in front of a seam is not made longer by the first word of the next line.
func (p *pass) wasSplit(v *view, from, to int) bool {
	if !v.crosses(from, to) {
		return false
	}
	start, _ := v.span(from, to)
	seam := v.firstSeam(from)
	return !v.isSoft(seam) || !p.starts[start] || mixed(v.text[seam:to])
}

// continues reports whether the value of an assignment continues after a seam: in a string that
// is the sum of several, or because it was found already up to the end of its line.
func (p *pass) continues(a assignment) bool {
	start, _ := p.v.span(a.from, a.to)
	return a.quoted || !p.v.isSoft(p.v.firstSeam(a.from)) || p.starts[start]
}
