package session

import (
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// A line of any length is read. One that is longer than lineLimits.long is not held: a
// [rawjson.Stream] sees it through the scanner's buffer, block by block, and keeps its envelope.

// lineLimits are the numbers of bytes from which on a scanner treats a line in another way.
type lineLimits struct {
	long int // longer lines are not held; 0: the whole file is held
	head int // the same as long, before and with the header, of which every byte is needed
	keep int // the longest id, type or role; also the longest part that is kept of a value in a long line
	span int // how far a value may extend past its first line

	value int // longer values are passed over
}

// fileLimits are the limits for a file. Lines of more than a megabyte hold images that a program
// did not move out, and there are few.
var fileLimits = lineLimits{long: 4 << 20, head: 32 << 20, keep: 64 << 10, span: maxSpan, value: maxValue}

// heldLimits are the limits for content that is in memory.
var heldLimits = lineLimits{keep: fileLimits.keep, span: maxSpan, value: maxValue}

// maxValue is the length of the longest value, in bytes. An index has 32 bits for it.
const maxValue = math.MaxInt32

// longest returns the length of the longest line that is held at this point.
func (s *lineScanner) longest() int {
	switch {
	case s.limits.long == 0:
		return math.MaxInt
	case !s.begun:
		return max(s.limits.head, s.limits.long)
	}
	return s.limits.long
}

// deliver emits a value, or reports why no index can hold it.
func (s *lineScanner) deliver(v Value) {
	switch {
	case v.length() > s.limits.value:
		s.report(problemAt(lineTooLong, s.line, true, "Line %d holds a value of more than 2 GiB and was passed over.", s.line))
	case v.nameless || s.limits.longName(&v.Env):
		s.report(problemAt(lineTooLong, s.line, true, "Line %d has an id, a type or a role of more than %d KiB and was passed over.", s.line, s.limits.keep>>10))
	case v.digested > 0 && !s.begun:
		s.report(problemAt(lineTooLong, s.line, true, "Line %d is longer than %d MiB, but no header comes before it; it was passed over.", s.line, s.limits.head>>20))
	default:
		s.begin(&v)
		s.emit(v)
	}
}

// begin records that v is delivered.
func (s *lineScanner) begin(v *Value) {
	// An object other than omp's title slot is the header, or there is none.
	s.begun = s.begun || v.Env.Object && string(v.Env.Type) != `"title"`
}

// longName reports whether an id, a type or a role is longer than those kept.
func (l *lineLimits) longName(env *rawjson.Envelope) bool {
	return max(len(env.Type), len(env.ID), len(env.ParentID), len(env.Role)) > l.keep
}

// longLine is the rest of next for a line that is not held. What it delivers and reports is the
// same, but for the form of the values.
func (s *lineScanner) longLine() error {
	w := lineWindow{s: s}
	in := rawjson.NewStream(w.next, s.limits.keep)
	used, st := s.longValues(in)
	for in.Err() == nil && w.err == nil && w.skip() {
	}
	if w.err != nil {
		return w.err
	}
	switch {
	case st == rawjson.Incomplete && !w.newline:
		s.report(problemAt(tornTail, s.line, true, "The last line (%d) stops in the middle.", s.line))
	case st != rawjson.Complete:
		if st == rawjson.Incomplete && s.budget > 0 {
			// A value that spans lines is shorter than a long line, so that looking for its end
			// can be left out. It counts as if it had been done.
			s.budget -= s.limits.span
		}
		s.report(problemAt(malformedLine, s.line, true, "Line %d is not JSON (at byte %d of the line).", s.line, used+1))
	case !w.newline && used > 0:
		s.report(problemAt(missingNewline, s.line, false, "The last line (%d) has no newline.", s.line))
	}
	return nil
}

// longValues is [lineScanner.values] for a line that is not held.
func (s *lineScanner) longValues(in *rawjson.Stream) (used int64, st rawjson.Status) {
	begin := s.off
	for found := 0; in.Space(); found++ {
		start := in.Offset()
		d, st := in.Digest()
		switch {
		case st != rawjson.Complete && found > 0:
			s.report(problemAt(malformedLine, s.line, true, "Line %d has something after its value that is not JSON.", s.line))
			return used, rawjson.Complete
		case st != rawjson.Complete:
			return in.Offset(), st
		case found > 0:
			s.report(problemAt(extraValue, s.line, false, "Line %d holds more than one value.", s.line))
		}
		used = in.Offset()
		v := Value{off: begin + start, line: s.line, Raw: d.Raw, Env: d.Env, nameless: d.TooLong, extra: found > 0}
		if used-start > int64(s.limits.keep) {
			v.digested = int(used - start)
		}
		s.deliver(v)
	}
	return used, rawjson.Complete
}

// lineWindow gives a scanner's current line to a stream, and moves the scanner over it.
type lineWindow struct {
	s       *lineScanner
	given   int  // bytes of the buffer that the stream has
	newline bool // the line ended with one, which is consumed
	ended   bool
	err     error
}

// next returns the next part of the line, empty at its end.
func (w *lineWindow) next() ([]byte, error) {
	s := w.s
	s.consume(w.given)
	if w.given = 0; w.ended {
		return nil, nil
	}
	if _, w.err = s.fill(1); w.err != nil {
		return nil, w.err
	}
	n := bytes.IndexByte(s.buf, '\n')
	switch {
	case n > 0:
	case n == 0:
		s.consume(1)
		w.newline, w.ended = true, true
		return nil, nil
	default:
		if n = len(s.buf); n == 0 {
			w.ended = true
		}
	}
	w.given = n
	return s.buf[:n], nil
}

// skip moves to the next part of the line and reports whether there is one.
func (w *lineWindow) skip() bool {
	part, err := w.next()
	return err == nil && len(part) > 0
}

// streamOf returns a stream over the bytes of r from off to end.
func streamOf(r io.ReaderAt, off, end int64, keep int) *rawjson.Stream {
	section, block := io.NewSectionReader(r, off, end-off), make([]byte, tailBlock)
	return rawjson.NewStream(func() ([]byte, error) {
		n, err := io.ReadFull(section, block)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return block[:n], err
	}, keep)
}
