package guard

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Event is one event of an event stream.
type Event struct {
	Name string
	Data []byte // the lines of data; only good until the next event
	Cut  bool   // the stream ended before the blank line that completes an event
}

// maxEvent is how much one event may hold. Services send whole files in one.
const maxEvent = 64 << 20

var errTooLong = errors.New("an event is larger than 64 MiB")

// eventReader reads the format of server-sent events: LF, CRLF and CR end lines, comments keep the
// connection alive and have no meaning.
type eventReader struct {
	in     *bufio.Reader
	limit  int
	line   []byte
	data   []byte
	skipLF bool // the last line ended in CR, and an LF may belong to it
	begun  bool // the first line was read
}

func newEventReader(in io.Reader) *eventReader {
	const buffer = 32 << 10
	return &eventReader{in: bufio.NewReaderSize(in, buffer), limit: maxEvent}
}

// next returns the next event that has data. io.EOF is a clean end.
func (r *eventReader) next() (Event, error) {
	var e Event
	r.data = r.data[:0]
	lines := 0
	for {
		line, err := r.readLine()
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return Event{}, err
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case string(field) == "event":
			e.Name = string(value)
		case string(field) == "data":
			if lines > 0 {
				r.data = append(r.data, '\n')
			}
			r.data = append(r.data, value...)
			lines++
			if len(r.data) > r.limit {
				return Event{}, errTooLong
			}
		case len(line) == 0 && lines == 0:
			e.Name = ""
		}
		if lines > 0 && (len(line) == 0 || ended) {
			e.Data, e.Cut = r.data, ended
			return e, nil
		}
		if ended {
			return Event{}, io.EOF
		}
	}
}

// readLine returns a line without its end. At the end of the input it returns the rest together
// with the error. It never waits for input after the end of a line.
func (r *eventReader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		if _, err := r.in.Peek(1); err != nil {
			return r.line, err
		}
		chunk, _ := r.in.Peek(r.in.Buffered()) // buffered bytes are available
		skip := 0
		if r.skipLF {
			r.skipLF = false
			if chunk[0] == '\n' {
				skip = 1
			}
		}
		rest := chunk[skip:]
		end := bytes.IndexByte(rest, '\n')
		if cr := bytes.IndexByte(rest[:max(end, 0)], '\r'); cr >= 0 {
			end = cr
		} else if end < 0 {
			end = bytes.IndexByte(rest, '\r')
		}
		if end < 0 {
			r.line = append(r.line, rest...)
			_, _ = r.in.Discard(len(chunk)) // it is buffered
		} else {
			r.line = append(r.line, rest[:end]...)
			r.skipLF = rest[end] == '\r'
			_, _ = r.in.Discard(skip + end + 1) // it is buffered
		}
		if len(r.line) > r.limit {
			return nil, errTooLong
		}
		if end >= 0 {
			if !r.begun {
				r.begun = true
				r.line = bytes.TrimPrefix(r.line, []byte("\uFEFF"))
			}
			return r.line, nil
		}
	}
}
