package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/internal/filesums"
	"github.com/xcsh-ls/xcsh-ls/session/internal/own"
)

// smallFile is the size in bytes up to which a file's content is kept in memory. For a
// larger file only the index is kept; payloads are read on demand. Only tests change it.
var smallFile int64 = 8 << 20

// Document is one session file as read: its header, an index of its entries and the
// problems found. Reading never changes the file. Only [Log] changes a Document; a Document
// that is not part of a Log is safe for concurrent use.
type Document struct {
	path     string
	header   Header
	title    Title  // see Title
	named    bool   // there is a session_info
	piName   string // of the newest session_info
	hasSlot  bool
	dialect  Dialect
	tree     tree
	src      source
	tail     tail
	end      []byte      // the last bytes of the file, at most endBytes
	info     os.FileInfo // of the file that was read; nil for bytes without one
	headerAt span        // of the header line's value in the file
	problems []Problem
	settled  int                 // how many of them were found while reading
	found    map[ProblemKind]int // how many of each kind, while reading
	marks    DialectMarks
	values   int32 // JSON values met, the header being the first

	tally tally

	spine    atomic.Pointer[spine]   // of the leaf requested last
	outlined atomic.Pointer[outline] // of the context requested last
	ompShown atomic.Pointer[ompShown]
	labelled atomic.Pointer[labelSlots]

	// For the index file.
	stamp   disk.Stamp    // of the file when it was read …
	rested  bool          // … which identifies its content
	sums    filesums.Sums // of the bytes that were read
	scanned findings      // of the scan, forks included
	indexed int64         // how many bytes of the file an index file described; 0: it was read whole
	kept    int64         // how many bytes the index files describe now, as far as is known

	// comparing compares those bytes with the sums while the document is in use already; nil if they are the same. Only
	// a Log has such a document.
	comparing *filesums.Comparison
}

// findings are what a scan found beside the entries.
type findings struct {
	problems []Problem
	found    map[ProblemKind]int
	tail     tail
}

type span struct{ off, end int64 }

// load is [Store.Load] for a file whose dialect is known; nil means to guess it from the
// content.
func load(fsys afero.Fs, path string, dialect *Dialect) (*Document, error) {
	return loadUntil(nil, fsys, path, dialect)
}

// loadUntil is load, which ends with the error of halt as soon as that returns one; see StoreConfig.Halt.
func loadUntil(halt func() error, fsys afero.Fs, path string, dialect *Dialect) (*Document, error) {
	// Check before opening: opening a named pipe would wait for a writer.
	info, err := fsys.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("is not a file")}
	}
	if err != nil {
		return nil, disk.Fault("open", path, err)
	}
	f, err := fsys.Open(path)
	if err != nil {
		return nil, disk.Fault("open", path, err)
	}
	if info, err = f.Stat(); err != nil {
		return nil, errors.Join(disk.Fault("open", path, err), f.Close())
	}
	d := &Document{path: path, info: info}
	keep, err := d.read(f, info.Size(), halt)
	if !keep || err != nil {
		if closeErr := f.Close(); err == nil && closeErr != nil {
			err = closeErr
		}
	}
	if err != nil {
		return nil, disk.Fault("read", path, err)
	}
	d.settle(dialect)
	return d, d.headerFault()
}

// read indexes f and decides whether it stays open as the source of payloads.
func (d *Document) read(f afero.File, size int64, halt func() error) (keep bool, err error) {
	if size > smallFile {
		d.src = source{file: f, size: size}
		from, err := headerEnd(f)
		if err != nil {
			return true, err
		}
		read := filesums.NewReader(haltingReader{f, halt}, from)
		if err := d.index(read, size); err != nil {
			return true, err
		}
		d.sums, d.src.size = read.End(), d.tail.size
		return true, d.readEnd()
	}
	content := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := content.ReadFrom(haltingReader{f, halt}); err != nil {
		return false, err
	}
	d.src = source{mem: content.Bytes()}
	d.indexBytes(content.Bytes())
	if size > indexFrom {
		d.sums = filesums.Of(content.Bytes(), d.headerAt.end)
	}
	d.remember(content.Bytes()[max(0, content.Len()-endBytes):])
	return false, nil
}

// haltingReader is a file that can be read as long as halt, if there is one, returns no error.
type haltingReader struct {
	io.ReadSeeker
	halt func() error
}

func (r haltingReader) Read(b []byte) (int, error) {
	if r.halt != nil {
		if err := r.halt(); err != nil {
			return 0, err
		}
	}
	return r.ReadSeeker.Read(b)
}

func (d *Document) index(f io.ReadSeeker, size int64) (err error) {
	if workers := runtime.GOMAXPROCS(0); workers > 1 && size > parallelFile {
		d.tail, err = scanParallel(f, workers, segmentBlock, d.add, d.report)
		return err
	}
	d.tail, err = scanValues(f, d.add, d.report)
	return err
}

