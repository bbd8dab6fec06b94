package setup

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// Expanded is what a server is started or called with. It may hold secrets.
type Expanded struct {
	Command string
	Args    []string
	Cwd     string
	Env     []Value // sorted by name
	URL     string
	Headers []Value  // sorted by name
	LeftOut []string // a sentence about each variable and header that has no value
}

// Value is the value of a variable or header.
type Value struct {
	Name    string
	Text    string
	Command string // a shell command whose output is the value; Text is then empty
}

// String keeps secrets out of logs.
func (Expanded) String() string { return "(expanded definition of a server)" }

// GoString keeps secrets out of logs.
func (Expanded) GoString() string { return "(expanded definition of a server)" }

// Expand replaces the references to variables in a definition, as its program does. It runs nothing: values
// that are the output of a command are for the caller. cwd is the folder of the session.
func (f Finder) Expand(s Server, of session.Dialect, cwd string) Expanded {
	d, program := s.Definition, f.program(of)
	lookup := func(name string) (string, bool) {
		if f.Getenv == nil {
			return "", false
		}
		v := f.Getenv(name)
		return v, v != ""
	}
	var e Expanded
	if program == session.Pi {
		e = Expanded{Command: homePath(d.Command, f.Home), Cwd: homePath(d.Cwd, f.Home), URL: d.URL}
		for _, arg := range d.Args {
			e.Args = append(e.Args, homePath(arg, f.Home))
		}
	} else {
		e = Expanded{Command: braces(d.Command, lookup), Cwd: braces(d.Cwd, lookup), URL: braces(d.URL, lookup)}
		for _, arg := range d.Args {
			e.Args = append(e.Args, braces(arg, lookup))
		}
	}
	switch {
	case e.Cwd == "":
		e.Cwd = cwd
	case !filepath.IsAbs(e.Cwd):
		e.Cwd = filepath.Join(cwd, e.Cwd)
	}
	e.Env = e.values(d.Env, "variable", program, lookup)
	e.Headers = e.values(d.Headers, "header", program, lookup)
	return e
}

// values expands variables or headers.
func (e *Expanded) values(table map[string]string, what string, program session.Dialect, lookup func(string) (string, bool)) (all []Value) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		v, ok := value(table[name], program, lookup)
		if !ok {
			e.LeftOut = append(e.LeftOut, fmt.Sprintf("The %s %s is left out because a variable that it refers to is not set.", what, name))
			continue
		}
		v.Name = name
		all = append(all, v)
	}
	return all
}

// value expands one value; ok is false if it is left out.
func value(raw string, program session.Dialect, lookup func(string) (string, bool)) (v Value, ok bool) {
	if command, is := strings.CutPrefix(raw, "!"); is {
		return Value{Command: command}, strings.TrimSpace(command) != ""
	}
	if program == session.Pi {
		text, ok := dollars(raw, lookup)
		return Value{Text: text}, ok
	}
	text := braces(raw, lookup)
	if set, ok := lookup(raw); ok && bareName.MatchString(raw) {
		return Value{Text: set}, true
	}
	return Value{Text: text}, program != session.Xcsh || !variableName.MatchString(raw)
}

var (
	bareName     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	variableName = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`) // looks like the name of a variable
	braced       = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)
	dollar       = regexp.MustCompile(`\$\$|\$!|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)`)
)

// braces expands ${NAME} and ${NAME:-default} as oh-my-pi and xcsh do. A variable that is not set stays as it is.
func braces(s string, lookup func(string) (string, bool)) string {
	return braced.ReplaceAllStringFunc(s, func(ref string) string {
		m := braced.FindStringSubmatch(ref)
		if set, ok := lookup(m[1]); ok {
			return set
		}
		if m[2] != "" {
			return m[3]
		}
		return ref
	})
}

// dollars expands $NAME and ${NAME} as pi does; $$ and $! are the characters $ and !. ok is false if a variable
// is not set.
func dollars(s string, lookup func(string) (string, bool)) (text string, ok bool) {
	ok = true
	text = dollar.ReplaceAllStringFunc(s, func(ref string) string {
		if ref == "$$" || ref == "$!" {
			return ref[1:]
		}
		m := dollar.FindStringSubmatch(ref)
		set, found := lookup(m[1] + m[2])
		ok = ok && found
		return set
	})
	return text, ok
}
