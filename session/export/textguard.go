package export

import (
	"regexp"
	"strings"
	"unicode"
)

// fenced puts s into a code block of language lang.
//
// Differs: the original always uses three backticks, which a fence inside s ends.
func fenced(lang, s string) string {
	fence := strings.Repeat("`", fenceLen(s))
	return fence + lang + "\n" + s + "\n" + fence
}

// fenceLen returns the length of a fence that s does not contain.
func fenceLen(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return max(3, longest+1)
}

// closer recognises the closing tag of one element of the dump's layout.
type closer struct{ re *regexp.Regexp }

// Differs: the original escapes nothing, so that an argument which holds a closing tag
// ends its element early and can continue with a forged call. Only that tag is touched:
// everything else that looks like markup is content for the user.
var (
	closesParameter = closing("parameter")
	closesInvoke    = closing("invoke")
	closesTool      = closing("tool")
	closesThinking  = closing("thinking")
	closesFile      = closing("file")
)

func closing(element string) *closer {
	return &closer{regexp.MustCompile(`(?i)<(/` + element + `)\b`)}
}

// guard neutralises the closing tag of c's element where it occurs in s.
func guard(c *closer, s string) string {
	if !strings.Contains(s, "</") {
		return s
	}
	return c.re.ReplaceAllString(s, "&lt;$1")
}

var attributeEscaper = strings.NewReplacer(`"`, "&quot;", "\n", "&#10;", "\r", "&#13;")

// attribute escapes the characters that would end a quoted attribute or its line.
func attribute(s string) string { return attributeEscaper.Replace(s) }

var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\u2028", " ", "\u2029", " ")

// oneLine keeps a name from starting a line of its own under a heading.
func oneLine(s string) string { return lineBreaks.Replace(s) }

// isJSSpace reports whether JavaScript's trim removes r.
func isJSSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', '\u2028', '\u2029', '\uFEFF':
		return true
	}
	return unicode.Is(unicode.Zs, r)
}
