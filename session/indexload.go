package session

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/internal/filesums"
	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
)

// An index file is what reading a large session file whole came to, kept in the cache directory so that the
// next reading need not be whole. It is disposable and decides nothing: it is used for a file whose stamp it
// has, or whose bytes have its checksums. There are two of a session: the base, NAME.idx, with facts, slots
// and the table of ids, and the extension, NAME.ext, with the facts of later and the slots of the entries
// added since. So remembering a few appended lines does not cost as much as the index.
const (
	baseEnd      = ".idx"
	extensionEnd = ".ext"
)

// indexPlace is where the index files of a session are.
type indexPlace struct {
	indexfile.Dir
	path string // of the session, without links
	name string // of the index files, without their endings
}

func (s *Store) indexAt(path string) indexPlace {
	if real, err := s.realPath(path); err == nil {
		path = real
	}
	dir := indexfile.Dir{Fs: s.Fs, Path: s.IndexDir, Max: cmp.Or(s.IndexMax, indexfile.DefaultMax), Now: s.Now}
	return indexPlace{dir, path, indexfile.Name(path)}
}

// indexFrom is the size in bytes above which a session has an index file. Only tests change it.
var indexFrom int64 = smallFile

// compareFirst is [StoreConfig.CompareFirst] by default.
const compareFirst = 128 << 20

// comparing says when the bytes of a changed session are compared with its index file.
type comparing bool

const (
	atOnce       comparing = false
	inBackground comparing = true // if there are many
)

// load reads the session at path, by means of its index file if that counts, and writes an index file if
// that helps the next reading.
func (s *Store) load(path string, dialect *Dialect) (*Document, error) {
	return s.loadFor(path, dialect, atOnce)
}

// loadFor is load for a caller that knows what to do with [Document.comparing] if when is inBackground.
func (s *Store) loadFor(path string, dialect *Dialect, when comparing) (*Document, error) {
	if s.IndexDir == "" {
		return loadUntil(s.Halt, s.Fs, path, dialect)
	}
	at := s.indexAt(path)
	if d := s.loadIndexed(&indexReader{store: s, at: at, when: when}, path, dialect); d != nil {
		return d, nil
	}
	now := s.Now()
	d, err := loadUntil(s.Halt, s.Fs, path, dialect)
	if err == nil && d.tail.size > indexFrom {
		d.takeStamp(now)
		if info, err := s.Fs.Stat(path); err == nil {
			later, _ := disk.StampOf(info, now)
			d.rested = d.rested && later == d.stamp // otherwise, it was written to while it was read
		}
		s.remembered(path, d.writeIndex(at, true))
		d.kept = d.tail.size
	}
	return d, err
}

// takeStamp records which version of the file d is. now is a time before the file was opened.
func (d *Document) takeStamp(now time.Time) { d.stamp, d.rested = disk.StampOf(d.info, now) }

// remembered logs that an index file could not be written. That costs time, and nothing else.
func (s *Store) remembered(path string, err error) {
	if err != nil {
		s.Log.Debug("cannot remember the index of a session", zap.String("path", path), zap.Error(err))
	}
}

// loadIndexed is load by means of an index file; nil if there is none that counts.
func (s *Store) loadIndexed(r *indexReader, path string, dialect *Dialect) *Document {
	info, err := s.Fs.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() <= indexFrom {
		return nil
	}
	if !r.openIndex() {
		return nil
	}
	d, err := r.open(path)
	if err != nil {
		s.Log.Debug("the index of a session is not used", zap.String("path", path), zap.Error(err))
		_ = r.base.Close() // it was only read
		return nil
	}
	d.settle(dialect)
	d.tree.slots.lazy.dialect = dialect
	r.takeOutline(d)
	d.kept = r.facts.sums.Size
	switch {
	case r.deferred:
		d.comparing = r.facts.sums.Compare(d.reopened(s.Fs))
	case r.grew || !r.facts.rested || r.facts.stamp != d.stamp:
		s.remembered(path, r.extend(d, true))
		d.kept = d.tail.size
	}
	return d
}

