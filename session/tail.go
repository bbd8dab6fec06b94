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
	info, err := fsys.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return Tail{}, false, nil // loading the whole file reports the error
	}
	f, err := fsys.Open(path)
	if err != nil {
		return Tail{}, false, disk.Fault("open", path, err)
	}
	w := tailWalk{f: f, size: info.Size(), lo: info.Size(), seen: map[string]struct{}{}, doc: &Document{path: path}}
	ok, err = w.run(dialect)
	if ok {
		w.doc.src = source{file: f, size: w.size}
		t.Context, t.Problems, err = w.build(blobs)
		t.Header, t.LeafID = w.doc.header, w.leafID
	}
	if errors.Is(err, errTooLong) || errors.Is(err, errTruncated) || errors.Is(err, io.EOF) {
		t, ok, err = Tail{}, false, nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return Tail{}, false, disk.Fault("read", path, err)
	}
	return t, ok, nil
}

// errTooLong means that a line extends further back than is worth reading.
var errTooLong = errors.New("session: line too long")

// tailWalk follows the parents of the newest entry towards the beginning of the file.
type tailWalk struct {
	f    io.ReaderAt
	size int64
	lo   int64  // buf holds the file from here …
	buf  []byte // … up to the line that is read next, at the start of its capacity
	ends []int  // where in buf lines end

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
		line, last, err := w.previousLine()
		if err != nil {
			return false, err
		}
		if line == nil {
			// The beginning of the file. A parent that was not found is after its child.
			return w.begun && w.wanted == "", nil
		}
		if !w.take(line, last) {
			return false, nil
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

// previousLine returns the line before the last one returned, nil at the beginning of the
// file. last reports that it has no newline. The line is valid until the next call.
func (w *tailWalk) previousLine() (line []byte, last bool, err error) {
	for {
		end, before := len(w.buf), len(w.ends)
		if before > 0 && w.ends[before-1] == end-1 {
			end, before = end-1, before-1
		} else {
			last = w.lo+int64(len(w.buf)) == w.size
		}
		if before > 0 {
			start := w.ends[before-1] + 1
			line = w.buf[start:end]
			w.buf, w.ends = w.buf[:start], w.ends[:before]
			return line, last, nil
		}
		if w.lo == 0 {
			if len(w.buf) == 0 {
				return nil, false, nil
			}
			line, w.buf, w.ends = w.buf[:end], nil, nil
			return line, last, nil
		}
		if len(w.buf) > maxLine {
			return nil, false, errTooLong
		}
		if err := w.fill(); err != nil {
			return nil, false, err
		}
	}
}

// fill reads the preceding block of the file and prepends it to the buffer.
func (w *tailWalk) fill() error {
	n, rest := int(min(w.lo, max(tailBlock, int64(len(w.buf))))), len(w.buf)
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
func (w *tailWalk) take(line []byte, last bool) bool {
	if blank(line) == len(line) {
		return true
	}
	env, n, st := rawjson.ScanEnvelope(line)
	if st != rawjson.Complete {
		return last // an incomplete line at the very end is not an entry
	}
	if blank(line[n:]) != len(line)-n || !env.Object || w.size-w.lo > max(tailReach, w.size/tailShare) {
		return false
	}
	// The line begins at the end of the remaining buffer.
	r, ok := w.doc.tree.record(Value{off: w.lo + int64(len(w.buf)), Raw: line[:n], Env: env})
	if !ok || r.typ == TypeSession {
		return r.typ == TypeSession && w.lo == 0 && len(w.buf) == 0
	}
	if r.id == "" {
		return false
	}
	_, again := w.seen[r.id]
	w.seen[r.id] = struct{}{}
	if again || w.begun && r.id != w.wanted {
		return !again
	}
	return w.step(r, line[:n])
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
