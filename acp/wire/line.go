package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine bounds one message, in bytes. A prompt with a few large images stays far below it.
const MaxLine = 64 << 20

// ErrTooLong means that a line was skipped because it was too long.
var ErrTooLong = errors.New("acp: line is too long")

// ReadLine returns the next line without its line ending. It skips a line of more than limit bytes and
// returns ErrTooLong; the next call reads on. At the end of the input it returns io.EOF, after a last
// line without a line ending. Memory use grows with the data received, not with limit.
func ReadLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		piece, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(piece) > limit; tooLong {
			line = nil
		} else {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, ErrTooLong
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		default:
			return bytes.TrimSpace(line), nil
		}
	}
}
