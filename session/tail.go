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

	// partReach is the same for a part of a context, and stateReach how far the model and the thinking level are searched
	// for beyond the first message. An uncompacted session of any size has its newest messages within them.
	partReach  = 4 << 20
	stateReach = 1 << 20

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

	// Pending names what is not known, if t is only a part: the JSON names of members of Context, and "title". A pending
	// member has no meaning, but pending messages are the newest ones of the context, and pending models those of the
	// roles that are known. Part is then the part of the path to the leaf that was read, as a session in memory.
	Pending []string
	Part    *Document
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
	return loadTail(fsys, path, dialect, blobs, tailOptions{limits: fileLimits, block: tailBlock})
}

// tailOptions are the options of reading from the end.
type tailOptions struct {
	limits lineLimits
	block  int64 // bytes per step backwards
	part   bool  // a part of the context suffices
	reach  int64 // of a part, in bytes; see partReach
}

func loadTail(fsys afero.Fs, path string, dialect *Dialect, blobs BlobSource, o tailOptions) (t Tail, ok bool, err error) {
	info, err := fsys.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return Tail{}, false, nil // loading the whole file reports the error
	}
	f, err := fsys.Open(path)
	if err != nil {
		return Tail{}, false, disk.Fault("open", path, err)
	}
	w := tailWalk{f: f, tailOptions: o, size: info.Size(), lo: info.Size(), seen: map[string]struct{}{}, doc: &Document{path: path}}
	ok, err = w.run(dialect)
	switch {
	case ok && o.part:
		t, ok, err = w.buildPart(blobs)
	case ok:
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
	tailOptions
	f io.ReaderAt

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

	// Of a part.
	needs  map[string]bool // entries that the compaction names and that are not on the path yet
	known  int64           // bytes that were read when no message was missing any more, 0 before
	ignore bool            // what is farther back does not matter to the messages
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
		if line.far {
			return w.begun, nil
		}
		if line.end < 0 || w.part && line.off <= w.doc.headerAt.off {
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
	if d.header.Raw == nil || d.header.Version != CurrentVersion || d.hasSlot && !w.part {
		return false, nil
	}
	_, named := ParseDialect(d.header.Dialect)
	switch {
	case dialect != nil:
		d.dialect = *dialect
	case d.marks.pi, w.part && (named || d.hasSlot || d.marks.omp || looksLikeSnowflake(d.header.ID)):
		// The first entry that only one program writes decides, so that none behind it matters.
		d.dialect = GuessDialect(d.hasSlot, d.header, d.marks)
	default:
		return false, nil
	}
	d.tree, d.problems, d.found = tree{}, nil, nil
	return w.part || d.genuinePi(), nil
}

// complete reports whether nothing further back can change the context.
func (w *tailWalk) complete() bool {
	if !w.begun {
		return false
	}
	if w.wanted == "" {
		return true
	}
	if w.part {
		return w.enough()
	}
	return w.compacted && w.keep == "" && w.hasThinking && w.hasModel
}

// tailLine is a line that the walk is at.
type tailLine struct {
	off, end int64  // in the file, without the newline
	text     []byte // nil for a line that is not held; valid until the next one is read
	last     bool   // it may be incomplete, because the file ends with it
	far      bool   // it is beyond the reach of a part, and was not read
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
		if w.part && (len(w.buf) > w.limits.long || w.size-w.lo >= w.reach) {
			line.far = true
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
	if !v.Env.Object || w.limits.longName(&v.Env) || !w.part && w.size-w.lo-w.long > max(tailReach, w.size/tailShare) {
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
	if w.part {
		r.mem = bytes.Clone(line)
	}
	w.path = append(w.path, r)
	if r.id == w.keep {
		w.keep = ""
	}
	delete(w.needs, r.id)
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
	case typeResetBoundary:
		w.ignore = w.ignore || !w.compacted && w.doc.dialect == Omp
	case TypeCompaction:
		if w.compacted {
			return
		}
		w.compacted = true
		w.needs = keptNames(e)
		if w.keep = e.AsCompaction().FirstKeptEntryID; w.keep == r.id {
			w.keep = ""
		}
	}
}

// build builds the context of the path that was found.
func (w *tailWalk) build(blobs BlobSource) (Context, []Problem, error) {
	return buildAlong(w.doc, w.addPath(), blobs, nil)
}

// addPath makes the path that was found the entries of the document, and returns their indexes.
func (w *tailWalk) addPath() []int {
	slices.Reverse(w.path)
	path := make([]int, len(w.path))
	for i, r := range w.path {
		w.doc.tree.add(r)
		path[i] = i
	}
	return path
}

// keptNames returns the ids of the entries before a compaction that it names.
func keptNames(e Entry) map[string]bool {
	names := map[string]bool{}
	for _, name := range []string{"firstKeptEntryId", "providerReplayThroughEntryId"} {
		if id, _ := rawjson.GetString(e.Raw, name); id != "" && id != e.ID {
			names[id] = true
		}
	}
	return names
}

// enough reports whether a part need not be longer: all messages are in it, and the state or as much as is read for it.
func (w *tailWalk) enough() bool {
	if !w.ignore && (!w.compacted || len(w.needs) > 0) {
		return false
	}
	read := w.size - w.lo
	if w.known == 0 {
		w.known = read
	}
	return w.hasThinking && w.hasModel || read >= w.known+min(stateReach, w.reach/4)
}

// buildPart builds the known part of the context. ok is false if that includes no message.
func (w *tailWalk) buildPart(blobs BlobSource) (t Tail, ok bool, err error) {
	d, path := w.doc, w.addPath()
	b := newContextBuilder(d, nil)
	if err := b.scanState(path); err != nil {
		return t, false, err
	}
	all, err := b.emitPart(path, w.wanted == "")
	if err != nil || len(b.ctx.Messages) == 0 || w.leafID == "" {
		return t, false, err
	}
	b.resolveBlobs(blobs)
	t = Tail{Header: d.header, LeafID: w.leafID, Context: b.ctx, Problems: b.problems, Part: d}
	if w.wanted != "" {
		t.Pending = b.pendingState(path)
	}
	if !all {
		t.Pending = append(t.Pending, "messages")
	}
	if !d.hasSlot { // any entry may be a title
		t.Pending = append(t.Pending, "title")
	}
	return t, true, nil
}

// pendingState returns the names of the state that entries before path may determine, and removes what they do from the
// models.
func (b *contextBuilder) pendingState(path []int) []string {
	found := map[Type]bool{}
	for _, i := range path {
		found[b.doc.tree.typ(i)] = true
	}
	if b.doc.dialect == Omp && !b.pinned { // an answer does not count if there was a choice before it
		delete(b.ctx.Models, "default")
	}
	pending := []string{"models"}
	if !found[TypeThinkingLevel] {
		pending = append(pending, "thinkingLevel", "configuredThinkingLevel")
	}
	if b.doc.genuinePi() {
		return pending // there is no other state
	}
	pending = append(pending, "injectedTtsrRules")
	for _, s := range []struct {
		typ   Type
		names []string
	}{
		{typeServiceTier, []string{"serviceTier"}},
		{typeContextChange, []string{"activeContextName", "activeContextTenant"}},
		{typeMCPToolSelection, []string{"selectedMCPToolNames", "hasPersistedMCPToolSelection"}},
		{TypeModeChange, []string{"mode", "modeData"}},
	} {
		if !found[s.typ] {
			pending = append(pending, s.names...)
		}
	}
	return pending
}

// emitPart emits the newest messages of a context, of which path is the end, or all of the path if whole. The messages
// are those that the whole path would end with. It reports whether these are all.
//
// In omp, that a call has a result, and that a result is one of a turn that failed, is seen among the messages of the
// part. A program that gives two calls of a conversation the same id can make that wrong.
func (b *contextBuilder) emitPart(path []int, whole bool) (all bool, err error) {
	if whole {
		return true, b.emitAll(path)
	}
	from, closed, err := b.partFrom(path)
	if err != nil {
		return false, err
	}
	if from < 0 {
		if err := b.emitAll(path); err != nil || b.doc.dialect != Omp || b.reset >= 0 {
			return err == nil, err
		}
		at, _, _, err := b.doc.newestNotes(path)
		return at >= 0, err // others may come before the path
	}
	part := contextBuilder{doc: b.doc, compaction: -1, reset: -1}
	if b.doc.dialect == Omp {
		err = part.emitEntries(path[from:], ompMessage)
		part.dropDanglingCalls()
		part.dropFailedTurns()
		if !closed {
			part.cutAtResults()
		}
	} else {
		err = part.emitAll(path[from:])
	}
	b.ctx.Messages, b.ctx.EntryIDs, b.roles = part.ctx.Messages, part.ctx.EntryIDs, part.roles
	return false, err
}

// partFrom returns the position on path, which is the end of a path, from which on its messages are shown and nothing is
// missing between them; -1 if that is so from the summary of a compaction or a reset on. closed is true if no message
// behind these comes from an entry before path.
func (b *contextBuilder) partFrom(path []int) (from int, closed bool, err error) {
	if b.doc.dialect == Omp && b.reset > b.compaction {
		return -1, true, nil
	}
	if b.compaction < 0 {
		return 0, false, nil
	}
	e, err := b.doc.Entry(path[b.compaction])
	if err != nil {
		return 0, false, err
	}
	c := e.AsCompaction()
	if b.doc.dialect == Xcsh && remoteHistory(c) != nil {
		return -1, true, nil
	}
	kept := b.compaction
	for id := range keptNames(e) {
		at := b.beforeCompaction(path, id)
		if at < 0 && (b.doc.dialect == Omp || id == c.FirstKeptEntryID) {
			return b.compaction + 1, false, nil
		}
		if id == c.FirstKeptEntryID {
			kept = at
		}
	}
	kind, _ := rawjson.GetString(c.Details, "kind")
	if b.doc.dialect != Omp || kind != "experimental-context-rollover" {
		return -1, true, nil
	}
	asked := func(i int) bool { return b.doc.tree.role(i) == "user" }
	if slices.ContainsFunc(path[:kept], asked) {
		return -1, true, nil
	}
	return kept, true, nil
}

// cutAtResults removes the messages up to the last result whose call is not among them: whether it is shown depends on
// that.
func (b *contextBuilder) cutAtResults() {
	calls, from := map[string]bool{}, 0
	for i, m := range b.ctx.Messages {
		switch b.roles[i] {
		case "assistant":
			noteCalls(calls, m)
		case "toolResult":
			if id, _ := rawjson.GetString(m, "toolCallId"); !calls[id] {
				from = i + 1
			}
		}
	}
	b.ctx.Messages, b.ctx.EntryIDs, b.roles = b.ctx.Messages[from:], b.ctx.EntryIDs[from:], b.roles[from:]
}
