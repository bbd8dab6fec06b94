package session

import (
	"bytes"
	"io"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// segment is a number of whole lines of a file.
type segment struct {
	off     int64 // of buf in the file
	buf     []byte
	last    bool  // the file ends with it, perhaps in the middle of a line
	tooLong bool  // it is the beginning of a long line
	err     error // of reading it
	limits  lineLimits

	values []Value // of its first lines, which have no problems; counted from line 1
	lines  int     // how many lines those are
	usual  int     // how many bytes

	scanned chan struct{} // closed once values are known
}

// read makes g the segment that begins with rest, the beginning of a line, and continues
// with blocks read from src. It returns the beginning of the next segment.
func (g *segment) read(src io.Reader, off int64, block int, rest []byte) []byte {
	*g = segment{off: off, limits: g.limits, buf: append(g.buf[:0], rest...), values: g.values[:0], scanned: make(chan struct{})}
	for {
		seen := len(g.buf)
		g.grow(seen + block)
		n, err := io.ReadFull(src, g.buf[seen:])
		g.buf = g.buf[:seen+n]
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			g.last = true
			return nil
		}
		if g.err = err; err != nil {
			return nil
		}
		if end := bytes.LastIndexByte(g.buf[seen:], '\n'); end >= 0 {
			rest = append(rest[:0], g.buf[seen+end+1:]...)
			g.buf = g.buf[:seen+end+1]
			return rest
		}
		if g.tooLong = len(g.buf) > g.limits.long; g.tooLong {
			return nil
		}
	}
}

// grow makes g.buf n bytes long. Doubling its memory, up to what it can need, leaves less garbage than
// [slices.Grow].
func (g *segment) grow(n int) {
	if cap(g.buf) < n {
		room := max(n, min(2*cap(g.buf), g.limits.long+n-len(g.buf)))
		g.buf = append(make([]byte, 0, room), g.buf...)
	}
	g.buf = g.buf[:n]
}

// scan takes the values up to the first unusual line, whose meaning and extent may depend
// on the bytes after the segment.
func (g *segment) scan() {
	for g.usual < len(g.buf) && !g.tooLong && g.err == nil {
		n := bytes.IndexByte(g.buf[g.usual:], '\n')
		if n < 0 || n > g.limits.long {
			return
		}
		line := g.buf[g.usual : g.usual+n]
		if start := blank(line); start < n {
			env, used, st := rawjson.ScanEnvelope(line[start:])
			end := start + used
			if st != rawjson.Complete || blank(line[end:]) < n-end || g.limits.longName(&env) {
				return
			}
			v := Value{off: g.off + int64(g.usual+start), line: g.lines + 1, Raw: line[start:end], Env: env}
			v.prepare()
			g.values = append(g.values, v)
		}
		g.lines++
		g.usual += n + 1
	}
}
