package library

import "github.com/spf13/afero"

// Names that only tests of this package use.
const (
	NoMessages = noMessages

	LostHeader = lostHeader
	LostCwd    = lostCwd
	LostPlace  = lostPlace

	MatchWords = matchWords
	MatchText  = matchText
)

// Candidate exports candidate to tests.
type Candidate = candidate

// DirNames exports dirNames to tests.
func DirNames(cwd, home, temp string, real func(string) (string, error)) []string {
	return dirNames(cwd, home, temp, real)
}

// WriteDirName exports writeDirName to tests.
func WriteDirName(cwd, home, temp string, real func(string) (string, error), existing []string) string {
	return writeDirName(cwd, home, temp, real, existing)
}

// FuzzyScore returns the score of one word of a query for a text.
func FuzzyScore(word, text string) (score float64, ok bool) {
	return lowered(text).score(lowered(word))
}

// QueryScore returns the score of a query for a text.
func QueryScore(query, text string) (score float64, ok bool) {
	q := parseQuery(query)
	if q == nil {
		return 0, true
	}
	return q.score(lowered(text))
}

// SealListCache makes a cache of listings whose checksum is right.
func SealListCache(body []byte) []byte { return sealListCache(body) }

// ListCacheBody is the inverse of SealListCache.
func ListCacheBody(content []byte) []byte { return content[cacheHead:] }

// FoldCase shows how a word and a conversation are compared.
func FoldCase(s string) string { return foldCase(s) }

// RawWordIn reports whether JSON may hold the word.
func RawWordIn(word string, b []byte) bool {
	w := rawWordOf(foldCase(word))
	return w.text == "" || w.in(b)
}

// ReadBreadcrumb exports readBreadcrumb to tests.
func ReadBreadcrumb(fsys afero.Fs, dir, terminalID string) (cwd, file string, ok bool) {
	return readBreadcrumb(fsys, dir, terminalID)
}
