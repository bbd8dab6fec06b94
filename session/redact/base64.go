package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

const (
	leastEncoded = 16      // bytes of the shortest base64 that is decoded
	mostEncoded  = 1 << 20 // and of the longest
	mostDoubtful = 160     // bytes of the longest word in which something may look like a key
)

// encoded searches the words of v that are text in base64 or hexadecimal digits, and records
// words that look like keys.
func (p *pass) encoded(v *view, nested int) {
	text := v.text
	for end := leastEncoded; end <= len(text); { // the byte at end-leastEncoded-1 belongs to no word
		from := end
		for from > end-leastEncoded && isWord[text[from-1]] {
			from--
		}
		if from > end-leastEncoded {
			end = from + leastEncoded
			continue
		}
		to := end
		for to < len(text) && isWord[text[to]] {
			to++
		}
		p.lookInto(v, from, to, nested)
		end = to + 1 + leastEncoded
	}
}

// lookInto decodes the word v.text[from:to], or the pieces between its signs: of a path, an
// assignment or an address only a part is base64.
func (p *pass) lookInto(v *view, from, to, nested int) {
	if to-from > mostEncoded {
		return
	}
	if p.decode(v, from, to, nested) {
		return
	}
	word := v.text[from:to]
	if indexOf(&isSign, word) == len(word) {
		p.doubt(v, from, to)
		return
	}
	for i := 0; i < len(word); {
		n := indexOf(&isBreak, word[i:])
		if n >= leastEncoded {
			end := i + n
			for end < len(word) && word[end] == '=' {
				end++
			}
			if !p.decode(v, from+i, from+end, nested) && len(word) <= mostDoubtful {
				p.doubt(v, from+i, from+i+n)
			}
		}
		i += n + 1
	}
}

var (
	isSign   = byteSet("/=.~+-_") // the bytes of a word that are no letters or digits
	isBreak  = byteSet("/=.~")    // those between the parts of a word
	isHex    = byteSet("0123456789abcdefABCDEF")
	isBase64 = byteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
)

// indexOf returns the position of the first byte of s that is in set, and the length of s if there is none.
func indexOf(set *[256]bool, s string) int {
	for i := range len(s) {
		if set[s[i]] {
			return i
		}
	}
	return len(s)
}

// isAll reports whether all bytes of s are in set.
func isAll(set *[256]bool, s string) bool {
	for i := range len(s) {
		if !set[s[i]] {
			return false
		}
	}
	return true
}

// decode searches for secrets in a word that is base64 or hexadecimal digits of text.
func (p *pass) decode(v *view, from, to, nested int) bool {
	text, ok := plainText(v.text[from:to])
	if !ok {
		return false
	}
	if nested == mostNested {
		return true
	}
	inner := newPass(p.set)
	inner.all(text, nested+1)
	for _, f := range inner.found {
		p.add(v, from, to, Finding{Kind: f.Kind, Doubtful: f.Doubtful, rank: f.rank})
	}
	inner.release()
	return true
}

// plainText decodes a word. ok is false when the result is not text.
func plainText(word string) (text string, ok bool) {
	for len(word) > 0 && (word[len(word)-1] == '=' || word[len(word)-1] == '.') {
		word = word[:len(word)-1]
	}
	if len(word) >= 2*leastEncoded && len(word)%2 == 0 && isAll(&isHex, word) {
		if b, err := hex.DecodeString(word); err == nil && isText(b) {
			return string(b), true
		}
	}
	if len(word)%4 == 1 {
		word = word[:len(word)-1]
	}
	encoding := base64.RawStdEncoding
	if strings.IndexByte(word, '-') >= 0 || strings.IndexByte(word, '_') >= 0 {
		encoding = base64.RawURLEncoding
	}
	// The beginning shows whether decoding the rest is worthwhile.
	var head [24]byte
	begin := word[:min(len(word), 32)&^3]
	if !isAll(&isBase64, begin) {
		return "", false // without making an error of it
	}
	if n, err := encoding.Decode(head[:], []byte(begin)); err != nil || !isText(head[:n]) && !isWide(head[:n]) {
		return "", false
	}
	b, err := encoding.DecodeString(word)
	if err != nil {
		return "", false
	}
	if isWide(b) {
		return narrow(b), true
	}
	return string(b), isText(b)
}

// isText reports whether b is text in ASCII or UTF-8, except for a few bytes.
func isText(b []byte) bool {
	odd := 0
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7F {
			odd++
		}
		if c >= 0x80 {
			odd++
		}
	}
	return odd*10 <= len(b)
}

// isWide reports whether b is ASCII in UTF-16, as in PowerShell.
func isWide(b []byte) bool {
	if len(b) < 8 {
		return false
	}
	zeros := 0
	for i := 1; i < len(b); i += 2 {
		if b[i] == 0 {
			zeros++
		}
	}
	return zeros*10 >= len(b)/2*9
}

func narrow(b []byte) string {
	out := make([]byte, 0, len(b)/2)
	for i := 0; i < len(b); i += 2 {
		out = append(out, b[i])
	}
	return string(out)
}
