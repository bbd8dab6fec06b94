package session

import (
	"io"

	"github.com/spf13/afero"
)

// ScanValues shows the lenient reader to tests: the raw values of a file.
func ScanValues(r io.Reader) (values [][]byte, problems []Problem, err error) {
	_, err = scanValues(r, func(v value) {
		values = append(values, append([]byte(nil), v.raw...))
	}, func(p Problem) { problems = append(problems, p) })
	return values, problems, err
}

// ScannedBytes returns the size and newline state the lenient reader saw.
func ScannedBytes(r io.Reader) (size int64, newline bool, err error) {
	end, err := scanValues(r, func(value) {}, func(Problem) {})
	return end.size, end.newline, err
}

// SyncAhead shows to tests the file under construction that is synced every step bytes.
func SyncAhead(f afero.File, step int64) (w io.Writer, finish func(error) error) {
	a := &syncAhead{f: f, step: step}
	return a, a.finish
}

// Scanned is what the lenient reader makes of a file.
type Scanned struct {
	Values   []ScannedValue
	Problems []Problem
	Size     int64
	Newline  bool
}

// ScannedValue is a value, the line on which it begins and its place in the file.
type ScannedValue struct {
	Off       int64
	Line      int
	Raw, Role string
	Extra     bool
}

func (s *Scanned) emit(v value) {
	s.Values = append(s.Values, ScannedValue{v.off, v.line, string(v.raw), string(v.env.Role), v.extra})
}

func (s *Scanned) report(p Problem) { s.Problems = append(s.Problems, p) }

// ScanWhole shows what is found without workers.
func ScanWhole(r io.Reader) (s Scanned, err error) {
	end, err := scanValues(r, s.emit, s.report)
	s.Size, s.Newline = end.size, end.newline
	return s, err
}

// ScanParallel shows what is found with workers, in segments of about block bytes.
func ScanParallel(r io.ReadSeeker, workers, block int) (s Scanned, err error) {
	end, err := scanParallel(r, workers, block, s.emit, s.report)
	s.Size, s.Newline = end.size, end.newline
	return s, err
}

// HomeCell shows where the search for an id of eight hex digits begins in a table of so
// many cells.
func HomeCell(cells int) func(id uint32) uint32 { return (&idTable{cells: make([]idCell, cells)}).home }

// Probes is how many cells are visited when every id of the session is looked up once.
func Probes(d *Document) (visited int) {
	t := &d.tree.ids
	for at, c := range t.cells {
		if c.place != 0 {
			visited += 1 + (at-int(t.home(c.value)))&(len(t.cells)-1)
		}
	}
	return visited
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
