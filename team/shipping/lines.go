package shipping

import (
	"bytes"
	"errors"
	"io"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// MaxLine is the greatest length of a line that is sent, with its newline.
const MaxLine = 256 << 20

// longest is MaxLine. Only tests change it.
var longest = MaxLine

// Lines returns whole lines of a file behind off: as many as fit in most bytes, or one line that is longer. It is nil if there is no
// whole line yet: the program that writes it has not written its newline. buf is used if it is large enough.
//
// The error is of kind tooLarge for a line that is longer than [MaxLine], else that of r.
func Lines(r io.ReaderAt, off int64, most int, buf []byte) ([]byte, error) {
	for size := most; ; size = min(2*size, longest) {
		if cap(buf) < size {
			buf = make([]byte, size)
		}
		n, err := r.ReadAt(buf[:size], off)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fault.New(fault.IO, "Cannot read the session file: %w.", err)
		}
		at := bytes.LastIndexByte(buf[:min(n, most)], '\n')
		if at < 0 { // only the first line is longer
			at = bytes.IndexByte(buf[:n], '\n')
		}
		switch {
		case at >= 0:
			return buf[:at+1], nil
		case n < size:
			return nil, nil
		case size >= longest:
			return nil, errLineTooLong()
		}
	}
}

func errLineTooLong() error {
	return fault.New(fault.TooLarge, "The session has a line of more than %d MB, so the rest of it stays on this machine.", longest>>20)
}
