package session

import "github.com/xcsh-ls/xcsh-ls/session/internal/disk"

// payloadBlock is how many bytes of a file are read at once for consecutive entries. A
// longer line is read by itself.
const payloadBlock = 1 << 20

// lineReader reads the lines of many entries. In a large file, adjacent lines share one
// read, because the call costs more than the bytes.
type lineReader struct {
	doc   *Document
	reuse bool   // blocks are overwritten: a line is valid until the next one only
	block []byte // bytes of the file, …
	at    span   // … these

	// long returns the line of an entry that is too long to be held in another form, or nil to read it whole.
	// A nil function reads all whole.
	long func(i int) ([]byte, error)
}

// each calls f with the line of each listed entry, in the current format and in list order,
// until f fails. Lines stay valid unless blocks are reused.
func (r *lineReader) each(list []int, f func(i int, raw []byte) error) error {
	for n, i := range list {
		raw, err := r.line(list[n:])
		if err == nil {
			err = f(i, raw)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// line returns the line of the first entry of list. The same read may fetch lines of
// further listed entries.
func (r *lineReader) line(list []int) ([]byte, error) {
	d, i := r.doc, list[0]
	if r.long != nil && d.long(i) {
		if line, err := r.long(i); line != nil || err != nil {
			return line, err
		}
	}
	if d.src.file == nil || d.tree.mem(i) != nil {
		return d.raw(i)
	}
	at := d.tree.span(i)
	if at.off < r.at.off || at.end > r.at.end {
		if err := r.fetch(list); err != nil {
			return nil, err
		}
	}
	from, to := at.off-r.at.off, at.end-r.at.off
	if err := d.confirm(i, r.block[from:to:to]); err != nil {
		return nil, err
	}
	return d.current(i, r.block[from:to:to]), nil
}

// fetch reads the first line of list, together with those that follow closely.
func (r *lineReader) fetch(list []int) error {
	at := r.reach(list)
	n := int(at.end - at.off)
	if !r.reuse || cap(r.block) < n {
		r.block = make([]byte, n, r.room(n))
	}
	r.at, r.block = at, r.block[:n]
	if err := r.doc.src.readFull(r.block, at.off); err != nil {
		r.at = span{}
		return disk.Fault("read", r.doc.path, err)
	}
	return nil
}

// room returns the size of a block for n bytes.
func (r *lineReader) room(n int) int {
	if r.reuse {
		return max(n, payloadBlock)
	}
	return n
}

// reach returns the range to read for the first line of list. It includes following lines
// as long as at least half of the bytes are wanted, since a block stays in memory as long
// as any of its lines.
func (r *lineReader) reach(list []int) span {
	at := r.doc.tree.span(list[0])
	wanted, unwanted := at.end-at.off, int64(0)
	for _, i := range list[1:] {
		if r.doc.tree.mem(i) != nil {
			continue
		}
		next := r.doc.tree.span(i)
		gap, n := next.off-at.end, next.end-next.off
		if gap < 0 || next.end-at.off > payloadBlock || unwanted+gap > wanted+n {
			break
		}
		at.end, wanted, unwanted = next.end, wanted+n, unwanted+gap
	}
	return at
}
