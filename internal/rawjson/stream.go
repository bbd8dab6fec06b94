package rawjson

// maxDepth is how deeply the values of a [Stream] may be nested: it bounds the memory that a line of
// brackets takes, to a bit per level.
const maxDepth = 32 << 20

// Stream reads JSON values of any length. It sees them through windows and keeps no more of them than
// the open brackets and the beginnings of a few values. What it accepts, and where it finds the first
// wrong byte, is the same as of [Scan], but for values nested more deeply than maxDepth.
//
// A Stream is not safe for concurrent use.
type Stream struct {
	next func() ([]byte, error)
	keep int   // how many bytes of a value are kept
	base int64 // bytes before b
	b    []byte
	i    int
	end  bool // there is no window after b
	err  error
	open nesting

	captures []capture // of the values that the stream is in, outermost first
	key      []byte    // the last key of a member, with its quotes; nil for one longer than keep
	name     string    // the same decoded, "" for nil
}

// capture is the beginning of a value.
type capture struct {
	from int // in the window: the bytes before it are in kept
	kept []byte
	over bool // the value is longer
}

// NewStream returns a stream over the windows that next returns, one after the other; an empty one is
// the end. A window must stay unchanged until the next call. keep is the greatest length in bytes of a
// value that is kept; it is at least 64, so that the names of members are.
func NewStream(next func() ([]byte, error), keep int) *Stream {
	return &Stream{next: next, keep: max(keep, 64)}
}

// Offset returns the number of bytes before the next one to be read.
func (s *Stream) Offset() int64 { return s.base + int64(s.i) }

// Err returns the error of a call of next, after which the stream ends.
func (s *Stream) Err() error { return s.err }

// Space skips white space and reports whether anything follows.
func (s *Stream) Space() bool {
	for s.more() {
		if s.i = skipSpace(s.b, s.i); s.i < len(s.b) {
			return true
		}
	}
	return false
}

// space is Space as a status.
func (s *Stream) space() Status {
	if s.i < len(s.b) && s.b[s.i] > ' ' || s.Space() {
		return Complete
	}
	return Incomplete
}

// more reports whether there is another byte, which is then in the window.
func (s *Stream) more() bool {
	for s.i == len(s.b) {
		if s.end {
			return false
		}
		s.refill()
	}
	return true
}

func (s *Stream) refill() {
	for i := range s.captures {
		c := &s.captures[i]
		c.take(s.b[c.from:], s.keep)
		c.from = 0
	}
	s.base += int64(len(s.b))
	s.i = 0
	if s.b, s.err = s.next(); len(s.b) == 0 || s.err != nil {
		s.b, s.end = nil, true
	}
}

func (c *capture) take(b []byte, keep int) {
	n := min(len(b), keep-len(c.kept))
	c.kept = append(c.kept, b[:n]...)
	c.over = c.over || n < len(b)
}

// begin begins to keep a value.
func (s *Stream) begin() { s.captures = append(s.captures, capture{from: s.i}) }

// kept ends the last begin. over reports that the value is longer than the part returned.
func (s *Stream) kept() (beginning []byte, over bool) {
	c := &s.captures[len(s.captures)-1]
	s.captures = s.captures[:len(s.captures)-1]
	c.take(s.b[c.from:s.i], s.keep)
	return c.kept, c.over
}

// value reads a value without keeping it. It is the loop of [Scan].
func (s *Stream) value() Status {
	wantKey := false
	for {
		if st := s.space(); st != Complete {
			return st
		}
		if wantKey {
			if st := s.keyAndColon(); st != Complete {
				return st
			}
			wantKey = false
			continue
		}
		opened, st := s.start()
		if st != Complete {
			return st
		}
		if opened {
			if st := s.space(); st != Complete {
				return st
			}
			if s.b[s.i] != s.open.closer() {
				wantKey = s.open.inObject()
				continue
			}
		}
		done, key, st := s.after()
		if done || st != Complete {
			return st
		}
		wantKey = key
	}
}

