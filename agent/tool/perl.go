package tool

import (
	"errors"
	"regexp/syntax"
	"strings"
)

// perlForms are forms of Perl's regular expressions that RE2 does not have, by how they begin.
var perlForms = []struct{ begins, name string }{
	{"(?=", "a lookahead"},
	{"(?!", "a lookahead"},
	{"(?<=", "a lookbehind"},
	{"(?<!", "a lookbehind"},
	{"(?>", "an atomic group"},
	{"(?R", "a recursion"},
	{"(?(", "a condition"},
	{"(?P=", "a backreference"},
	{`\k`, "a backreference"},
	{`\g`, "a backreference"},
}

// unsupported returns the part of a pattern that is valid in Perl but not in RE2. ok is false if the pattern
// is wrong in both.
func unsupported(text string, err error) (name, form string, ok bool) {
	cause, is := errors.AsType[*syntax.Error](err)
	if !is {
		return "", "", false
	}
	form = cause.Expr
	switch cause.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidEscape:
		if form == "(?P" && strings.Contains(text, "(?P=") {
			form = "(?P="
		}
	case syntax.ErrInvalidNamedCapture:
		ok = strings.HasPrefix(form, "(?<=") || strings.HasPrefix(form, "(?<!")
		if !ok {
			return "", "", false
		}
		form = form[:len("(?<=")]
	case syntax.ErrInvalidRepeatOp:
		if !strings.HasSuffix(form, "+") {
			return "", "", false
		}
		return "a possessive quantifier", form, true
	case syntax.ErrInvalidRepeatSize:
		return "more than 1000 repetitions", form, strings.HasPrefix(form, "{")
	case syntax.ErrMissingRepeatArgument:
		return "a verb", "(*", strings.Contains(text, "(*")
	default:
		return "", "", false
	}
	for _, f := range perlForms {
		if strings.HasPrefix(form, f.begins) {
			return f.name, form, true
		}
	}
	if len(form) == 2 && form[0] == '\\' && form[1] >= '1' && form[1] <= '9' {
		return "a backreference", form, true
	}
	return "an extension", form, true
}
