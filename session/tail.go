package session

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

const (
	tailBlock = 256 << 10 // bytes per step backwards

	// tailReach and tailShare limit how far back from the end a context is searched for:
	// tailReach bytes or one tailShare-th of the file, whichever is more. Beyond that the
	// forward index, which reads faster, is better, and the bytes read in vain cost little
	// beside it.
	tailReach = 4 << 20
	tailShare = 32

	// headReach is how far, in bytes from the beginning, the header and the first entry
	// that only one program writes are searched for.
	headReach = 1 << 20
)

// Tail is the newest context of a session, read from the end of its file.
type Tail struct {
	Header   Header
	LeafID   string
	Context  Context
	Problems []Problem // found in the part that was read
}

// LoadTail rebuilds the context at the newest entry of the session at path by reading the
// file backwards, so that the cost is that of the context and not of the file.
//
// A file is append-only: parents precede children, and everything before the first entry
// that the newest compaction keeps is hidden. Going backwards, only lines whose id is the
// wanted parent matter. ok is false, and t is empty, if the result might differ from that
// of [BuildContext] over the whole file: the file belongs to another program than pi, whose
// contexts depend on entries anywhere on the path; it has an older version; a line in reach
// cannot be read; an id occurs twice.
func LoadTail(fsys afero.Fs, path string, dialect *Dialect, blobs BlobSource) (t Tail, ok bool, err error) {
	return loadTail(fsys, path, dialect, blobs, fileLimits, tailBlock)
}

func loadTail(fsys afero.Fs, path string, dialect *Dialect, blobs BlobSource, limits lineLimits, block int64) (t Tail, ok bool, err error) {
	info, err := fsys.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return Tail{}, false, nil // loading the whole file reports the error
	}
	f, err := fsys.Open(path)
	if err != nil {
		return Tail{}, false, disk.Fault("open", path, err)
	}
	w := tailWalk{f: f, limits: limits, block: block, size: info.Size(), lo: info.Size(), seen: map[string]struct{}{}, doc: &Document{path: path}}
	ok, err = w.run(dialect)
	if ok {
		w.doc.src = source{file: f, size: w.size}
		t.Context, t.Problems, err = w.build(blobs)
		t.Header, t.LeafID = w.doc.header, w.leafID
	}
	if errors.Is(err, errTruncated) || errors.Is(err, io.EOF) {
		t, ok, err = Tail{}, false, nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return Tail{}, false, disk.Fault("read", path, err)
	}
	return t, ok, nil
}

// tailWalk follows the parents of the newest entry towards the beginning of the file.
type tailWalk struct {
	f      io.ReaderAt
	limits lineLimits
	block  int64 // bytes per step backwards

	size int64
	lo   int64  // buf holds the file from here …
	buf  []byte // … up to the line that is read next, at the start of its capacity
	ends []int  // where in buf lines end
	long int64  // bytes in lines that were not held

	doc    *Document
	path   []record            // from the leaf towards the root, their lines in the file only
	seen   map[string]struct{} // ids of every line read
	wanted string              // id of the next entry of the path; "" once the root is reached
	leafID string
	begun  bool

	keep        string // first entry the compaction keeps, "" when it is on the path already
	compacted   bool
	hasThinking bool
	hasModel    bool
}

