package enginetest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// script is what a prompt determines; see the package comment.
type script struct {
	source string
	think  bool
	hang   bool
	par    bool
	slow   time.Duration
	say    string // "" without a directive
	big    int
	pieces int
	fail   int // the status; 0 if the service works
	times  int // how often it fails
	tools  []toolCall
	asks   []ask
	faults faults
}

type toolCall struct {
	id, name string
	args     json.RawMessage
}

type ask struct {
	method string
	fields json.RawMessage
}

var (
	toolPattern  = regexp.MustCompile(`(?s)\[\[tool:([\w-]+) (\{.*?\})\]\]`)
	askPattern   = regexp.MustCompile(`(?s)\[\[ask:(\w+) (\{.*?\})\]\]`)
	faultPattern = regexp.MustCompile(`\[\[fault:([^\]]*)\]\]`)
	sayPattern   = regexp.MustCompile(`(?s)\[\[say:(.*?)\]\]`)
	slowPattern  = regexp.MustCompile(`\[\[slow:(\d+)\]\]`)
	piecePattern = regexp.MustCompile(`\[\[pieces:(\d+)\]\]`)
	bigPattern   = regexp.MustCompile(`\[\[big:(\d+)\]\]`)
	failPattern  = regexp.MustCompile(`\[\[fail:(\d+):(\d+)\]\]`)
)

func parseScript(text string) script {
	s := script{
		source: text,
		think:  strings.Contains(text, "[[think]]"), hang: strings.Contains(text, "[[hang]]"), par: strings.Contains(text, "[[par]]"),
		slow: time.Duration(number(slowPattern, text, 1)) * time.Millisecond, big: number(bigPattern, text, 1), pieces: number(piecePattern, text, 1),
		fail: number(failPattern, text, 1), times: number(failPattern, text, 2),
	}
	if m := sayPattern.FindStringSubmatch(text); m != nil {
		s.say = m[1]
	}
	for _, m := range toolPattern.FindAllStringSubmatch(text, -1) {
		args := json.RawMessage(m[2])
		if !json.Valid(args) {
			args = json.RawMessage(`{}`)
		}
		s.tools = append(s.tools, toolCall{name: m[1], args: args})
	}
	for _, m := range askPattern.FindAllStringSubmatch(text, -1) {
		if json.Valid([]byte(m[2])) {
			s.asks = append(s.asks, ask{m[1], json.RawMessage(m[2])})
		}
	}
	for _, m := range faultPattern.FindAllStringSubmatch(text, -1) {
		s.faults = append(s.faults, parseFaults(m[1])...)
	}
	return s
}

func number(p *regexp.Regexp, text string, group int) int {
	m := p.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[group]) // too large a number is the largest
	return n
}

// fault is one fault of the lists in the package comment.
type fault struct{ name, arg string }

type faults []fault

func parseFaults(s string) (f faults) {
	for part := range strings.SplitSeq(s, ";") {
		name, arg, _ := strings.Cut(strings.TrimSpace(part), ":")
		if name != "" {
			f = append(f, fault{name, arg})
		}
	}
	return f
}

// has reports whether there is a fault with a name, and returns its argument.
func (f faults) has(name string) (arg string, ok bool) {
	for _, one := range f {
		if one.name == name {
			return one.arg, true
		}
	}
	return "", false
}

func (f faults) is(name string) bool {
	_, ok := f.has(name)
	return ok
}

// of reports whether there is a fault with a name and an argument.
func (f faults) of(name, arg string) bool {
	return slices.Contains(f, fault{name, arg})
}

func (f fault) int() int {
	n, _ := strconv.Atoi(f.arg) // 0 without a number
	return n
}
