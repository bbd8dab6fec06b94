package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// smallFile is the size in bytes up to which a file's content is kept in memory.
// Of a larger one only the index is; payloads are read when they are asked for.
const smallFile = 8 << 20

// Document is one session file as read: its header, an index of its entries and
// what is wrong with it. Reading never changes the file. Only [Log] changes a
// Document; one that is not part of a Log is safe for concurrent use, but for Usage,
// which remembers what it has summed up.
type Document struct {
	path     string
	header   Header
	title    Title // of the slot or the header
	hasSlot  bool
	dialect  Dialect
	tree     tree
	src      source
	tail     tail
	end      []byte      // the last bytes of the file, at most endBytes
	info     os.FileInfo // of the file that was read; nil for bytes without one
	headerAt span        // of the header line's value in the file
	problems []Problem
	found    map[ProblemKind]int // how many of each kind, while reading
	marks    dialectMarks
	values   int32 // JSON values met, the header being the first

	usage  Usage // of the first summed entries
	summed int

	outlined atomic.Pointer[outline] // of the context asked for last
}

type span struct{ off, end int64 }

// Load reads the session file at path. The file is opened for reading only and is
// closed again; a large one stays open until [Document.Close].
//
// A missing file is kind notFound. A file without a readable header is kind damaged
// and comes with a Document that holds whatever entries can be read, for salvage.
// An empty file is kind damaged too: what to make of it is the caller's decision.
func Load(fsys afero.Fs, path string) (*Document, error) { return LoadAs(fsys, path, nil) }

// LoadAs is [Load] for a file that is known to follow dialect; nil means to guess.
func LoadAs(fsys afero.Fs, path string, dialect *Dialect) (*Document, error) {
	// Asked before opening: opening a named pipe would wait for a writer.
	info, err := fsys.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("is not a file")}
	}
	if err != nil {
		return nil, ioFault("open", path, err)
	}
	f, err := fsys.Open(path)
	if err != nil {
		return nil, ioFault("open", path, err)
	}
	if info, err = f.Stat(); err != nil {
		return nil, errors.Join(ioFault("open", path, err), f.Close())
	}
	d := &Document{path: path, info: info}
	keep, err := d.read(f, info.Size())
	if !keep {
		if closeErr := f.Close(); err == nil && closeErr != nil {
			err = closeErr
		}
	}
	if err != nil {
		return nil, ioFault("read", path, err)
	}
	d.settle(dialect)
	return d, d.headerFault()
}

// Parse reads a session from memory. Its error is that of [Load].
func Parse(content []byte) (*Document, error) {
	d := &Document{src: source{mem: content}}
	d.indexBytes(content)
	d.settle(nil)
	return d, d.headerFault()
}

// read indexes f and decides whether it stays open as the source of payloads.
func (d *Document) read(f afero.File, size int64) (keep bool, err error) {
	if size > smallFile {
		d.src = source{file: f, size: size}
		if err := d.index(f, size); err != nil {
			return true, err
		}
		end, err := d.src.read(max(0, d.tail.size-endBytes), int(min(d.tail.size, endBytes)))
		d.end, d.src.size = end, d.tail.size
		return true, err
	}
	content := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := content.ReadFrom(f); err != nil {
		return false, err
	}
	d.src = source{mem: content.Bytes()}
	d.indexBytes(content.Bytes())
	d.remember(content.Bytes()[max(0, content.Len()-endBytes):])
	return false, nil
}

func (d *Document) index(f afero.File, size int64) (err error) {
	if workers := runtime.GOMAXPROCS(0); workers > 1 && size > parallelFile {
		d.tail, err = scanParallel(f, workers, segmentBlock, d.add, d.report)
		return err
	}
	d.tail, err = scanValues(f, d.add, d.report)
	return err
}

func (d *Document) indexBytes(content []byte) { d.tail = scanBytes(content, d.add, d.report) }

// maxProblems is how many findings of one kind are told one by one. A file of junk has
// millions.
const maxProblems = 100

func (d *Document) report(p Problem) {
	if d.found == nil {
		d.found = map[ProblemKind]int{}
	}
	if d.found[p.Kind]++; d.found[p.Kind] <= maxProblems {
		d.problems = append(d.problems, p)
	}
}

// reportRest says how many findings were left out.
func (d *Document) reportRest() {
	for _, kind := range slices.Sorted(maps.Keys(d.found)) {
		if more := d.found[kind] - maxProblems; more > 0 {
			d.problems = append(d.problems, problemAt(kind, 0, false, "There are %d more findings of this kind.", more))
		}
	}
	d.found = nil
}

// add files one value under header, title slot or entry.
func (d *Document) add(v value) {
	if !v.env.Object {
		d.count(v)
		d.report(problemAt(NotAnEntry, v.line, false, "Line %d is JSON but not an object.", v.line))
		return
	}
	if d.header.Raw == nil {
		d.addFirst(v)
		return
	}
	d.count(v)
	if s, ok := pack(v); ok && typeCodes[s.typ] != typeSession {
		d.addPacked(s, v)
		return
	}
	r, ok := d.tree.record(v)
	switch {
	case !ok:
		d.report(problemAt(NotAnEntry, v.line, false, "Line %d is an object without a type.", v.line))
	case r.typ == typeSession:
		d.report(problemAt(ExtraHeader, v.line, false, "Line %d is a second session header; it is ignored.", v.line))
	default:
		d.addEntry(r, v)
	}
}

// count numbers the values as the originals do, which see one per line.
func (d *Document) count(v value) {
	if !v.extra {
		d.values++
	}
}