func (w *tailWalk) run(dialect *Dialect) (ok bool, err error) {
	if ok, err = w.head(dialect); !ok || err != nil {
		return false, err
	}
	for !w.complete() {
		line, err := w.previousLine()
		if err != nil {
			return false, err
		}
		if line.end < 0 {
			// The beginning of the file. A parent that was not found is after its child.
			return w.begun && w.wanted == "", nil
		}
		if ok, err := w.take(line); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// head reads the header and determines the dialect.
func (w *tailWalk) head(dialect *Dialect) (ok bool, err error) {
	head := make([]byte, min(w.size, headReach))
	if _, err := w.f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	}
	d := w.doc
	d.indexBytes(head)
	if d.header.Raw == nil || d.header.Version != CurrentVersion || d.hasSlot {
		return false, nil
	}
	switch {
	case dialect != nil:
		d.dialect = *dialect
	case d.marks.pi:
		d.dialect = GuessDialect(false, d.header, d.marks)
	default:
		return false, nil
	}
	d.tree, d.problems = tree{}, nil
	return d.genuinePi(), nil
}

// complete reports whether nothing further back can change the context.
func (w *tailWalk) complete() bool {
	if !w.begun {
		return false
	}
	if w.wanted == "" {
		return true
	}
	return w.compacted && w.keep == "" && w.hasThinking && w.hasModel
}

// tailLine is a line that the walk is at.
type tailLine struct {
	off, end int64  // in the file, without the newline
	text     []byte // nil for a line that is not held; valid until the next one is read
	last     bool   // it may be incomplete, because the file ends with it
}

// previousLine returns the line before the last one returned. Its end is negative at the
// beginning of the file.
func (w *tailWalk) previousLine() (line tailLine, err error) {
	for {
		end, before := len(w.buf), len(w.ends)
		if before > 0 && w.ends[before-1] == end-1 {
			end, before = end-1, before-1
		} else {
			line.last = w.lo+int64(len(w.buf)) == w.size
		}
		line.off, line.end = w.lo, w.lo+int64(end)
		if before > 0 {
			start := w.ends[before-1] + 1
			line.off, line.text = line.off+int64(start), w.buf[start:end]
			w.buf, w.ends = w.buf[:start], w.ends[:before]
			return line, nil
		}
		if w.lo == 0 {
			if line.text = w.buf[:end]; len(w.buf) == 0 {
				line.end = -1
			}
			w.buf, w.ends = nil, nil
			return line, nil
		}
		if len(w.buf) > w.limits.long {
			line.off, err = w.longLine()
			w.long += line.end - line.off
			return line, err
		}
		if err := w.fill(); err != nil {
			return line, err
		}
	}
}

// longLine finds the beginning of the line that ends in the buffer, which it gives up.
func (w *tailWalk) longLine() (off int64, err error) {
	block := make([]byte, w.block)
	w.buf, w.ends = nil, nil
	for w.lo > 0 {
		part := block[:min(w.lo, w.block)]
		if got, err := w.f.ReadAt(part, w.lo-int64(len(part))); got < len(part) {
			return 0, cmp.Or(err, errTruncated)
		}
		i := bytes.LastIndexByte(part, '\n')
		if w.lo -= int64(len(part) - 1 - i); i >= 0 {
			break
		}
	}
	return w.lo, nil
}

// fill reads the preceding block of the file and prepends it to the buffer.
func (w *tailWalk) fill() error {
	n, rest := int(min(w.lo, max(w.block, int64(len(w.buf))))), len(w.buf)
	room := w.buf
	if cap(room) < n+rest {
		room = make([]byte, n+rest)
	}
	room = room[:n+rest]
	copy(room[n:], w.buf[:rest])
	block := room[:n]
	if got, err := w.f.ReadAt(block, w.lo-int64(n)); got < n {
		return cmp.Or(err, errTruncated)
	}
	old := w.ends
	w.ends = make([]int, 0, len(old)+n>>10)
	// Forwards, because there is a fast search for a byte in that direction only.
	for at := 0; ; at++ {
		i := bytes.IndexByte(block[at:], '\n')
		if i < 0 {
			break
		}
		at += i
		w.ends = append(w.ends, at)
	}
	for _, end := range old {
		w.ends = append(w.ends, n+end)
	}
	w.buf = room
	w.lo -= int64(n)
	return nil
}

// take handles one line on the way back. It returns false if the whole file must be read to
// be certain.
func (w *tailWalk) take(line tailLine) (ok bool, err error) {
	v, use, err := w.value(line)
	if err != nil || use != readable {
		return use == meaningless, err
	}
	if !v.Env.Object || w.limits.longName(&v.Env) || w.size-w.lo-w.long > max(tailReach, w.size/tailShare) {
		return false, nil
	}
	r, ok := w.doc.tree.record(v)
	if !ok || r.typ == TypeSession {
		return r.typ == TypeSession && w.lo == 0 && len(w.buf) == 0, nil
	}
	if r.id == "" {
		return false, nil
	}
	_, again := w.seen[r.id]
	w.seen[r.id] = struct{}{}
	if again || w.begun && r.id != w.wanted {
		return !again, nil
	}
	return w.step(r, v.Raw), nil
}

// lineUse is what a line means on the way back.
type lineUse uint8

const (
	unreadable  lineUse = iota // the whole file must be read
	meaningless                // it is blank, or an incomplete line at the very end, which is not an entry
	readable                   // it holds one value
)

// value reads the value of a line.
func (w *tailWalk) value(line tailLine) (v Value, use lineUse, err error) {
	if line.text == nil && line.end > line.off {
		return w.longValue(line)
	}
	if blank(line.text) == len(line.text) {
		return v, meaningless, nil
	}
	env, n, st := rawjson.ScanEnvelope(line.text)
	switch {
	case st != rawjson.Complete && line.last:
		use = meaningless
	case st == rawjson.Complete && blank(line.text[n:]) == len(line.text)-n:
		use = readable
	}
	return Value{off: line.off, Raw: line.text[:n], Env: env}, use, nil
}

// longValue is value for a line that is not held. It is read forwards.
func (w *tailWalk) longValue(line tailLine) (v Value, use lineUse, err error) {
	in := streamOf(w.f, line.off, line.end, w.limits.keep)
	if !in.Space() && in.Err() == nil {
		return v, meaningless, nil
	}
	d, st := in.Digest()
	n := in.Offset()
	more := in.Space()
	switch {
	case in.Err() != nil:
		return v, unreadable, in.Err()
	case st != rawjson.Complete && line.last:
		use = meaningless
	case st == rawjson.Complete && !more && !d.TooLong && n <= int64(w.limits.value):
		use = readable
	}
	return Value{off: line.off, Raw: d.Raw, Env: d.Env, digested: int(n)}, use, nil
}

// step takes the next entry of the path.
func (w *tailWalk) step(r record, line []byte) bool {
	w.begun = true
	if w.leafID == "" && !r.hidden {
		w.leafID = r.id
	}
	w.path = append(w.path, r)
	if r.id == w.keep {
		w.keep = ""
	}
	w.note(r, line)
	if w.wanted = r.parent; r.parent == r.id {
		w.wanted = ""
	}
	// The parent was found after its child: the index would use that one.
	_, behind := w.seen[w.wanted]
	return !behind
}

// note records the state that the entry determines.
func (w *tailWalk) note(r record, line []byte) {
	e := Entry{ID: r.id, Type: r.typ, Raw: line}
	switch r.typ {
	case TypeThinkingLevel:
		w.hasThinking = true
	case TypeModelChange:
		w.hasModel = w.hasModel || e.AsModelChange().Model != ""
	case TypeMessage:
		w.hasModel = w.hasModel || r.role == "assistant" && answerModel(e.Message()) != ""
	case TypeCompaction:
		if w.compacted {
			return
		}
		w.compacted = true
		if w.keep = e.AsCompaction().FirstKeptEntryID; w.keep == r.id {
			w.keep = ""
		}
	}
}

// build builds the context of the path that was found.
func (w *tailWalk) build(blobs BlobSource) (Context, []Problem, error) {
	slices.Reverse(w.path)
	path := make([]int, len(w.path))
	for i, r := range w.path {
		w.doc.tree.add(r)
		path[i] = i
	}
	return buildAlong(w.doc, path, blobs, nil)
}
