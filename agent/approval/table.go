package approval

import (
	_ "embed" // the table
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed programs.txt
var programs string

// kind is the effect of a program of the table.
type kind string

const (
	noop kind = "noop"
	read kind = "read"
	run  kind = "run"
)

// entry describes the invocations of a program that one rule can be about.
type entry struct {
	kind     kind
	words    []string // the program and its subcommands
	operands []operand
	flags    map[string]value
	raw      bool // everything is an operand
	one      bool // options have one dash and a whole name
}

// operand is the allowed values of one operand.
type operand struct {
	kind    string // text, value, path, ref, package, test or match
	many    bool
	pattern *pattern // of match
}

// value is the value of a flag.
type value struct {
	kind    string // "" is nothing, else optional, text, first, path or match
	pattern *pattern
}

// pattern describes a text.
type pattern struct {
	re     *regexp.Regexp
	absent bool // re is to be found nowhere
}

func (p *pattern) matches(s string) bool { return p.re.MatchString(s) != p.absent }

// table is the parsed programs.txt.
type table struct {
	entries  map[string][]*entry // by program, those with the most words first
	wraps    map[string]*entry
	skips    map[string][]string
	lines    map[string]bool
	here     map[string]bool
	sets     map[string][]string
	patterns map[string]*pattern
}

// known is the table. A parse error is a bug, which every test finds.
var known = sync.OnceValue(func() *table {
	t, err := parseTable(programs)
	if err != nil {
		panic(err)
	}
	return t
})

func parseTable(text string) (*table, error) {
	t := &table{
		entries: map[string][]*entry{}, wraps: map[string]*entry{}, skips: map[string][]string{}, lines: map[string]bool{}, here: map[string]bool{},
		sets: map[string][]string{}, patterns: map[string]*pattern{},
	}
	var rest []string // lines that may use sets and patterns of later lines
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if used, err := t.define(line); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		} else if !used {
			rest = append(rest, line)
		}
	}
	for _, line := range rest {
		if err := t.describe(line); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
	}
	for _, entries := range t.entries {
		slices.SortStableFunc(entries, func(a, b *entry) int { return len(b.words) - len(a.words) })
	}
	return t, nil
}

// define takes a line that is about words, sets or patterns. Others are not used.
func (t *table) define(line string) (used bool, err error) {
	fields := strings.Fields(line)
	switch fields[0] {
	case "line":
		for _, name := range fields[1:] {
			t.lines[name] = true
		}
	case "here":
		for _, name := range fields[1:] {
			t.here[name] = true
		}
	case "skip":
		t.skips[fields[1]] = fields[2:]
	case "set":
		t.sets[fields[1]] = fields[2:]
	case "pattern":
		source := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line[len("pattern"):]), fields[1]))
		p := &pattern{}
		if source, p.absent = strings.CutPrefix(source, "!"); !p.absent {
			source = "^(?:" + source + ")$"
		}
		p.re, err = regexp.Compile(source)
		t.patterns[fields[1]] = p
	default:
		return false, nil
	}
	return true, err
}

// describe takes a line about a program.
func (t *table) describe(line string) error {
	columns := strings.SplitN(line, " |", 3)
	if len(columns) != 3 {
		return fmt.Errorf("has %d columns", len(columns))
	}
	words := strings.Fields(columns[0])
	e := &entry{kind: kind(words[0]), words: words[1:], flags: map[string]value{}}
	if err := t.addOperands(e, strings.Fields(columns[1])); err != nil {
		return err
	}
	if err := t.addFlags(e, strings.Fields(columns[2])); err != nil {
		return err
	}
	switch e.kind {
	case noop, read, run:
		t.entries[e.words[0]] = append(t.entries[e.words[0]], e)
	case "wrap":
		t.wraps[e.words[0]] = e
	default:
		return fmt.Errorf("unknown kind %q", e.kind)
	}
	return nil
}

func (t *table) addOperands(e *entry, names []string) error {
	for _, name := range names {
		o := operand{kind: strings.TrimSuffix(name, "s"), many: strings.HasSuffix(name, "s")}
		switch o.kind {
		case "none":
			continue
		case "raw":
			e.raw = true
			continue
		case "one":
			e.one = true
			continue
		case "text", "value", "path", "ref", "package", "test":
		default:
			if o.pattern = t.patterns[strings.Trim(name, "/")]; o.pattern == nil {
				return fmt.Errorf("unknown operand %q", name)
			}
			o.kind, o.many = "match", false
		}
		e.operands = append(e.operands, o)
	}
	return nil
}

func (t *table) addFlags(e *entry, flags []string) error {
	for _, flag := range flags {
		if set, ok := strings.CutPrefix(flag, "@"); ok {
			if t.sets[set] == nil {
				return fmt.Errorf("unknown set %q", set)
			}
			if err := t.addFlags(e, t.sets[set]); err != nil {
				return err
			}
			continue
		}
		name, behind, _ := strings.Cut(flag, "=")
		var v value
		switch {
		case strings.HasSuffix(flag, "?"):
			name, v.kind = strings.TrimSuffix(flag, "?"), "optional"
		case !strings.Contains(flag, "=") || flag == "=":
			name = flag
		case behind == "":
			v.kind = "text"
		case behind == "^":
			v.kind = "first"
		case behind == "path":
			v.kind = "path"
		case strings.HasPrefix(behind, "/"):
			if v.kind, v.pattern = "match", t.patterns[strings.Trim(behind, "/")]; v.pattern == nil {
				return fmt.Errorf("unknown pattern in %q", flag)
			}
		default: // this value and no other
			name = flag
		}
		e.flags[name] = v
	}
	return nil
}

// find returns the program's entry with the most words that are those of the command; nil for none.
func (t *table) find(words []string) *entry {
	for _, e := range t.entries[words[0]] {
		if len(words) >= len(e.words) && slices.Equal(words[:len(e.words)], e.words) {
			return e
		}
	}
	return nil
}
