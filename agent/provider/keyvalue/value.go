// Package keyvalue resolves the values that files have in place of API keys: templates with variables of the
// environment, and commands that print a key.
package keyvalue

import (
	"regexp"
	"slices"
	"strings"
)

// Value is a key as a file has it.
type Value struct {
	Command string // the shell command that prints the key; "" for a template

	parts []part
}

// part is a piece of a template.
type part struct {
	text     string
	variable bool // text is the name of a variable
}

// dollar matches what follows a dollar sign: an escaped character, ${NAME} and $NAME.
var (
	dollar       = regexp.MustCompile(`^(?:([$!])|\{([^}]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Parse reads a value as pi does: a text that begins with "!" is a command, $NAME and ${NAME} are variables, and $$ and $!
// are the characters $ and !. Every other text is itself.
func Parse(raw string) Value {
	if command, is := strings.CutPrefix(raw, "!"); is {
		return Value{Command: command}
	}
	var v Value
	for raw != "" {
		at := strings.IndexByte(raw, '$')
		if at < 0 {
			v.literal(raw)
			break
		}
		v.literal(raw[:at])
		raw = raw[at+1:]
		m := dollar.FindStringSubmatch(raw)
		switch {
		case m == nil:
			v.literal("$")
			continue
		case m[1] != "":
			v.literal(m[1])
		case m[3] != "" || variableName.MatchString(m[2]):
			v.parts = append(v.parts, part{text: m[2] + m[3], variable: true})
		default:
			v.literal("$" + m[0])
		}
		raw = raw[len(m[0]):]
	}
	return v
}

func (v *Value) literal(text string) {
	if text != "" {
		v.parts = append(v.parts, part{text: text})
	}
}

// IsCommand reports whether a key in a file is a command.
func IsCommand(raw string) bool { return strings.HasPrefix(raw, "!") }

// Variables returns the names of the variables of a template, sorted.
func (v Value) Variables() []string {
	var names []string
	for _, p := range v.parts {
		if p.variable {
			names = append(names, p.text)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Bare returns the name that a template may be as a whole: xcsh, omp and earlier versions of pi name variables without
// a dollar sign. It returns "" for any other template.
func (v Value) Bare() string {
	if len(v.parts) == 1 && !v.parts[0].variable && variableName.MatchString(v.parts[0].text) {
		return v.parts[0].text
	}
	return ""
}

// Expand returns the text of a template. ok is false if a variable has no value.
func (v Value) Expand(getenv func(string) string) (text string, ok bool) {
	var b strings.Builder
	for _, p := range v.parts {
		s := p.text
		if p.variable {
			if s = getenv(p.text); s == "" {
				return "", false
			}
		}
		b.WriteString(s)
	}
	return b.String(), true
}
