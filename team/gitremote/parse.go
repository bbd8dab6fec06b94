package gitremote

import (
	"bytes"
	"errors"
	"strings"
)

// variable is one line of a configuration file. Section and name are in small letters; the subsection is as written.
type variable struct {
	section, sub, name string
	hasSub             bool
	value              string // "" also for a name without a value, which git takes as true
	hasValue           bool
}

// errSyntax is the error for content that git refuses, too.
var errSyntax = errors.New("it is not a configuration of git")

// parse calls each for every variable of a configuration file, in order, and stops at the first error of each.
// What it accepts and yields is the same as of git, except that a zero byte is an error.
func parse(content []byte, each func(variable) error) error {
	if bytes.IndexByte(content, 0) >= 0 {
		return errSyntax
	}
	p := parser{rest: bytes.TrimPrefix(content, []byte("\xEF\xBB\xBF"))}
	var at variable
	for !p.end {
		switch c := p.next(); {
		case isSpace(c):
		case c == '#' || c == ';':
			p.comment()
		case c == '[':
			var ok bool
			if at, ok = p.section(); !ok {
				return errSyntax
			}
		case isLetter(c):
			if !p.variable(&at, c) {
				return errSyntax
			}
			if err := each(at); err != nil {
				return err
			}
		default:
			return errSyntax
		}
	}
	return nil
}

// parser reads characters as git does: a line ends with \n or \r\n, and the last one with the file.
type parser struct {
	rest []byte
	end  bool
}

func (p *parser) next() byte {
	if len(p.rest) == 0 {
		p.end = true
		return '\n'
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	if c == '\r' && len(p.rest) > 0 && p.rest[0] == '\n' {
		p.rest = p.rest[1:]
		return '\n'
	}
	return c
}

func (p *parser) comment() {
	for p.next() != '\n' {
	}
}

// section reads [name], [name.sub] or [name "sub"] behind the opening bracket.
func (p *parser) section() (v variable, ok bool) {
	var name []byte
	for {
		switch c := p.next(); {
		case p.end:
			return v, false
		case c == ']':
			v.section = strings.ToLower(string(name))
			v.section, v.sub, v.hasSub = strings.Cut(v.section, ".")
			return v, len(name) > 0
		case isSpace(c):
			v.section = strings.ToLower(string(name))
			return p.subsection(v, c)
		case isName(c) || c == '.':
			name = append(name, c)
		default:
			return v, false
		}
	}
}

// subsection reads "sub"] behind the white space c.
func (p *parser) subsection(v variable, c byte) (variable, bool) {
	for isSpace(c) {
		if c == '\n' {
			return v, false
		}
		c = p.next()
	}
	if c != '"' {
		return v, false
	}
	var sub []byte
	for {
		switch c = p.next(); c {
		case '\n':
			return v, false
		case '"':
			// [a.b "c"] is the subsection b.c, as git joins the parts with dots.
			section, before, dotted := strings.Cut(v.section, ".")
			v.section, v.sub, v.hasSub = section, string(sub), true
			if dotted {
				v.sub = before + "." + v.sub
			}
			return v, p.next() == ']'
		case '\\':
			if c = p.next(); c == '\n' {
				return v, false
			}
		}
		sub = append(sub, c)
	}
}

// variable reads a name, whose first letter is c, and its value.
func (p *parser) variable(v *variable, c byte) bool {
	name := []byte{c}
	for c = p.next(); isName(c); c = p.next() {
		name = append(name, c)
	}
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	v.name, v.value, v.hasValue = strings.ToLower(string(name)), "", false
	if c == '\n' {
		return true
	}
	if c != '=' {
		return false
	}
	v.hasValue = true
	var ok bool
	v.value, ok = p.value()
	return ok
}

// value reads the rest of a line, and of the lines that continue it.
func (p *parser) value() (string, bool) {
	var value, spaces []byte
	quoted := false
	for {
		c := p.next()
		switch {
		case c == '\n':
			return string(value), !quoted
		case isSpace(c) && !quoted:
			if len(value) > 0 {
				spaces = append(spaces, c)
			}
			continue
		case (c == '#' || c == ';') && !quoted:
			p.comment()
			return string(value), true
		}
		value = append(value, spaces...)
		spaces = spaces[:0]
		switch c {
		case '"':
			quoted = !quoted
		case '\\':
			c = p.next()
			if c == '\n' {
				continue
			}
			i := strings.IndexByte(`tbn\"`, c)
			if i < 0 {
				return "", false
			}
			value = append(value, "\t\b\n\\\""[i])
		default:
			value = append(value, c)
		}
	}
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isName(c byte) bool   { return isLetter(c) || '0' <= c && c <= '9' || c == '-' }
