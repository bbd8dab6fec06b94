package session

import (
	"io"

	"github.com/spf13/afero"
)

// Names that only tests of this package use.
const (
	TypeServiceTier      = typeServiceTier
	TypeMCPToolSelection = typeMCPToolSelection
	TypeTTSRInjection    = typeTTSRInjection
	TypeContextEdit      = typeContextEdit
	TypeResetBoundary    = typeResetBoundary

	MalformedLine  = malformedLine
	TornTail       = tornTail
	MissingNewline = missingNewline
	ExtraValue     = extraValue
	ByteOrderMark  = byteOrderMark
	MissingBlob    = missingBlob
	LineTooLong    = lineTooLong

	MaxPersistChars  = maxPersistChars
	TruncationNotice = truncationNotice
)

// BlobDir exports blobDir to tests.
type BlobDir = blobDir

// CleanDescription exports cleanDescription to tests.
func CleanDescription(s string) string { return cleanDescription(s) }

// Load is [Store.Load] of a store without roots.
func Load(fsys afero.Fs, path string) (*Document, error) { return load(fsys, path, nil) }

// LoadAs is [Load] for a file whose dialect is known.
func LoadAs(fsys afero.Fs, path string, dialect *Dialect) (*Document, error) {
	return load(fsys, path, dialect)
}

// Parse reads a session from memory, by the reader for files.
func Parse(content []byte) (*Document, error) {
	d := &Document{src: source{mem: content}}
	d.indexBytes(content)
	d.settle(nil)
	return d, d.headerFault()
}

// ContextProblems returns the problems that [BuildContext] reports.
func (d *Document) ContextProblems(leaf Leaf, blobs BlobSource) ([]Problem, error) {
	return d.contextProblems(leaf, blobs)
}

// LoadFile reads a session from an open file.
func LoadFile(f afero.File, path string) (*Document, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	d := &Document{path: path, info: info}
	_, err = d.read(f, info.Size(), nil)
	d.settle(nil)
	return d, err
}

// Path returns the path that the document was read from, "" for one in memory.
func (d *Document) Path() string { return d.path }

// Size returns the size of the file in bytes when it was read.
func (d *Document) Size() int64 { return d.tail.size }

// Title returns the display name.
func (l *Log) Title() (t Title) {
	_ = l.View(func(d *Document, _ Leaf) error { // it cannot fail
		t = d.Title()
		return nil
	})
	return t
}

// ScanValues exports the lenient reader to tests: it returns the raw values of a file.
func ScanValues(r io.Reader) (values [][]byte, problems []Problem, err error) {
	_, err = scanValues(r, func(v Value) {
		values = append(values, append([]byte(nil), v.Raw...))
	}, func(p Problem) { problems = append(problems, p) })
	return values, problems, err
}

// ScannedBytes returns the size and newline state the lenient reader saw.
func ScannedBytes(r io.Reader) (size int64, newline bool, err error) {
	end, err := scanValues(r, func(Value) {}, func(Problem) {})
	return end.size, end.newline, err
}

// Scanned is the result of the lenient reader for a file.
type Scanned struct {
	Values   []ScannedValue
	Problems []Problem
	Size     int64
	Newline  bool
}

// ScannedValue is a value, the line on which it begins and its position in the file.
type ScannedValue struct {
	Off       int64
	Line      int
	Raw, Role string
	Extra     bool
	Length    int
	Digested  bool
}

func (s *Scanned) emit(v Value) {
	s.Values = append(s.Values, ScannedValue{v.off, v.line, string(v.Raw), string(v.Env.Role), v.extra, v.length(), v.digested > 0})
}

func (s *Scanned) report(p Problem) { s.Problems = append(s.Problems, p) }

// ScanWhole returns the result of a scan without workers.
func ScanWhole(r io.Reader) (s Scanned, err error) {
	end, err := scanValues(r, s.emit, s.report)
	s.Size, s.Newline = end.size, end.newline
	return s, err
}

// ScanParallel returns the result of a scan with workers, in segments of about block bytes.
func ScanParallel(r io.ReadSeeker, workers, block int) (s Scanned, err error) {
	end, err := scanParallel(r, workers, block, s.emit, s.report)
	s.Size, s.Newline = end.size, end.newline
	return s, err
}

// HomeCell returns the function that maps an id of eight hex digits to the cell where its
// search begins, in a table of the given size.
func HomeCell(cells int) func(id uint32) uint32 {
	return func(id uint32) uint32 { return home(id, idMultiplier, cells) }
}

// Probes returns the number of cells visited when every id of the session is looked up
// once.
func Probes(d *Document) (visited int) {
	t := &d.tree.ids
	for at, c := range t.cells {
		if c.place != 0 {
			visited += 1 + (at-int(home(c.value, t.multiplier, len(t.cells))))&(len(t.cells)-1)
		}
	}
	return visited
}

// ScanHeld returns the result of a scan that holds every line. span is how far a value may extend
// past its first line.
func ScanHeld(r io.Reader, span int) (Scanned, error) {
	return scanWith(r, lineLimits{long: 1 << 40, keep: fileLimits.keep, span: span, value: maxValue})
}

// ScanLong returns the result of a scan that holds no line of more than long bytes, and of longer
// values the first keep bytes of each part.
func ScanLong(r io.Reader, long, keep, span int) (Scanned, error) {
	return scanWith(r, lineLimits{long: long, keep: keep, span: span, value: maxValue})
}

// ScanValuesUpTo returns the result of a scan that passes over values of more than value bytes.
func ScanValuesUpTo(r io.Reader, value int) (Scanned, error) {
	return scanWith(r, lineLimits{long: value, keep: 64, span: 64, value: value})
}

func scanWith(r io.Reader, l lineLimits) (s Scanned, err error) {
	scanner := lineScanner{src: r, emit: s.emit, report: s.report, budget: spanBudget, limits: l}
	end, err := scanner.run()
	s.Size, s.Newline = end.size, end.newline
	return s, err
}

// ScanLongParallel is [ScanLong] with workers, in segments of about block bytes.
func ScanLongParallel(r io.ReadSeeker, long, keep, span, workers, block int) (s Scanned, err error) {
	scanner := lineScanner{emit: s.emit, report: s.report, budget: spanBudget, limits: lineLimits{long: long, keep: keep, span: span, value: maxValue}}
	end, err := scanner.runParallel(r, workers, block)
	s.Size, s.Newline = end.size, end.newline
	return s, err
}

// LoadTailLong is [LoadTail] that holds no line of more than long bytes longer than necessary.
func LoadTailLong(fsys afero.Fs, path string, dialect *Dialect, long int) (Tail, bool, error) {
	return loadTail(fsys, path, dialect, nil, tailOptions{limits: lineLimits{long: long, keep: fileLimits.keep, value: maxValue}, block: 40})
}
