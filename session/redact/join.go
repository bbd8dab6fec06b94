package redact

import "strings"

// joined is text with its split parts joined again: a string that is the sum of several, and
// words that were wrapped at the end of a line. Nil: nothing looks split. It is built with w.
func joined(of *view, w *viewer) *view {
	w.reset()
	text := of.text
	for i := 0; ; {
		at := seam(text, i)
		if at == len(text) {
			break
		}
		i = at + 1
		if at < w.done {
			continue
		}
		from, to, ok := at, 0, false
		if text[at] == '\n' {
			from, to, ok = wrap(text, at)
		} else {
			to, ok = concatenation(text, at)
		}
		if ok && from >= w.done {
			w.same(text, from)
			w.drop(to)
			if text[at] == '\n' {
				w.soft = append(w.soft, len(w.text))
			}
			i = to
		}
	}
	if len(w.seams) == 0 {
		return nil
	}
	return w.view(of)
}

// mayJoin are the bytes after which a split text may continue.
var mayJoin = byteSet("\n\"'`")

// seam returns the position of the next byte at or behind i that may end a part of a split text, because it is one of
// mayJoin behind a word. It returns the length of the text if there is none.
func seam(text string, i int) int {
	before := uint8(0)
	if i > 0 {
		before = joining[text[i-1]]
	}
	for ; i < len(text); i++ {
		c := joining[text[i]]
		if before>>1&c != 0 {
			return i
		}
		before = c
	}
	return len(text)
}

// joining has the bit 1 for the bytes of mayJoin, and 2 for those that may precede them: of a word, and the first
// half of a line break.
var joining = func() (kinds [256]uint8) {
	for c := range kinds {
		if mayJoin[c] {
			kinds[c] = 1
		}
		if isWord[c] || c == '\r' {
			kinds[c] |= 2
		}
	}
	return kinds
}()

// mostBetween is the maximum distance between two parts of a string.
const mostBetween = 120

// concatenation returns where the string continues that is closed by the quote at
// text[at].
func concatenation(text string, at int) (to int, ok bool) {
	for i := at + 1; i < len(text) && i-at <= mostBetween; i++ {
		switch text[i] {
		case ' ', '\t', '\r', '\n', '\\', '+', '.', '&', '|', '-':
			continue
		case text[at]:
			return i + 1, i > at+1 && at > 0 && isWord[text[at-1]] && i+1 < len(text) && isWord[text[i+1]]
		default:
			return 0, false
		}
	}
	return 0, false
}

// wrap reports whether the word before the line break at text[at] continues after it, and the
// range between its halves. Both must look like parts of something that is not a word of a
// language.
func wrap(text string, at int) (from, to int, ok bool) {
	from = at
	if from > 0 && text[from-1] == '\r' {
		from--
	}
	left := from
	for left > 0 && isWord[text[left-1]] && from-left < longWord {
		left--
	}
	if from-left < 4 {
		return 0, 0, false
	}
	to = skipIndent(text, at+1)
	right := to
	for right < len(text) && isWord[text[right]] && right-to < longWord {
		right++
	}
	if right-to < 4 || right < len(text) && strings.IndexByte(":=(", text[right]) >= 0 {
		return 0, 0, false
	}
	return from, to, looksCut(text[left:from]) && looksCut(text[to:right])
}

// longWord is how much of a word is checked.
const longWord = 80

// skipIndent skips the beginning of a line before its text: white space, the mark of a diff, a
// quotation or a comment.
func skipIndent(text string, i int) int {
	for end := min(len(text), i+mostBetween); i < end && strings.IndexByte(" \t+->|#*", text[i]) >= 0; i++ {
	}
	return i
}

// looksCut reports whether half a word looks like the half of a key: it has a digit, or letters
// of both cases in an order that occurs in no name, or is long.
func looksCut(s string) bool {
	var digits, upper, lower, changes int
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digits++
		case 'A' <= c && c <= 'Z':
			upper++
			if i > 0 && 'a' <= s[i-1] && s[i-1] <= 'z' {
				changes++
			}
		case 'a' <= c && c <= 'z':
			lower++
		}
	}
	return digits > 0 || changes > 1 || len(s) >= 20 || upper > 1 && lower > 1 || strings.ContainsAny(s, "_-") && len(s) < 16
}

// isWord are the bytes of a word that may be a key, base64 among them.
var isWord = byteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-=.~")

func byteSet(s string) (set [256]bool) {
	for i := range len(s) {
		set[s[i]] = true
	}
	return set
}
