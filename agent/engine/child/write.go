package child

import (
	"bytes"
	"context"
	"errors"
	"time"
)

// writeSize is the size of the pieces in which a line is written, in bytes. A child that reads at all reads one within the
// limit.
const writeSize = 64 << 10

// write is a line that is to be written.
type write struct {
	line []byte
	done chan<- error
}

// Write sends a line, to which it adds the line feed. Lines are sent one after the other, in the order of the calls.
// A line that the child did not read is in the pipe.
//
// If ctx ends while a line is being written, Write returns, and the rest of the line is still written. Write
// returns an error that wraps [ErrEnded] if the child has ended or is being closed. A child that reads nothing for 10 s
// is ended.
func (c *Child) Write(ctx context.Context, line []byte) error {
	if bytes.IndexByte(line, '\n') >= 0 {
		return errors.New("child: a line contains a line feed")
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	done := make(chan error, 1)
	select {
	case c.writes <- write{append(bytes.Clone(line), '\n'), done}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.input:
		return ErrEnded
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// writeAll writes lines until the input of the child ends.
func (c *Child) writeAll() {
	for {
		select {
		case w := <-c.writes:
			w.done <- c.writeLine(w.line)
		case <-c.input:
			return
		}
	}
}

// writeLine writes a line in pieces, each within the limit.
func (c *Child) writeLine(line []byte) error {
	late := time.AfterFunc(c.config.WriteLimit, func() {
		c.fail(ErrNotReading, "does not read what it is sent")
		c.endInput()
	})
	defer late.Stop()
	for len(line) > 0 {
		n, err := c.stdin.Write(line[:min(len(line), writeSize)])
		if err != nil {
			return errors.Join(ErrEnded, err)
		}
		line = line[n:]
		late.Reset(c.config.WriteLimit)
	}
	return nil
}
