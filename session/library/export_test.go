package library

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"time"

	"github.com/spf13/afero"
)

// Names that only tests of this package use.
const (
	NoMessages = noMessages

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

// SealListCache corrects the checksums of a cache of lists with one block, as far as there are
// places for them; see package rows.
func SealListCache(content []byte) []byte {
	const magic, head, row, atPlace, atSum, atLength = len("xcsh-ls list 3\n"), 20, 64, 48, 52, 56
	if len(content) < magic+head {
		return content
	}
	sum := func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
	content = slices.Clone(content)
	block := content[magic:]
	number := func(b []byte) int { return int(binary.LittleEndian.Uint32(b)) }
	rows := head + number(block[8:])
	texts := rows + row*number(block[16:])
	if texts > len(block) {
		return content
	}
	for r := block[rows:texts]; len(r) > 0; r = r[row:] {
		from := texts + number(r[atPlace:])
		if to := from + number(r[atLength:])&(1<<20-1); to <= len(block) {
			binary.LittleEndian.PutUint32(r[atSum:], sum(block[from:to]))
		}
	}
	binary.LittleEndian.PutUint32(block[4:], sum(block[8:texts]))
	return content
}

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

// SetLargeFile changes the size from which on sessions are described by means of their index. It returns what restores it.
func SetLargeFile(size int64) (restore func()) {
	old := largeFile
	largeFile = size
	return func() { largeFile = old }
}

// DescribeIndexed describes a session by means of its index. ok is false if it is to be read by lines.
func (f Finder) DescribeIndexed(ctx context.Context, path string) (i Info, ok bool) {
	file, err := f.Fs.Stat(path)
	if err != nil {
		return Info{}, false
	}
	at := fileAt(path, f.rootOf(path), file)
	s, ok, err := (&indexes{&f, func() bool { return ctx.Err() != nil }}).describe(at, nil)
	if !ok || err != nil {
		return Info{}, false
	}
	return (&describer{}).info(at, s), true
}

// DescribeByLines describes a session by reading its lines.
func (f Finder) DescribeByLines(path string) (Info, error) {
	file, err := f.Fs.Stat(path)
	if err != nil {
		return Info{}, err
	}
	return (&describer{fs: f.Fs}).describe(fileAt(path, f.rootOf(path), file), nil)
}

// TimeAgo exports timeAgo to tests.
func TimeAgo(t, now time.Time) string { return timeAgo(t, now) }

// IsReserved reports whether a slug is reserved, in the two ways in which that is determined.
func IsReserved(slug string) (fast, slow bool) { return isReserved(slug), reserved.MatchString(slug) }
