package history

import (
	"strings"
	"unicode"
)

// The maximum length of a query.
const (
	maxQuery = 1024 // bytes
	maxTerms = 32
)

// query is a search query. A prompt must match all of it.
type query struct {
	match string   // an FTS5 expression; "" for none
	like  []string // texts to be found anywhere
	terms []string // all terms, for a search without an index

	common [][]string // phrases that a match must have, too, see fits
}

// parseQuery parses the text that a user typed: words divided by white space, each found where a
// word begins with it, none of them an operator.
//
// Differs: terms that the index cannot find are searched for in the texts themselves. The index
// knows a run of Chinese, Japanese or Korean characters by its beginning only, and signs not at
// all; the programs find nothing then.
func parseQuery(text string) (q query) {
	text = prefix(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD"), maxQuery)
	terms := strings.FieldsFunc(text, isSpace)
	q.terms = terms[:min(len(terms), maxTerms)]
	var match []string
	for _, term := range q.terms {
		switch {
		case strings.ContainsFunc(term, isRun):
			q.like = append(q.like, term)
		case strings.ContainsFunc(term, isIndexed):
			match = append(match, `"`+strings.ReplaceAll(term, `"`, `""`)+`"*`)
		}
	}
	if len(match) == 0 && len(q.like) == 0 {
		q.like = q.terms // only signs
	}
	q.match = strings.Join(match, " ")
	return q
}

// unindexed is the query without use of the index.
func (q query) unindexed() query { return query{like: q.terms, terms: q.terms} }

func (q query) empty() bool { return len(q.terms) == 0 }

// isIndexed reports whether the index's tokenizer makes words of r.
func isIndexed(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.Co) }

// isRun reports whether r is of a script that is written without blanks.
func isRun(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// likePattern is the pattern that finds text anywhere, with \ as the escape.
func likePattern(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}

// found reports whether a prompt that is in no index yet matches the query.
func (q query) found(prompt string) bool {
	prompt = strings.ToLower(prompt)
	for _, term := range q.terms {
		if !strings.Contains(prompt, strings.ToLower(term)) {
			return false
		}
	}
	return true
}
