package enginetest

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// object returns a JSON object with members in the order of names and values. A nil value that is not a RawMessage is
// null; the value absent leaves the member out.
func object(members ...any) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := 0; i < len(members); i += 2 {
		if members[i+1] == absent {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", members[i], encode(members[i+1]))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// absent is the value of a member that an object does not have.
var absent = new(int)

// orAbsent returns the text, or absent if there is none.
func orAbsent(s string) any {
	if s == "" {
		return absent
	}
	return s
}

// orNull returns the text, or nil if there is none.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// encode returns a value as JavaScript writes it: with HTML and the line separators of Unicode unescaped, which Go's
// encoder escapes in strings only.
func encode(v any) []byte {
	if raw, ok := v.(json.RawMessage); ok {
		return raw
	}
	if s, ok := v.(string); ok {
		parts := strings.FieldsFunc(strings.NewReplacer("\u2028", "\x00\u2028\x00", "\u2029", "\x00\u2029\x00").Replace(s), func(r rune) bool { return r == 0 })
		if strings.ContainsRune(s, 0) || len(parts) < 2 {
			return plain(s)
		}
		out := []byte{'"'}
		for _, part := range parts {
			if part == "\u2028" || part == "\u2029" {
				out = append(out, part...)
				continue
			}
			quoted := plain(part)
			out = append(out, quoted[1:len(quoted)-1]...)
		}
		return append(out, '"')
	}
	return plain(v)
}

func plain(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a value of this package that is not JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// array returns a JSON array.
func array[T any](values []T) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, v := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(v))
	}
	b.WriteByte(']')
	return b.Bytes()
}

// lines writes one line after the other.
type lines struct {
	mu    sync.Mutex
	to    io.Writer // guarded by mu
	quiet bool      // nothing is sent any more; guarded by mu

	pieces bool // long lines are sent in pieces; guarded by mu
	cut    int  // the number of the last such line; guarded by mu
}

func (l *lines) send(line []byte) {
	l.mu.Lock()
	cut := l.pieces && len(line) > longLine
	if cut {
		l.cut++
	}
	number := l.cut
	l.mu.Unlock()
	if !cut {
		l.raw(append(bytes.Clone(line), '\n'))
		return
	}
	l.raw(append(bytes.Join(piecesOf(line, number), []byte("\n")), '\n'))
}

// raw writes bytes as they are.
func (l *lines) raw(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.quiet {
		_, _ = l.to.Write(b) // a host that is gone ends the input too
	}
}

func (l *lines) hush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quiet = true
}

// newEntryID returns an id as pi's entries have it.
func newEntryID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// newUUID returns a UUID of version 7.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	ms := time.Now().UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (8 * (5 - i)))
	}
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	s := hex.EncodeToString(b[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// isoNow returns the time as JavaScript prints it.
func isoNow() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }
