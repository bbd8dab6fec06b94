package rawjson

import (
	"encoding/binary"
	"math/bits"
)

// Status is the result of [Scan].
type Status uint8

// The outcomes of [Scan].
const (
	Complete   Status = iota // a whole value
	Incomplete               // the bytes end inside a value that is valid so far
	Invalid                  // no continuation makes this a value
)

// Scan reads one JSON value at the start of b, after optional white space. It
// returns the number of bytes up to the end of the value ([Complete]), to the end
// of b ([Incomplete]) or to the offending byte ([Invalid]). A number or literal
// that reaches the end of b is complete.
func Scan(b []byte) (n int, st Status) {
	s := scanner{b: b, block: noBlock}
	st = s.value()
	return s.i, st
}

// Valid reports whether b is exactly one JSON value with optional white space around it.
func Valid(b []byte) bool {
	n, st := Scan(b)
	return st == Complete && skipSpace(b, n) == len(b)
}

type scanner struct {
	b     []byte
	i     int
	open  nesting
	block block // the one the last string ended in

	escaped bool // there is a backslash in the last string

	keyStart, keyEnd int // the last key of a member, quotes included
}

// value runs the grammar as a loop, not by recursion: nesting depth comes from a file.
func (s *scanner) value() Status {
	wantKey := false
	for {
		if st := s.space(); st != Complete {
			return st
		}
		if wantKey {
			if st := s.key(); st != Complete {
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
func (s *scanner) start() (opened bool, st Status) {
	switch c := s.b[s.i]; c {
	case '"':
		return false, s.string()
	case '{', '[':
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
func (s *scanner) after() (done, wantKey bool, st Status) {
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

func (s *scanner) key() Status {
	if s.b[s.i] != '"' {
		return Invalid
	}
	if st := s.string(); st != Complete {
		return st
	}
	s.keyEnd = s.i
	if st := s.space(); st != Complete {
		return st
	}
	if s.b[s.i] != ':' {
		return Invalid
	}
	s.i++
	return Complete
}

// space skips white space and reports Incomplete when nothing follows it.
func (s *scanner) space() Status {
	if s.i < len(s.b) && s.b[s.i] > ' ' {
		return Complete
	}
	return s.moreSpace()
}

func (s *scanner) moreSpace() Status {
	if s.i = skipSpace(s.b, s.i); s.i == len(s.b) {
		return Incomplete
	}
	return Complete
}

// string consumes the string that begins at the scanner.
func (s *scanner) string() Status {
	k, from := &s.block, s.i+1
	if at := from &^ (blockSize - 1); at != k.at {
		if at >= len(s.b) {
			return s.brokenString()
		}
		k.scan(s.b, at, 0)
	}
	inside := ^uint64(0) << (from % blockSize) // the bytes of the block that are in the string
	escaped := false
	for k.ends&inside == 0 {
		if k.odd&inside != 0 && !s.fine(k.odd&inside) || k.at+blockSize >= len(s.b) {
			return s.brokenString()
		}
		escaped = escaped || k.slashes&inside != 0
		k.scan(s.b, k.at+blockSize, k.carry)
		inside = ^uint64(0)
	}
	end := bits.TrailingZeros64(k.ends & inside)
	inside &= 1<<end - 1
	if k.odd&inside != 0 && !s.fine(k.odd&inside) {
		return s.brokenString()
	}
	s.i = k.at + end + 1
	s.escaped = escaped || k.slashes&inside != 0
	return Complete
}

// fine reports whether the odd bytes of the block make whole escape sequences with the
// backslashes before them.
func (s *scanner) fine(odd uint64) bool {
	for ; odd != 0; odd &= odd - 1 {
		if _, st := escape(s.b[s.block.at+bits.TrailingZeros64(odd)-1:]); st != Complete {
			return false
		}
	}
	return true
}

// brokenString scans the invalid or incomplete string that begins at the scanner, byte by byte up to the
// position of the error.
func (s *scanner) brokenString() Status {
	for i := s.i + 1; ; {
		i = plainEnd(s.b, i)
		if i >= len(s.b) {
			s.i = len(s.b)
			return Incomplete
		}
		if s.b[i] != '\\' { // a raw control character
			s.i = i
			return Invalid
		}
		n, st := escape(s.b[i:])
		if st != Complete {
			s.i = i + n
			return st
		}
		i += n
	}
}

// escape returns the length of the escape sequence at the start of b.
func escape(b []byte) (int, Status) {
	if len(b) < 2 {
		return len(b), Incomplete
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, Complete
	case 'u':
	default:
		return 1, Invalid
	}
	for i := 2; i < 6; i++ {
		if i >= len(b) {
			return i, Incomplete
		}
		if !isHex(b[i]) {
			return i, Invalid
		}
	}
	return 6, Complete
}

func (s *scanner) literal(word string) Status {
	for j := range len(word) {
		if s.i == len(s.b) {
			return Incomplete
		}
		if s.b[s.i] != word[j] {
			return Invalid
		}
		s.i++
	}
	return Complete
}

func (s *scanner) number() Status {
	if s.b[s.i] == '-' {
		s.i++
	}
	switch {
	case s.i == len(s.b):
		return Incomplete
	case s.b[s.i] == '0':
		s.i++
		if s.i < len(s.b) && isDigit(s.b[s.i]) {
			return Invalid
		}
	case !s.digits():
		return Invalid
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		if st := s.moreDigits(); st != Complete {
			return st
		}
	}
	if s.i < len(s.b) && s.b[s.i]|0x20 == 'e' {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		return s.moreDigits()
	}
	return Complete
}

func (s *scanner) moreDigits() Status {
	if s.i == len(s.b) {
		return Incomplete
	}
	if !s.digits() {
		return Invalid
	}
	return Complete
}

func (s *scanner) digits() bool {
	from := s.i
	for s.i < len(s.b) && isDigit(s.b[s.i]) {
		s.i++
	}
	return s.i > from
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isHex(c byte) bool { return isDigit(c) || (c|0x20)-'a' <= 5 }

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// plainEnd returns the index of the first byte from i on that is a quote, a
// backslash or a control character. It examines eight bytes at a time because
// almost all of a session file is the inside of strings.
func plainEnd(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		// A byte's high bit survives where the byte is zero (quote, slash) or below 0x20.
		hit := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= 0x20 {
		i++
	}
	return i
}