// addFirst takes the first object, which must be the header or omp's title slot
// before it. Once something else came first nothing can be the header any more.
func (d *Document) addFirst(v value) {
	if d.tree.len() == 0 && !d.hasSlot {
		if t, ok := parseTitleSlot(v.raw); ok {
			d.hasSlot, d.title = true, t
			return
		}
	}
	d.count(v)
	if d.tree.len() == 0 {
		if h, ok := parseHeader(v.raw); ok {
			h.Raw = bytes.Clone(v.raw)
			d.header = h
			d.headerAt = span{v.off, v.off + int64(len(v.raw))}
			if !d.hasSlot {
				d.title = Title{Text: h.Title, Source: h.TitleSource}
			}
			return
		}
	}
	if r, ok := d.tree.record(v); ok && r.typ != typeSession {
		d.addEntry(r, v)
	}
}

func (d *Document) addEntry(r record, v value) {
	r.ord = d.values - 1
	if r.id == "" && d.header.Version >= 2 {
		d.report(problemAt(MissingID, v.line, false, "The entry on line %d has no id.", v.line))
	}
	d.note(r.typ, v.raw)
	if d.tree.add(r) {
		d.reportDuplicate(v.line)
	}
}

// addPacked is addEntry for a line in which nothing is unusual.
func (d *Document) addPacked(s slot, v value) {
	s.ord = d.values - 1
	d.note(typeCodes[s.typ], v.raw)
	if d.tree.append(s) {
		d.reportDuplicate(v.line)
	}
}

// reportDuplicate says that the entry just added has an id that was met before.
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

// note takes what single entries say about the whole file.
func (d *Document) note(t Type, raw []byte) {
	if !d.marks.pi && !d.marks.omp {
		d.marks.see(t, raw)
	}
	d.noteTitle(t, raw)
}

// noteTitle takes the title that pi keeps in an entry.
func (d *Document) noteTitle(t Type, raw []byte) {
	if t == TypeSessionInfo && !d.hasSlot && !d.header.HasTitle {
		name, _ := rawjson.GetString(raw, "name")
		d.title = Title{Text: name}
	}
}

// settle finishes the view once the whole file was seen.
func (d *Document) settle(dialect *Dialect) {
	d.reportRest()
	if d.header.Raw == nil {
		return
	}
	d.dialect = guessDialect(d.hasSlot, d.header, d.marks)
	if dialect != nil {
		d.dialect = *dialect
	}
	if d.header.Version < CurrentVersion {
		migrate(d)
	}
	if d.header.Version > CurrentVersion {
		d.problems = append(d.problems, Problem{
			Kind:    NewerFormat,
			Message: "The session was written by a newer program; it can be read but not changed.",
		})
	}
}

// settleHeadless makes the entries of a file without a header readable: whose they are
// is told by themselves, and entries without ids are those of version 1.
func (d *Document) settleHeadless() {
	d.header.Version = CurrentVersion
	if !d.tree.anyID() {
		d.header.Version = 1
		migrate(d)
	}
	d.dialect = guessDialect(d.hasSlot, d.header, d.marks)
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

// Path returns where the document was read from, "" for one parsed from memory.
func (d *Document) Path() string { return d.path }

// Header returns the header. Its Raw is nil when the file has none.
func (d *Document) Header() Header { return d.header }

// HeaderLine returns the header as the current format has it, nil when there is none.
func (d *Document) HeaderLine() json.RawMessage {
	if d.header.Raw != nil && d.tree.migrated != nil {
		return d.tree.migrated.header(d.header.Raw)
	}
	return bytes.Clone(d.header.Raw)
}

// ID returns the id of entry i, "" when it has none.
func (d *Document) ID(i int) string { return d.tree.id(i) }

// Title returns the display name: omp's title slot, else the header's title, else
// pi's newest session_info.
func (d *Document) Title() Title { return d.title }

// Dialect returns the program whose rules the file follows.
func (d *Document) Dialect() Dialect { return d.dialect }

// Size returns the size of the file in bytes when it was read.
func (d *Document) Size() int64 { return d.tail.size }

// Problems returns what was found wrong while reading. See also [Document.Check].
func (d *Document) Problems() []Problem { return d.problems }

// Len returns the number of entries.
func (d *Document) Len() int { return d.tree.len() }

// Entry returns entry i in file order, 0 ≤ i < Len. The error is that of reading a
// large file.
func (d *Document) Entry(i int) (Entry, error) {
	raw, err := d.raw(i)
	if err != nil {
		return Entry{}, err
	}
	return d.EntryOf(i, raw), nil
}

// EntryOf is [Document.Entry] for a caller that has entry i's line already, from [Document.Lines].
func (d *Document) EntryOf(i int, line []byte) Entry {
	e := Entry{ID: d.tree.id(i), ParentID: d.tree.parentID(i), Type: d.tree.typ(i), Raw: line}
	e.Timestamp, _ = rawjson.GetString(line, "timestamp")
	return e
}

// raw returns the line of entry i as the current format has it.
func (d *Document) raw(i int) ([]byte, error) {
	if line := d.tree.mem(i); line != nil {
		return line, nil
	}
	at := d.tree.span(i)
	raw, err := d.src.read(at.off, int(at.end-at.off))
	if err != nil {
		return nil, ioFault("read", d.path, err)
	}
	return d.current(i, raw), nil
}

// current returns the line of entry i, given as it is in the file, as the current format
// has it.
func (d *Document) current(i int, raw []byte) []byte {
	if d.tree.migrated == nil {
		return raw
	}
	return d.tree.migrated.entry(&d.tree, i, raw)
}

// Close releases a large file. The Document must not be used afterwards.
func (d *Document) Close() error { return d.src.Close() }
