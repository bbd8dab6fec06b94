package conn

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The limits of a message. The header limit is far above any client's headers. The body limit is
// above the largest session that is opened as a document (100 MB, somewhat more as a JSON string)
// and below a size that would exhaust the machine's memory.
const (
	maxHeader = 8 << 10
	maxBody   = 192 << 20
)

// errFraming means that the end of the current message is unknown.
var errFraming = errors.New("lsp: message header is broken")

// errTooLarge means that a message was skipped because of its size.
var errTooLarge = errors.New("lsp: message is too large")

// readFrame reads one message: a header block and a body. It returns io.EOF if the input ended,
// even within a message, errFraming if the rest is unreadable, and errTooLarge if it skipped a
// message and can read the next one.
func readFrame(r *bufio.Reader) ([]byte, error) {
	length, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	if length > maxBody {
		if _, err := io.CopyN(io.Discard, r, length); err != nil {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("%w: %d bytes", errTooLarge, length)
	}
	return readBody(r, int(length))
}

// readBody reads n bytes. Memory grows with the bytes that arrive, not with the announced length.
func readBody(r io.Reader, n int) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(min(n, 64<<10))
	if _, err := io.CopyN(&b, r, int64(n)); err != nil {
		return nil, io.EOF
	}
	return b.Bytes(), nil
}

// readHeader reads a header block and returns the Content-Length. Blank lines
// before it are skipped: some clients end a message with a newline.
func readHeader(r *bufio.Reader) (int64, error) {
	length, size := int64(-1), 0
	for fields := 0; ; {
		line, err := readLine(r, maxHeader-size)
		if err != nil {
			return 0, err
		}
		size += len(line)
		text := strings.TrimRight(line, "\r\n")
		if text == "" {
			if fields == 0 {
				continue
			}
			break
		}
		fields++
		n, err := contentLength(text)
		if err != nil {
			return 0, err
		}
		if n >= 0 && length >= 0 && n != length {
			return 0, fmt.Errorf("%w: two lengths", errFraming)
		}
		length = max(length, n)
	}
	if length < 0 {
		return 0, fmt.Errorf("%w: no Content-Length", errFraming)
	}
	return length, nil
}

// contentLength returns the value of a Content-Length field, or -1 for another
// field.
func contentLength(field string) (int64, error) {
	name, value, ok := strings.Cut(field, ":")
	if !ok {
		return 0, fmt.Errorf("%w: a line without a colon", errFraming)
	}
	if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
		return -1, nil
	}
	// ParseUint rather than ParseInt: a sign is not part of the grammar.
	n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 62)
	if err != nil {
		return 0, fmt.Errorf("%w: Content-Length is not a length", errFraming)
	}
	return int64(n), nil
}

// readLine reads a line of at most limit bytes with its line end.
func readLine(r *bufio.Reader, limit int) (string, error) {
	var line []byte
	for {
		chunk, err := r.ReadSlice('\n')
		line = append(line, chunk...)
		if len(line) > limit {
			return "", fmt.Errorf("%w: longer than %d bytes", errFraming, maxHeader)
		}
		switch {
		case err == nil:
			return string(line), nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return "", io.EOF
		}
	}
}