// reopened returns a function that opens the file of d again, to be read at the same time.
func (d *Document) reopened(fsys afero.Fs) func() (filesums.File, error) {
	path, was := d.path, d.info // which a Log changes
	return func() (filesums.File, error) {
		// Opening a named pipe would wait for a writer.
		if info, err := fsys.Stat(path); err == nil && info.Mode().IsRegular() {
			if f, err := fsys.Open(path); err == nil {
				if info, err = f.Stat(); err == nil && disk.SameFile(info, was) {
					return f, nil
				}
				_ = f.Close() // it is another file
			}
		}
		return borrowed{lockedReader{&d.src}}, nil
	}
}

// indexed reports whether the file at path, which info describes, has an index file that is likely to count.
func (s *Store) indexed(path string, info os.FileInfo) bool {
	if s.IndexDir == "" || info.Size() <= indexFrom {
		return false
	}
	now, _ := disk.StampOf(info, s.Now())
	r := &indexReader{store: s, at: s.indexAt(path)}
	if !r.openIndex() {
		return false
	}
	_ = r.base.Close() // it was only read
	return r.facts.stamp.Inode == now.Inode && r.facts.sums.Size <= now.Size
}

// indexReader makes a document of index files.
type indexReader struct {
	store *Store
	at    indexPlace
	base  *indexfile.File
	facts *indexFacts // of the extension if there is one
	late  []slot      // behind those of the base
	grew  bool        // lines were read behind those that the index has

	when     comparing
	trusted  bool // the bytes need not be compared
	deferred bool // they still have to be
}

// openIndex opens the index files. It reports whether there are any that can be used.
func (r *indexReader) openIndex() bool {
	base, err := r.at.Open(r.at.name + baseEnd)
	if err != nil {
		return false
	}
	facts, ok := decodeFacts(base.Facts)
	ok = ok && facts.path == r.at.path && base.Sections() == 2 && base.BlockSize(pageSection) == pageSize() && base.BlockSize(idSection) == idBlock &&
		base.Size(pageSection) == int64(facts.base)*slotSize && base.Size(idSection) == int64(facts.cells)*cellSize
	if ok {
		r.base, r.facts = base, facts
		ok = r.openExtension() || facts.slots == facts.base
	}
	if !ok {
		_ = base.Close() // it was only read
	}
	return ok
}

// openExtension reads the extension of the base. It reports whether there is one that can be used.
func (r *indexReader) openExtension() bool {
	x, err := r.at.Open(r.at.name + extensionEnd)
	if err != nil {
		return false
	}
	defer x.Close()
	facts, ok := decodeFacts(x.Facts)
	more := 0
	if ok {
		more = facts.slots - r.facts.base
	}
	if !ok || facts.mark != r.facts.mark || facts.base != r.facts.base || x.Sections() != 1 ||
		x.BlockSize(pageSection) != pageSize() || x.Size(pageSection) != int64(more)*slotSize {
		return false
	}
	var late []slot
	for n := 0; len(late) < more; n++ {
		b, err := x.Block(pageSection, n)
		if err != nil {
			return false
		}
		for ; len(b) > 0; b = b[slotSize:] {
			s := getSlot(b)
			if !s.plausible(facts.sums.Size, len(facts.names)) {
				return false
			}
			late = append(late, s)
		}
	}
	facts.starts, facts.cells, facts.factor = r.facts.starts, r.facts.cells, r.facts.factor
	r.facts, r.late = facts, late
	return true
}

