package ignore

import "strings"

// verdict is how a match ended. Those that abort spare the stars before them the search
// for another place, without which some patterns take exponential time.
type verdict int

const (
	noMatch verdict = iota
	match
	abortAll        // the text is used up: no star can help
	abortToStarStar // blocked by a slash: only a star that matches slashes can help
)

// wildmatch reports whether the whole of text matches pattern. With pathname set a star
// and a question mark stop at slashes, and "**" between slashes does not.
func wildmatch(pattern, text string, pathname bool) bool {
	return glob{pattern, pathname}.match(0, text) == match
}

// glob is a pattern. The positions in it are passed as indices, because the meaning of a "**"
// depends on the characters before it.
type glob struct {
	pattern  string
	pathname bool
}

func (g glob) match(p int, text string) verdict {
	for ; p < len(g.pattern); p++ {
		c := g.pattern[p]
		if text == "" && c != '*' {
			return abortAll
		}
		switch c {
		case '\\':
			// A backslash at the end matches nothing.
			if p++; p == len(g.pattern) || g.pattern[p] != text[0] {
				return noMatch
			}
		case '?':
			if g.pathname && text[0] == '/' {
				return noMatch
			}
		case '*':
			return g.star(p, text)
		case '[':
			end, in, ok := class(g.pattern, p, text[0])
			switch {
			case !ok:
				return abortAll
			case !in, g.pathname && text[0] == '/':
				return noMatch
			}
			p = end
		default:
			if c != text[0] {
				return noMatch
			}
		}
		text = text[1:]
	}
	if text != "" {
		return noMatch
	}
	return match
}

// star matches from the star at p on.
func (g glob) star(p int, text string) verdict {
	first := p
	for p++; p < len(g.pattern) && g.pattern[p] == '*'; p++ {
	}
	rest := g.pattern[p:]
	slashes := !g.pathname
	if g.pathname && p-first > 1 && g.aloneBetweenSlashes(first, rest) {
		// "a/**/b" also matches "a/b".
		if strings.HasPrefix(rest, "/") && g.match(p+1, text) == match {
			return match
		}
		slashes = true
	}
	switch {
	case rest == "":
		if !slashes && strings.Contains(text, "/") {
			return abortToStarStar
		}
		return match
	case !slashes && rest[0] == '/':
		i := strings.IndexByte(text, '/')
		if i < 0 {
			return abortAll
		}
		return g.match(p+1, text[i+1:])
	}
	for ; text != ""; text = text[1:] {
		switch v := g.match(p, text); {
		case v != noMatch:
			if !slashes || v != abortToStarStar {
				return v
			}
		case !slashes && text[0] == '/':
			return abortToStarStar
		}
	}
	return abortAll
}

func (g glob) aloneBetweenSlashes(first int, rest string) bool {
	return (first == 0 || g.pattern[first-1] == '/') &&
		(rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`))
}

// class reports whether c is in the bracket expression that begins at p, and where that
// ends. ok is false when it does not end or names a class that does not exist.
func class(pattern string, p int, c byte) (end int, in, ok bool) {
	at := func(i int) byte {
		if i < len(pattern) {
			return pattern[i]
		}
		return 0
	}
	p++
	negated := at(p) == '!' || at(p) == '^'
	if negated {
		p++
	}
	var before byte // the start of a range, if a "-" follows
	for first := true; first || at(p) != ']'; p++ {
		first = false
		b := at(p)
		switch {
		case p >= len(pattern):
			return 0, false, false
		case b == '\\':
			if p++; p >= len(pattern) {
				return 0, false, false
			}
			b = at(p)
			in = in || b == c
		case b == '-' && before != 0 && p+1 < len(pattern) && at(p+1) != ']':
			if p++; at(p) == '\\' {
				if p++; p >= len(pattern) {
					return 0, false, false
				}
			}
			in = in || before <= c && c <= at(p)
			b = 0
		case b == '[' && at(p+1) == ':':
			closing := strings.IndexByte(pattern[p+2:], ']')
			if closing < 0 {
				return 0, false, false
			}
			name, named := strings.CutSuffix(pattern[p+2:p+2+closing], ":")
			if !named { // an ordinary bracket
				in = in || c == '['
				break
			}
			member, known := posixClasses[name]
			if !known {
				return 0, false, false
			}
			in = in || member(c)
			p += 2 + closing
			b = 0
		default:
			in = in || b == c
		}
		before = b
	}
	return p, in != negated, true
}

var posixClasses = map[string]func(c byte) bool{
	"alnum":  func(c byte) bool { return isAlpha(c) || isDigit(c) },
	"alpha":  isAlpha,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < 0x20 || c == 0x7f },
	"digit":  isDigit,
	"graph":  isGraph,
	"lower":  isLower,
	"print":  func(c byte) bool { return isGraph(c) || c == ' ' },
	"punct":  func(c byte) bool { return isGraph(c) && !isAlpha(c) && !isDigit(c) },
	"space":  func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
	"upper":  isUpper,
	"xdigit": func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isAlpha(c byte) bool { return isLower(c) || isUpper(c) }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isGraph(c byte) bool { return 0x20 < c && c < 0x7f }