func (d *Document) indexBytes(content []byte) { d.tail = scanBytes(content, d.add, d.report) }

// maxProblems is how many problems of one kind are reported individually. A file of garbage
// has millions.
const maxProblems = 100

func (d *Document) report(p Problem) {
	if d.found == nil {
		d.found = map[ProblemKind]int{}
	}
	if d.found[p.Kind]++; d.found[p.Kind] <= maxProblems {
		d.problems = append(d.problems, p)
	}
}

// reportRest reports how many problems were left out.
func (d *Document) reportRest() {
	for _, kind := range slices.Sorted(maps.Keys(d.found)) {
		if more := d.found[kind] - maxProblems; more > 0 {
			d.problems = append(d.problems, problemAt(kind, 0, false, "There are %d more findings of this kind.", more))
		}
	}
	d.found = nil
}

// add records one value as the header, the title slot or an entry.
func (d *Document) add(v Value) {
	if !v.Env.Object {
		d.count(v)
		d.report(problemAt(NotAnEntry, v.line, false, "Line %d is JSON but not an object.", v.line))
		return
	}
	if d.header.Raw == nil {
		d.addFirst(v)
		return
	}
	d.count(v)
	v.prepare()
	if v.usual && typeCodes[v.slot.typ] != TypeSession {
		d.addPacked(v)
		return
	}
	r, ok := d.tree.record(v)
	switch {
	case !ok:
		d.report(problemAt(NotAnEntry, v.line, false, "Line %d is an object without a type.", v.line))
	case r.typ == TypeSession:
		d.report(problemAt(ExtraHeader, v.line, false, "Line %d is a second session header; it is ignored.", v.line))
	default:
		d.addEntry(r, v)
	}
}

// count numbers the values as the originals do, which see only one per line.
func (d *Document) count(v Value) {
	if !v.extra {
		d.values++
	}
}

// addFirst handles the first object, which must be the header or omp's title slot before
// it. After any other value there can be no header.
func (d *Document) addFirst(v Value) {
	if d.tree.len() == 0 && !d.hasSlot {
		if t, ok := ParseTitleSlot(v.Raw); ok {
			d.hasSlot, d.title = true, t
			return
		}
	}
	d.count(v)
	if d.tree.len() == 0 {
		if h, ok := ParseHeader(v.Raw); ok {
			h.Raw = bytes.Clone(v.Raw)
			d.header = h
			d.headerAt = span{v.off, v.off + int64(len(v.Raw))}
			if !d.hasSlot {
				d.title = Title{Text: h.Title, Source: h.TitleSource}
			}
			return
		}
	}
	if r, ok := d.tree.record(v); ok && r.typ != TypeSession {
		d.addEntry(r, v)
	}
}

func (d *Document) addEntry(r record, v Value) {
	r.ord = d.values - 1
	if r.id == "" && d.header.Version >= 2 {
		d.report(problemAt(MissingID, v.line, false, "The entry on line %d has no id.", v.line))
	}
	d.note(r.typ, v.Raw)
	if d.tree.add(r) {
		d.reportDuplicate(v.line)
	}
	d.countEntry(v)
}

// countEntry adds the entry just added to the tally, unless one before it is missing there.
func (d *Document) countEntry(v Value) {
	if i := d.Len() - 1; d.tally.counted == i {
		d.tally.count(d, i, v.Raw, v.tally)
	}
}

// addPacked is addEntry for a line that [pack] accepts.
func (d *Document) addPacked(v Value) {
	s := v.slot
	s.ord = d.values - 1
	d.note(typeCodes[s.typ], v.Raw)
	if own.Hidden(string(typeCodes[s.typ]), v.Raw) {
		s.has |= slotHidden
	}
	if d.tree.append(s) {
		d.reportDuplicate(v.line)
	}
	d.countEntry(v)
}

// reportDuplicate reports that the id of the entry just added occurred before.
func (d *Document) reportDuplicate(line int) {
	if d.header.Version < 2 {
		return
	}
	id := d.tree.id(d.Len() - 1)
	d.problems = append(d.problems, Problem{
		Kind: DuplicateID, Line: line, EntryID: id,
		Message: "Entry " + id + " appears more than once; the last one counts.",
	})
}

// note records the facts about the whole file that a single entry reveals.
func (d *Document) note(t Type, raw []byte) {
	if !d.marks.pi && !d.marks.omp {
		d.marks.See(t, raw)
	}
	d.noteTitle(t, raw)
}