// open returns the document of the file at path. It fails if the index is of other bytes.
func (r *indexReader) open(path string) (d *Document, err error) {
	now := r.store.Now()
	f, err := r.store.Fs.Open(path)
	if err != nil {
		return nil, err
	}
	d = &Document{path: path, src: source{file: f, size: r.facts.sums.Size}}
	if d.info, err = f.Stat(); err == nil {
		d.takeStamp(now)
		err = r.fill(d)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return d, nil
}

// fill fills d from the facts, and reads the lines behind those that the index has.
func (r *indexReader) fill(d *Document) error {
	facts := r.facts
	if facts.stamp.Inode != d.stamp.Inode || d.stamp.Size < facts.sums.Size {
		return filesums.ErrOtherBytes
	}
	if err := r.head(d); err != nil {
		return err
	}
	if err := r.compare(d); err != nil {
		return err
	}
	d.sums, d.indexed = facts.sums, facts.sums.Size // the last page, which is needed at once, may have to be made again
	if err := r.takeIndex(d); err != nil {
		return err
	}
	d.values, d.problems, d.found = int32(facts.values), slices.Clone(facts.problems), maps.Clone(facts.found)
	d.tally.counts = facts.tally.clone()
	d.tail = tail{size: facts.sums.Size, newline: true, lines: facts.lines, budget: facts.budget}
	if err := r.behind(d); err != nil {
		return err
	}
	return d.readEnd()
}

// compare compares the bytes of d with the index, unless they are known to be the same. It looks only at some places
// if the rest can be compared later.
func (r *indexReader) compare(d *Document) error {
	facts := r.facts
	if r.trusted || unchanged(facts.stamp, d.stamp, facts.rested) {
		return nil
	}
	if r.when == atOnce || facts.sums.Size <= cmp.Or(r.store.CompareFirst, compareFirst) {
		return facts.sums.Compare(d.reopened(r.store.Fs)).Err()
	}
	r.deferred = true
	if err := facts.sums.Look(lockedReader{&d.src}); err != nil {
		return err
	}
	end, err := d.src.read(facts.sums.Size-int64(facts.end.size), facts.end.size)
	if err == nil && indexfile.Checksum(end) != facts.end.sum {
		err = filesums.ErrOtherBytes
	}
	return err
}

// confirm fails if line, which was read as that of entry i, is not that entry. It looks while the bytes of the file
// are still compared with the index that says where the line is.
func (d *Document) confirm(i int, line []byte) error {
	if d.comparing == nil {
		return nil
	}
	env, n, st := rawjson.ScanEnvelope(line)
	if st == rawjson.Complete && n == len(line) {
		r, ok := d.tree.record(Value{Raw: line, Env: env})
		if was := d.tree.at(i); ok && r.id == was.id && r.parent == was.parent && r.typ == was.typ && r.role == was.role && r.hidden == was.hidden {
			return nil
		}
	}
	d.comparing.Fail(filesums.ErrOtherBytes)
	return disk.Fault("read", d.path, errChanged)
}

// head reads the beginning of the file up to the header, which omp changes in place.
func (r *indexReader) head(d *Document) error {
	facts := r.facts
	b, err := d.src.read(0, int(facts.headerAt.end)+1)
	if err != nil {
		return err
	}
	var fresh Document
	fresh.indexBytes(b)
	if !bytes.Equal(fresh.header.Raw, facts.headerRaw) || fresh.headerAt != facts.headerAt || fresh.hasSlot != facts.hasSlot || fresh.Len() > 0 {
		return filesums.ErrOtherBytes
	}
	d.header, d.headerAt, d.hasSlot, d.title = fresh.header, fresh.headerAt, fresh.hasSlot, fresh.title
	if !d.hasSlot {
		d.title = facts.title
	}
	d.named, d.piName, d.marks = facts.named, facts.piName, facts.marks
	return nil
}

// takeIndex makes the index of d that of the facts.
func (r *indexReader) takeIndex(d *Document) error {
	facts, t := r.facts, &d.tree
	t.oddTypes, t.oddRoles = maps.Clone(facts.odd.types), maps.Clone(facts.odd.roles)
	for _, name := range facts.names {
		if key := t.names.key(name); key.kind != namedID || int(key.value) != len(t.names.texts)-1 {
			return indexfile.ErrDamaged
		}
	}
	pages := &lazyPages{
		doc: d, file: r.base, n: facts.base, starts: facts.starts, got: make([]atomic.Pointer[[]slot], len(facts.starts)),
		drop: r.at.drop, facts: facts, whole: sync.OnceValues(func() (*Document, error) { return r.whole(d) }),
	}
	t.slots = slots{pages: make([][]slot, len(facts.starts)), n: facts.base, lazy: pages}
	t.base = &idBase{
		pages: pages, slots: &t.slots, cells: facts.cells, multiplier: facts.factor, named: len(facts.names) > 0,
		got: make([]atomic.Pointer[[]byte], (facts.cells*cellSize+idBlock-1)/idBlock),
	}
	if facts.base&(pageLen()-1) != 0 { // the last page grows
		last := len(facts.starts) - 1
		t.slots.pages[last] = slices.Clone(pages.page(last))
	}
	for _, s := range r.late {
		t.slots.append(s)
	}
	t.ids.putAll(&t.slots, facts.base, t.slots.n)
	t.twice = facts.twice
	return nil
}

// drop removes the index files.
func (p indexPlace) drop() {
	p.Remove(p.name + baseEnd)
	p.Remove(p.name + extensionEnd)
}

// whole reads the session file of d whole, as far as the index has it.
func (r *indexReader) whole(d *Document) (*Document, error) {
	whole := &Document{header: d.header}
	var err error
	whole.tail, err = scanValues(io.NewSectionReader(lockedReader{&d.src}, 0, d.indexed), func(v Value) {
		switch {
		case v.off > d.headerAt.off:
			whole.add(v)
		case v.off == d.headerAt.off, !v.Env.Object:
			whole.count(v)
		}
	}, func(Problem) {})
	return whole, err
}

// behind reads the lines behind those that the index has.
func (r *indexReader) behind(d *Document) error {
	more := d.stamp.Size - d.tail.size
	if more == 0 {
		return nil
	}
	r.grew = true
	in, err := d.sums.Continue(lockedReader{&d.src}, d.stamp.Size)
	if err != nil {
		return err
	}
	s := lineScanner{
		src: in, off: d.tail.size, line: d.tail.lines, last: '\n',
		emit: d.add, report: d.report, budget: d.tail.budget, limits: fileLimits, begun: true,
	}
	end, err := s.run()
	d.tail, d.src.size, d.sums = end, end.size, in.End()
	return err
}

// takeOutline takes the spine and the outline of the newest entry over.
func (r *indexReader) takeOutline(d *Document) {
	if r.facts.dialect != d.dialect {
		return // they follow from its rules
	}
	if r.facts.spine != nil && !d.tree.twice {
		d.spine.Store(r.facts.spine)
	}
	if o := r.facts.outlined; o != nil && o.entries == d.Len() {
		d.outlined.Store(o)
	}
}

// extend writes the extension of the index files, or a new base if the extension would be large.
func (r *indexReader) extend(d *Document, outlined bool) error {
	if d.Len()-r.facts.base > r.facts.base/8+pageLen() {
		return d.writeIndex(r.at, outlined)
	}
	return d.writeExtension(r.at, r.facts, outlined)
}

// readEnd reads the end of the file, which is compared when the file grows.
func (d *Document) readEnd() (err error) {
	n := min(d.tail.size, endBytes)
	d.end, err = d.src.read(d.tail.size-n, int(n))
	return err
}

// headerEnd returns where the header in the first 64 KiB of f ends, 0 if there is none, and leaves f at its start.
func headerEnd(f io.ReadSeeker) (int64, error) {
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	var d Document
	d.indexBytes(head[:n])
	_, err = f.Seek(0, io.SeekStart)
	return d.headerAt.end, err
}

// unchanged reports whether a file with stamp now is the one with stamp was, which had rested.
func unchanged(was, now disk.Stamp, rested bool) bool {
	return rested && was.Inode != 0 && was.Ctime != 0 && was == now
}
