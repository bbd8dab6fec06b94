package markup

import (
	"bytes"
	"regexp"
	"strings"
)

// Code returns s as code within a line.
func Code(s string) string {
	s = lineBreaks.Replace(normal(s))
	if s == "" {
		return "``"
	}
	return newTicks(longestRun(s) + 1).render(cut(s, 0, len(s)))
}

var lineBreaks = strings.NewReplacer("\n", " ")

// Plain returns s as text without any markup.
func Plain(s string) string { return plain.Replace(normal(s)) }

var plain = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`, "|", `\|`, "~", `\~`,
)

// part is a part of a line: text as it is, or a replacement of live markup.
type part struct {
	text string
	new  bool
}

// neutral returns a line of text with live markup escaped as text. Within code the
// characters are moved out of it, because viewers differ in what they treat as code: `a<b`
// becomes `a`&lt;`b`, which looks nearly the same.
func neutral(line string) string {
	if strings.Contains(line, "$$") {
		line = mathBlock.ReplaceAllString(line, "$1&#36;$$")
	}
	if !strings.ContainsAny(line, "<[]") {
		return line
	}
	var b strings.Builder
	from := 0
	for _, c := range spans(line) {
		b.WriteString(prose(cut(line, from, c.open)))
		if parts := cut(line, c.open+c.ticks, c.close); len(parts) == 1 {
			b.WriteString(line[c.open : c.close+c.ticks])
		} else {
			b.WriteString(newTicks(c.ticks).render(parts))
		}
		from = c.close + c.ticks
	}
	b.WriteString(prose(cut(line, from, len(line))))
	return b.String()
}

// mathBlock matches the beginning of a block of formulas in many viewers, which would include
// a code block.
var mathBlock = regexp.MustCompile(`^([ \t>*+\-0-9.)]*)\$\$`)

// prose joins the parts of text that is not code. A backslash that escaped live markup is
// removed.
func prose(parts []part) string {
	if len(parts) == 1 {
		return parts[0].text
	}
	var out []byte
	for _, p := range parts {
		if p.new && p.text[0] == '&' && backslashes(out)%2 == 1 {
			out = out[:len(out)-1]
		}
		out = append(out, p.text...)
	}
	return string(out)
}

// backslashes returns the number of backslashes at the end of s.
func backslashes(s []byte) int { return len(s) - len(bytes.TrimRight(s, `\`)) }

// cut divides line[from:to] into text and replacements of live markup: a < that may begin a
// tag, the sign of an image, the characters that join a link to a target that is not
// allowed.
func cut(line string, from, to int) (parts []part) {
	begin := from
	put := func(upTo int, text string, size int) {
		if upTo > begin {
			parts = append(parts, part{text: line[begin:upTo]})
		}
		parts = append(parts, part{text, true})
		begin = upTo + size
	}
	for i := from; i < to; i++ {
		after := line[i+1:]
		switch {
		case line[i] == '<' && mayBeTag(after):
			put(i, "&lt;", 1)
		case line[i] == '!' && strings.HasPrefix(after, "["):
			put(i, "&#33;", 1)
		case line[i] == ']' && i+1 < to && (after[0] == '(' || after[0] == ':') && !allowed(after[1:]):
			put(i+1, `\`+after[:1], 1)
		}
	}
	if begin < to || len(parts) == 0 {
		parts = append(parts, part{text: line[begin:to]})
	}
	return parts
}

// mayBeTag reports whether a < before rest could begin a tag, a comment or an address.
func mayBeTag(rest string) bool {
	if rest == "" {
		return true
	}
	return !strings.ContainsRune(" \t=-<>0123456789()[]{},;.:'\"`|&*+", rune(rest[0]))
}

// scheme matches the addresses that a link may lead to besides relative paths.
var scheme = regexp.MustCompile(`^(?i:https?://|mailto:)`)

// maxTarget is the maximum length of a relative path, in bytes. A longer one is rejected.
const maxTarget = 1024

// allowed reports whether rest begins with the target of a link that may stay: an address of
// the web or of mail, or a relative path, in a form that every viewer reads in the same way.
func allowed(rest string) bool {
	target := strings.TrimLeft(rest, " \t")
	if target == "" { // it is on the next line
		return false
	}
	if scheme.MatchString(target) {
		return true
	}
	target = target[:min(len(target), maxTarget)]
	end := strings.IndexAny(target, " \t)?#")
	if end >= 0 && strings.Contains(target[:end], "(") { // its own ) does not end the target
		end = strings.IndexAny(target, " \t?#")
	}
	if end >= 0 {
		target = target[:end]
	} else if len(target) == maxTarget {
		return false
	}
	first, _, _ := strings.Cut(target, "/")
	return !strings.HasPrefix(target, "//") && !strings.ContainsAny(target, `<\&`) && !strings.Contains(first, ":")
}
