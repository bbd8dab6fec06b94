package child

import (
	"bufio"
	"errors"
	"io"
	"os"
	"time"
)

const (
	// lingerFor is how long the output of a child that has ended is waited for. Only a process that could not be ended
	// still holds it then.
	lingerFor = 500 * time.Millisecond

	// mostLate bounds the output that is read after a child has ended, in bytes. It is far above what a pipe holds.
	mostLate = 4 << 20

	readSize = 64 << 10
)

// Lines returns the lines that the child sends, without their line feeds, in order. The receiver owns them.
// Lines end with LF only. What follows the last one is a line too. The channel is closed when no more will come; a child
// whose host does not receive waits.
func (c *Child) Lines() <-chan []byte { return c.lines }

// readLines passes on the lines of the child until its output ends.
func (c *Child) readLines() {
	from := bufio.NewReaderSize(&output{child: c, file: c.stdout}, readSize)
	for c.passLine(from) {
	}
	close(c.lines)
	// The child must be able to end.
	_, _ = io.Copy(io.Discard, from) // every way in which it ends is its end
}

// passLine passes on one line, and reports whether there may be another one.
func (c *Child) passLine(from *bufio.Reader) bool {
	line, err := readLine(from, c.config.MaxLine)
	if errors.Is(err, ErrTooLong) {
		c.fail(err, "sent more than can be read at once")
		return false
	}
	select { // Close may not lose against a host that receives.
	case <-c.discard:
		return false
	default:
	}
	if err != nil && len(line) == 0 {
		return false
	}
	select {
	case c.lines <- line:
	case <-c.discard:
		return false
	}
	select {
	case c.active <- struct{}{}:
	default:
	}
	return err == nil
}

// readLine returns the next line without its line feed, and at the end of the output its rest, with the error. Memory
// use grows with the data received, not with limit.
func readLine(from *bufio.Reader, limit int) (line []byte, err error) {
	for {
		piece, err := from.ReadSlice('\n')
		if err == nil {
			piece = piece[:len(piece)-1]
		}
		if len(line)+len(piece) > limit {
			return nil, ErrTooLong
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// readErrors keeps the end of what the child writes to its standard error.
func (c *Child) readErrors() {
	_, _ = io.Copy(&c.errors, &output{child: c, file: c.stderr}) // every way in which it ends is its end
}

// output is the output of a child. After the child has ended it does not wait for others that hold it.
type output struct {
	child *Child
	file  *os.File
	late  int // bytes that were read after the end
}

func (o *output) Read(b []byte) (int, error) {
	select {
	case <-o.child.exited:
	default:
		n, err := o.file.Read(b)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		// The child has ended since, and this reader was late.
	}
	if o.late > mostLate {
		return 0, io.EOF
	}
	linger(o.file)
	n, err := o.file.Read(b)
	o.late += n
	return n, err
}

// hurry limits the time for which the output is waited for by a reader that waits now.
func (c *Child) hurry() {
	linger(c.stdout)
	linger(c.stderr)
}

// linger limits the time of the next read. Where pipes have no deadlines, nothing that the child started is left to hold
// them.
func linger(f *os.File) {
	_ = f.SetReadDeadline(time.Now().Add(lingerFor))
}
