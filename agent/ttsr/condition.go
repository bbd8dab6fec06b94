package ttsr

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

const (
	maxConditions = 16   // of a rule
	maxPattern    = 1000 // bytes of a condition
)

// condition is a regular expression over the text of an answer.
type condition struct {
	*regexp.Regexp
	whole bool // it depends on where the text begins or ends, so that it is applied to the whole text only
	lines bool // a match can extend over several lines
}

// unicodeEscape is an escape that JavaScript has and RE2 writes differently.
var unicodeEscape = regexp.MustCompile(`\\u([0-9A-Fa-f]{4})`)

// compileAll compiles the conditions of a rule. problem is about the first one that is left out.
//
// Differs: the programs run JavaScript's regular expressions, some of which need exponential time. RE2
// has neither lookarounds nor backreferences.
func compileAll(patterns []string) (list []condition, problem string) {
	for i, p := range patterns {
		c, err := compile(p)
		if i >= maxConditions {
			err = fmt.Errorf("more than %d conditions", maxConditions)
		}
		if err == nil {
			list = append(list, c)
		} else if problem == "" {
			problem = "a condition cannot be used: " + err.Error()
		}
	}
	return list, problem
}

func compile(pattern string) (condition, error) {
	if len(pattern) > maxPattern {
		return condition{}, fmt.Errorf("it is longer than %d bytes", maxPattern)
	}
	pattern = unicodeEscape.ReplaceAllString(pattern, `\x{$1}`)
	re, err := regexp.Compile(pattern)
	if err != nil {
		return condition{}, err
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return condition{}, err
	}
	c := condition{Regexp: re}
	walk(parsed, func(re *syntax.Regexp) {
		switch re.Op {
		case syntax.OpBeginText, syntax.OpEndText:
			c.whole = true
		case syntax.OpAnyChar:
			c.lines = true
		case syntax.OpLiteral:
			for _, r := range re.Rune {
				c.lines = c.lines || r == '\n'
			}
		case syntax.OpCharClass:
			for i := 0; i+1 < len(re.Rune); i += 2 {
				c.lines = c.lines || re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1]
			}
		}
	})
	return c, nil
}

func walk(re *syntax.Regexp, f func(*syntax.Regexp)) {
	f(re)
	for _, sub := range re.Sub {
		walk(sub, f)
	}
}
