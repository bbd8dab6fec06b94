package visible

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Values of scanner.prev that are no characters.
const (
	nothing   = -1 // the beginning, an escape, or a character that affects no other
	emojiDone = -2 // an emoji that is complete except for a joiner
)

// scanner escapes a text piece by piece. Its zero value is not ready; see newScanner.
type scanner struct {
	form *form
	prev rune // the last character that was kept: it decides whether an invisible one may follow
}

func newScanner(f *form) scanner { return scanner{f, nothing} }

// scan appends src to dst with escapes and returns how many bytes of src it used. It uses all
// of them if src is the last piece, otherwise it leaves those that the next piece decides
// about. changed reports whether anything was escaped; if not, dst is returned unchanged.
func (s *scanner) scan(dst, src []byte, last bool) (out []byte, used int, changed bool) {
	kept, i := 0, 0 // src[kept:i] is kept and not copied yet
	for i < len(src) {
		if n := plainLen(src[i:], &s.form.special); n > 0 {
			i += n
			s.prev = rune(src[i-1])
			continue
		}
		r, size, keep := s.decide(src[i:], last)
		if size == 0 {
			break
		}
		if !keep {
			dst = append(dst, src[kept:i]...)
			dst = s.form.escape(dst, r, src[i])
			kept, changed, s.prev = i+size, true, nothing
		}
		i += size
	}
	if changed {
		dst = append(dst, src[kept:i]...)
	}
	return dst, i, changed
}

// plainLen returns the length of the beginning of s that has no special byte.
func plainLen(s []byte, special *[256]uint8) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		c := s[i : i+8 : i+8]
		if special[c[0]]|special[c[1]]|special[c[2]]|special[c[3]]|special[c[4]]|special[c[5]]|special[c[6]]|special[c[7]] != 0 {
			break
		}
	}
	for i < len(s) && special[s[i]] == 0 {
		i++
	}
	return i
}

// decide examines the first character of src. A size of 0 leaves the decision to the next piece;
// r is utf8.RuneError with size 1 for a byte that is not UTF-8.
func (s *scanner) decide(src []byte, last bool) (r rune, size int, keep bool) {
	r, size = utf8.DecodeRune(src)
	switch {
	case r == utf8.RuneError && size == 1:
		if !last && !utf8.FullRune(src) {
			size = 0
		}
		return r, size, false
	case r == '\r' && s.form.lines:
		return s.carriageReturn(src, last)
	case !hidden(r):
		if !harakat(r) {
			s.prev = r
		}
		return r, size, true
	case r == joiner || r == nonJoiner:
		return s.join(r, src, last)
	case r == textSelector || r == emojiSelector:
		return s.selectVariant(r, src, last)
	case s.prev == blackFlag:
		return s.flag(r, size, src, last)
	}
	return r, size, false
}

// carriageReturn keeps the carriage return of a CRLF.
func (s *scanner) carriageReturn(src []byte, last bool) (r rune, size int, keep bool) {
	if len(src) == 1 && !last {
		return '\r', 0, false
	}
	if keep = len(src) > 1 && src[1] == '\n'; keep {
		s.prev = '\r'
	}
	return '\r', 1, keep
}

// join keeps a joiner or non-joiner where letters are joined, and a joiner between emoji.
func (s *scanner) join(r rune, src []byte, last bool) (_ rune, size int, keep bool) {
	size = utf8.RuneLen(r)
	if joins(s.prev) {
		s.prev = nothing
		return r, size, true
	}
	if r != joiner || s.prev != emojiDone && !unicode.Is(emoji, s.prev) {
		return r, size, false
	}
	if !last && !utf8.FullRune(src[size:]) {
		return r, 0, false
	}
	next, _ := utf8.DecodeRune(src[size:])
	if keep = unicode.Is(emoji, next); keep {
		s.prev = nothing
	}
	return r, size, keep
}

// selectVariant keeps the selector of an emoji and that of a keycap.
func (s *scanner) selectVariant(r rune, src []byte, last bool) (_ rune, size int, keep bool) {
	size = utf8.RuneLen(r)
	if unicode.Is(emoji, s.prev) {
		if s.prev = nothing; r == emojiSelector {
			s.prev = emojiDone
		}
		return r, size, true
	}
	keycap := '0' <= s.prev && s.prev <= '9' || s.prev == '#' || s.prev == '*'
	if r != emojiSelector || !keycap {
		return r, size, false
	}
	if !last && !utf8.FullRune(src[size:]) {
		return r, 0, false
	}
	next, _ := utf8.DecodeRune(src[size:])
	if keep = next == enclosingKeycap; keep {
		s.prev = nothing
	}
	return r, size, keep
}

// flag keeps the tags of a known flag, all of them at once.
func (s *scanner) flag(r rune, size int, src []byte, last bool) (_ rune, _ int, keep bool) {
	for _, known := range flagTags {
		if bytes.HasPrefix(src, known) {
			s.prev = emojiDone
			return r, len(known), true
		}
		if !last && len(src) < len(known) && bytes.HasPrefix(known, src) {
			return r, 0, false
		}
	}
	return r, size, false
}
