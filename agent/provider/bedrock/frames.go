package bedrock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

// framing is that of Amazon's event streams: messages with a length, headers, a payload and checksums.
// The reader of Amazon's SDK allocates the length that a service claims; this one has limits.
var framing = &guard.Framing{
	MediaType: "application/vnd.amazon.eventstream",
	Events:    func(in io.Reader) func() (guard.Event, error) { return (&frames{in: in}).next },
}

// The limits of the format, in bytes, and the sizes of its fixed parts.
const (
	maxHeaders = 128 << 10
	maxPayload = 24 << 20

	preludeSize  = 12 // two lengths and a checksum
	checksumSize = 4
)

type frames struct{ in io.Reader }

var errFrame = errors.New("a message of the stream is damaged")

// next returns the next message, with the type of its event as its name. An exception's name begins
// with exceptionPrefix.
func (f *frames) next() (guard.Event, error) {
	var prelude [preludeSize]byte
	if _, err := io.ReadFull(f.in, prelude[:]); err != nil {
		return guard.Event{}, err // io.EOF only between messages
	}
	total, headers := binary.BigEndian.Uint32(prelude[:]), binary.BigEndian.Uint32(prelude[4:])
	const least = preludeSize + checksumSize
	switch {
	case crc32.ChecksumIEEE(prelude[:8]) != binary.BigEndian.Uint32(prelude[8:]),
		headers > maxHeaders, total < least+headers, total-least-headers > maxPayload:
		return guard.Event{}, errFrame
	}
	// The buffer grows with what arrives.
	var rest bytes.Buffer
	n := int64(total) - preludeSize
	if got, err := io.Copy(&rest, io.LimitReader(f.in, n)); err != nil {
		return guard.Event{}, err
	} else if got < n {
		return guard.Event{}, io.ErrUnexpectedEOF
	}
	body := rest.Bytes()
	content := body[:len(body)-checksumSize]
	sum := crc32.Update(crc32.ChecksumIEEE(prelude[:]), crc32.IEEETable, content)
	if sum != binary.BigEndian.Uint32(body[len(content):]) {
		return guard.Event{}, errFrame
	}
	name, err := eventName(content[:headers])
	return guard.Event{Name: name, Data: content[headers:]}, err
}

const exceptionPrefix = "exception:"

// sizes are those of the values of headers, by type; the values of types 6 and 7 have a length.
var sizes = map[byte]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}

// eventName returns the type of the event from the headers of a message.
func eventName(headers []byte) (string, error) {
	values := map[string]string{}
	for len(headers) > 0 {
		name, rest, ok := cut(headers[1:], int(headers[0]))
		if !ok || len(rest) == 0 {
			return "", errFrame
		}
		kind, rest := rest[0], rest[1:]
		size, fixed := sizes[kind]
		if !fixed {
			if kind != 6 && kind != 7 || len(rest) < 2 {
				return "", errFrame
			}
			size, rest = int(binary.BigEndian.Uint16(rest)), rest[2:]
		}
		value, rest, ok := cut(rest, size)
		if !ok {
			return "", errFrame
		}
		values[string(name)], headers = string(value), rest
	}
	switch values[":message-type"] {
	case "exception":
		return exceptionPrefix + values[":exception-type"], nil
	case "error":
		return exceptionPrefix + values[":error-code"], nil
	default:
		return values[":event-type"], nil
	}
}

// cut splits b after n bytes.
func cut(b []byte, n int) (head, tail []byte, ok bool) {
	if len(b) < n {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}