// start consumes a scalar, or an opening bracket and reports that it did.
func (s *Stream) start() (opened bool, st Status) {
	switch c := s.b[s.i]; c {
	case '"':
		return false, s.string()
	case '{', '[':
		if s.open.depth == maxDepth {
			return false, Invalid
		}
		s.open.open(c == '{')
		s.i++
		return true, Complete
	case 't':
		return false, s.literal("true")
	case 'f':
		return false, s.literal("false")
	case 'n':
		return false, s.literal("null")
	default:
		if c == '-' || isDigit(c) {
			return false, s.number()
		}
		return false, Invalid
	}
}

// after consumes the characters that may follow a value: closing brackets, then a comma. done means
// the outermost value ended.
func (s *Stream) after() (done, wantKey bool, st Status) {
	for s.open.depth > 0 {
		if st := s.space(); st != Complete {
			return false, false, st
		}
		switch s.b[s.i] {
		case ',':
			s.i++
			return false, s.open.inObject(), Complete
		case s.open.closer():
			s.i++
			s.open.close()
		default:
			return false, false, Invalid
		}
	}
	return true, false, Complete
}

func (s *Stream) keyAndColon() Status {
	if s.b[s.i] != '"' {
		return Invalid
	}
	if st := s.string(); st != Complete {
		return st
	}
	return s.colon()
}

func (s *Stream) colon() Status {
	if st := s.space(); st != Complete {
		return st
	}
	if s.b[s.i] != ':' {
		return Invalid
	}
	s.i++
	return Complete
}

// string consumes the string that begins at the stream.
func (s *Stream) string() Status {
	s.i++
	for s.more() {
		if s.i = plainEnd(s.b, s.i); s.i == len(s.b) {
			continue
		}
		switch s.b[s.i] {
		case '"':
			s.i++
			return Complete
		case '\\':
			if st := s.escape(); st != Complete {
				return st
			}
		default: // a raw control character
			return Invalid
		}
	}
	return Incomplete
}

func (s *Stream) escape() Status {
	s.i++
	if !s.more() {
		return Incomplete
	}
	switch s.b[s.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i++
		return Complete
	case 'u':
		s.i++
	default:
		return Invalid
	}
	for range 4 {
		if !s.more() {
			return Incomplete
		}
		if !isHex(s.b[s.i]) {
			return Invalid
		}
		s.i++
	}
	return Complete
}

func (s *Stream) literal(word string) Status {
	for j := range len(word) {
		if !s.more() {
			return Incomplete
		}
		if s.b[s.i] != word[j] {
			return Invalid
		}
		s.i++
	}
	return Complete
}

func (s *Stream) number() Status {
	s.skip('-', '-')
	switch {
	case !s.more():
		return Incomplete
	case s.b[s.i] == '0':
		s.i++
		if s.more() && isDigit(s.b[s.i]) {
			return Invalid
		}
	default:
		if st := s.digits(); st != Complete {
			return st
		}
	}
	if s.skip('.', '.') {
		if st := s.digits(); st != Complete {
			return st
		}
	}
	if s.skip('e', 'E') {
		s.skip('+', '-')
		return s.digits()
	}
	return Complete
}

// skip consumes the next byte if it is a or b, and reports whether it did.
func (s *Stream) skip(a, b byte) bool {
	if !s.more() || s.b[s.i] != a && s.b[s.i] != b {
		return false
	}
	s.i++
	return true
}

// digits consumes at least one digit.
func (s *Stream) digits() Status {
	from := s.Offset()
	for s.more() {
		for s.i < len(s.b) && isDigit(s.b[s.i]) {
			s.i++
		}
		if s.i < len(s.b) {
			break
		}
	}
	switch {
	case s.Offset() > from:
		return Complete
	case s.i == len(s.b):
		return Incomplete
	}
	return Invalid
}
