package library

import (
	"cmp"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// Match says how a session fits the query of a list, the best first. The search for the
// words of a query ignores case; all of them must fit.
//
// Differs: the originals look for the letters of each word, in order, in the whole
// conversation. Over a long conversation almost any word fits so. Here letters are only
// looked for close together in the fields that a list shows of a session, words also in the
// conversation, and sessions that hold the words go first. The originals' score orders the sessions of
// each kind; for matches found without the conversation it is the score without the
// conversation.
type Match int

// The ways to fit.
const (
	unasked      Match = iota // there was no query
	matchWords                // id, title, working directory, first message and path hold every word
	matchText                 // they, the user's messages and the model's do
	MatchLetters              // each word, or its letters close together, is in id, title, directory, first message and path
)

// query is a parsed search.
type query struct{ words []queryWord }

type queryWord struct {
	lower  string // as searched for in the fields of a list
	folded string // as searched for in the conversation
	narrow string // as marked in a snippet
	units  units
	raw    rawWord
}

// parseQuery returns nil for a blank query.
func parseQuery(text string) *query {
	q := &query{}
	for w := range strings.FieldsSeq(text) {
		folded := foldCase(w)
		q.words = append(q.words, queryWord{strings.ToLower(w), folded, narrow(w), lowered(w), rawWordOf(folded)})
	}
	if len(q.words) == 0 {
		return nil
	}
	return q
}

// foldCase is strings.ToLower that does not map other letters to ASCII, so that ASCII
// letters can be searched in a file before it is decoded.
func foldCase(s string) string {
	const kelvin, dottedI = '\u212A', '\u0130'
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return strings.Map(func(r rune) rune {
		if r == kelvin || r == dottedI {
			return r
		}
		return unicode.ToLower(r)
	}, s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// byMatch orders the best match first.
func byMatch(a, b *found) int {
	return cmp.Or(cmp.Compare(a.info.Match, b.info.Match), cmp.Compare(a.score, b.score))
}

// search sets how a listed session fits the query; a session that does not fit is removed
// from the list.
func (w worker) search(i int) {
	l, r := w.listing, &w.found[i]
	if l.query == nil || !r.listed {
		return
	}
	told := strings.ToLower(joinFields(r.info.ID, r.info.Title, r.info.Cwd, r.info.FirstMessage, r.info.Path))
	missing := l.query.missingIn(told)
	if len(missing) == 0 {
		r.info.Match = matchWords
		r.score, _ = l.query.score(unitsOf(told)) // a text with a word has its letters
		return
	}
	said, err := l.query.hear(&w.d, *r.info, missing)
	if err != nil && !fault.Is(err, fault.NotFound) {
		r.err = err
	}
	if said.found() {
		r.info.Match, r.score = matchText, said.score(r.info.Path)
		r.info.Snippet, r.info.EntryID = said.snippet, said.entryID
		return
	}
	r.info.Match = MatchLetters
	if r.score, r.listed = l.query.score(unitsOf(told)); r.listed {
		r.listed = l.query.similar(told, missing)
	}
}

// similar reports whether the letters of each missing word are close together in a lower-cased text.
func (q *query) similar(text string, missing []int) bool {
	for _, i := range missing {
		if _, _, ok := closest(text, q.words[i].lower); !ok {
			return false
		}
	}
	return true
}

// shown are the texts of a session that a snippet may be from, the best first.
func shown(i *Info) []string { return []string{i.Title, i.FirstMessage, i.Cwd, i.Path, i.ID} }

// show says how a session fits, and sets its snippet unless that is from the conversation. Only the sessions of a page are
// shown.
func (q *query) show(o *found) {
	o.info.Fits = exactMatch
	switch o.info.Match {
	case matchWords:
		q.showWords(o)
	case MatchLetters:
		o.info.Fits = fuzzyMatch
		q.showSimilar(o)
	default:
	}
}

// showWords sets the snippet of a session whose shown texts contain every word: of the text with the most of them.
func (q *query) showWords(o *found) {
	i := o.info
	best, most := "", 0
	for _, text := range shown(i) {
		lower := strings.ToLower(text)
		if n := len(q.words) - len(q.missingIn(lower)); n > most {
			best, most = text, n
		}
	}
	i.Snippet = snippetOf(best, q.narrows())
	o.first = best == i.FirstMessage && best != i.Title
}

// showSimilar is showWords for a session that lacks words, but has something similar to them.
func (q *query) showSimilar(o *found) {
	i := o.info
	missing := q.missingIn(strings.ToLower(joinFields(shown(i)...)))
	for _, text := range shown(i) {
		for _, w := range missing {
			if i.Snippet = similarSnippet(text, q.words[w].narrow); i.Snippet != nil {
				o.first = text == i.FirstMessage && text != i.Title
				return
			}
		}
	}
}

func (q *query) narrows() []string {
	words := make([]string, len(q.words))
	for i := range q.words {
		words[i] = q.words[i].narrow
	}
	return words
}

// missingIn returns the words that a lower-cased text does not hold.
func (q *query) missingIn(text string) (missing []int) {
	for i := range q.words {
		if !strings.Contains(text, q.words[i].lower) {
			missing = append(missing, i)
		}
	}
	return missing
}

// score is the sum of the words' scores; ok is false when one does not fit.
func (q *query) score(text units) (total float64, ok bool) {
	for i := range q.words {
		score, ok := text.score(q.words[i].units)
		if !ok {
			return 0, false
		}
		total += score
	}
	return total, true
}

// hear looks for the missing words in the conversation of a session. A file whose bytes do
// not contain them is not decoded.
func (q *query) hear(d *describer, info Info, missing []int) (hearing, error) {
	var h hearing
	f, err := disk.Open(d.fs, info.Path)
	if err != nil {
		return h, disk.Fault("open", info.Path, err)
	}
	defer f.Close()
	likely, err := q.mayHold(f, info.Size, missing, d.stop)
	if err == nil && likely {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil || !likely {
		return h, disk.FaultOrNil("read", info.Path, err)
	}
	h = newHearing(q, info, missing)
	s := survey{}
	s.say = func(text string) { h.hear(text, s.entry) }
	_, err = s.scan(f, func() bool { return h.done() || d.stop() }, s.add)
	return h, disk.FaultOrNil("read", info.Path, err)
}

// hearing follows a conversation until every word was found. The zero value has found
// none.
type hearing struct {
	query   *query
	missing []string // folded words that were not found yet

	most    int      // words in the text of the snippet
	snippet *Snippet // of the text with the most words
	entryID string   // of its message

	scores []fuzzy
	began  bool
}

func newHearing(q *query, info Info, missing []int) hearing {
	h := hearing{query: q, began: true, scores: make([]fuzzy, len(q.words))}
	for i := range q.words {
		h.scores[i] = fuzzy{word: q.words[i].units, last: -1}
	}
	for _, i := range missing {
		h.missing = append(h.missing, q.words[i].folded)
	}
	h.walk(joinFields(info.ID, info.Title, info.Cwd, info.FirstMessage))
	return h
}

// hear searches the next text, which is of the entry with that JSON id.
func (h *hearing) hear(text string, entry []byte) {
	if !h.fits() {
		h.walk(" " + text)
	}
	left := h.missing[:0]
	folded, were := foldCase(text), len(h.missing)
	for _, word := range h.missing {
		if !strings.Contains(folded, word) {
			left = append(left, word)
		}
	}
	if h.missing = left; len(left) < were {
		h.note(text, folded, entry)
	}
}

// note takes the snippet from a text with a word that was missing, if no earlier one has as many words.
func (h *hearing) note(text, folded string, entry []byte) {
	n := 0
	for i := range h.query.words {
		if strings.Contains(folded, h.query.words[i].folded) {
			n++
		}
	}
	if n <= h.most {
		return
	}
	h.most, h.snippet = n, snippetOf(text, h.query.narrows())
	h.entryID, _ = rawjson.String(entry)
}

func (h *hearing) walk(text string) {
	part := lowered(text)
	for i := range h.scores {
		h.scores[i].walk(part)
	}
}

// fits reports whether the scores are settled: no later text changes them.
func (h *hearing) fits() bool {
	for i := range h.scores {
		if !h.scores[i].fits() {
			return false
		}
	}
	return true
}

func (h *hearing) found() bool { return h.began && len(h.missing) == 0 }

func (h *hearing) done() bool { return len(h.missing) == 0 && h.fits() }

// score is that of the words over all texts so far, which the path follows.
func (h *hearing) score(path string) (total float64) {
	if !h.fits() {
		h.walk(" " + path)
	}
	for i := range h.scores {
		total += h.scores[i].score
	}
	return total
}

// searchBlock is the number of bytes of a file that are searched at a time: few enough to
// stay in the processor's cache between reading and searching.
const searchBlock = 128 << 10

var searchBlocks = sync.Pool{New: func() any { return new([2 * searchBlock]byte) }}

// mayHold reports whether the first size bytes of a file may hold all of the missing
// words. Bytes appended since the file's size was read are left to the next search.
func (q *query) mayHold(f io.Reader, size int64, missing []int, stop func() bool) (bool, error) {
	var words []*rawWord
	overlap := 0 // bytes in which a word may have begun
	for _, i := range missing {
		if w := &q.words[i].raw; w.text != "" {
			words = append(words, w)
			overlap = max(overlap, len(w.text)-1)
		}
	}
	if overlap >= searchBlock {
		return true, nil // an unlikely query; correctness is enough
	}
	memory, _ := searchBlocks.Get().(*[2 * searchBlock]byte) // the pool holds nothing else
	defer searchBlocks.Put(memory)
	kept := 0 // bytes of the block before, in front of the next one
	for len(words) > 0 && size > 0 && !stop() {
		n, err := f.Read(memory[kept : kept+searchBlock])
		size -= int64(n)
		block := memory[:kept+n]
		left := words[:0]
		for _, w := range words {
			if !w.in(block) {
				left = append(left, w)
			}
		}
		words = left
		if err == io.EOF {
			break
		}
		if err != nil {
			return false, err
		}
		kept = min(overlap, len(block))
		copy(memory[:], block[len(block)-kept:])
	}
	return len(words) == 0, nil
}
