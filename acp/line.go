package acp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine bounds one message of a client, in bytes. A prompt with a few large images stays far
// below it.
const maxLine = 64 << 20

// errTooLong means that a line was skipped because of its size.
var errTooLong = errors.New("acp: line is too long")

// readLine returns the next line without its end. Lines of more than limit bytes are skipped
// and errTooLong, after which reading goes on. io.EOF is the end of the input; what stands
// there without a line end is a line too. Memory grows with what arrives.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
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
			return nil, errTooLong
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		default:
			return bytes.TrimSpace(line), nil
		}
	}
}