// settle completes the document once the whole file was read.
func (d *Document) settle(dialect *Dialect) {
	d.scanned = findings{slices.Clip(d.problems), d.found, d.tail}
	d.reportRest()
	defer func() { d.tally.read, d.settled = d.tally.clone(), len(d.problems) }()
	if d.header.Raw == nil {
		return
	}
	d.dialect = GuessDialect(d.hasSlot, d.header, d.marks)
	if dialect != nil {
		d.dialect = *dialect
	}
	if d.header.Version < CurrentVersion {
		d.tally = tally{} // of the lines in the older format
		migrate(d)
	}
	if d.header.Version > CurrentVersion {
		d.problems = append(d.problems, Problem{
			Kind:    newerFormat,
			Message: "The session was written by a newer program; it can be read but not changed.",
		})
	}
}

// settleHeadless makes the entries of a file without a header readable: it guesses the
// dialect from the entries, and treats entries without ids as version 1.
func (d *Document) settleHeadless() {
	d.header.Version = CurrentVersion
	if !d.tree.anyID() {
		d.header.Version = 1
		d.tally = tally{}
		migrate(d)
	}
	d.dialect = GuessDialect(d.hasSlot, d.header, d.marks)
}

func (d *Document) headerFault() error {
	if d.header.Raw != nil {
		return nil
	}
	what := "has no readable session header"
	if d.tail.size == 0 {
		what = "is empty"
	}
	p := Problem{Kind: NoHeader, Lost: d.tail.size > 0, Message: "The file " + what + "."}
	d.problems = append([]Problem{p}, d.problems...)
	return fault.New(fault.Damaged, "%s %s; nothing was changed.", d.name(), what).
		With("problems", d.problems).With("salvageable", d.tree.len()).With("path", d.path)
}

func (d *Document) name() string {
	if d.path == "" {
		return "The session"
	}
	return d.path
}

// Header returns the header. Its Raw is nil when the file has none.
func (d *Document) Header() Header { return d.header }

// HeaderLine returns the header in the current format, nil if there is none.
func (d *Document) HeaderLine() json.RawMessage {
	if d.header.Raw != nil && d.tree.migrated != nil {
		return d.tree.migrated.header(d.header.Raw)
	}
	return bytes.Clone(d.header.Raw)
}

// ID returns the id of entry i, "" when it has none.
func (d *Document) ID(i int) string { return d.tree.id(i) }

// Title returns the display name: that of omp's title slot, or else the newer one of the
// header's title and pi's newest session_info.
func (d *Document) Title() Title { return d.title }

// Dialect returns the program whose rules the file follows.
func (d *Document) Dialect() Dialect { return d.dialect }

// Problems returns the problems found while reading. See also [Document.Check].
func (d *Document) Problems() []Problem { return d.problems }

// Len returns the number of entries.
func (d *Document) Len() int { return d.tree.len() }

// Entry returns entry i in file order, 0 ≤ i < Len. It fails only if a large file cannot be
// read.
func (d *Document) Entry(i int) (Entry, error) {
	raw, err := d.raw(i)
	if err != nil {
		return Entry{}, err
	}
	return d.entryOf(i, raw), nil
}

// entryOf is [Document.Entry] for a caller that already has entry i's line.
func (d *Document) entryOf(i int, line []byte) Entry {
	e := Entry{ID: d.tree.id(i), ParentID: d.tree.parentID(i), Type: d.tree.typ(i), Raw: line}
	e.Timestamp, _ = rawjson.GetString(line, "timestamp")
	return e
}

// raw returns the line of entry i in the current format.
func (d *Document) raw(i int) ([]byte, error) { return d.rawOf(i, d.tree.slots.at(i)) }

// rawOf is raw for an entry whose slot is s.
func (d *Document) rawOf(i int, s *slot) ([]byte, error) {
	if s.has&slotMem != 0 {
		return d.tree.mem(i), nil
	}
	raw, err := d.src.read(s.off, int(s.n))
	if err != nil {
		return nil, disk.Fault("read", d.path, err)
	}
	if err := d.confirm(i, raw); err != nil {
		return nil, err
	}
	return d.current(i, raw), nil
}

// current converts the line of entry i from the file's format to the current one.
func (d *Document) current(i int, raw []byte) []byte {
	if d.tree.migrated == nil {
		return raw
	}
	return d.tree.migrated.entry(&d.tree, i, raw)
}

// DialectWith returns the dialect guessed from the session's content and another header.
func (d *Document) DialectWith(h Header) Dialect { return GuessDialect(d.hasSlot, h, d.marks) }

// ModTime returns the modification time of the file when it was read; the zero time for a
// session without a file.
func (d *Document) ModTime() time.Time {
	if d.info == nil {
		return time.Time{}
	}
	return d.info.ModTime()
}

// Close releases a large file. The Document must not be used afterwards.
func (d *Document) Close() error {
	if d.comparing != nil {
		d.comparing.Stop()
	}
	if lazy := d.tree.slots.lazy; lazy != nil {
		return errors.Join(d.src.Close(), lazy.file.Close())
	}
	return d.src.Close()
}
