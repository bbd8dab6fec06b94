package export

import (
	"slices"
	"strconv"
	"strings"
)

// totals are the counts of the first pass. Tokens and cost are sums over the usage of
// assistant messages, in tokens and US dollars.
type totals struct {
	User, Assistant, ToolCalls int // on the path
	Path, All                  usage
	OffPath                    int // entries that are not on the path
}

type usage struct {
	Input, Output, CacheRead, CacheWrite, Cost float64
}

func (u *usage) add(m object) {
	v := m.object("usage")
	u.Input += v.float("input")
	u.Output += v.float("output")
	u.CacheRead += v.float("cacheRead")
	u.CacheWrite += v.float("cacheWrite")
	u.Cost += v.object("cost").float("total")
}

// survey finds the owner of each id and counts. Of entries with the same id the last
// one counts, as in the session's index.
func (p *passes) survey() error {
	owner := make(map[string]int)
	err := p.each(func(e *entry) error {
		owner[e.id] = e.ordinal
		return nil
	})
	if err != nil {
		return err
	}
	p.owner = owner
	return p.each(func(e *entry) error {
		p.total.count(e)
		return nil
	})
}

func (t *totals) count(e *entry) {
	var m object
	if e.typ == "message" {
		m = e.object.object("message")
	}
	role := m.str("role")
	if role == "assistant" {
		t.All.add(m)
	}
	if !e.onPath {
		t.OffPath++
		return
	}
	switch role {
	case "user":
		t.User++
	case "assistant":
		t.Assistant++
		t.Path.add(m)
		eachBlock(m.get("content"), func(typ string, _ object) {
			if typ == "toolCall" {
				t.ToolCalls++
			}
		})
	}
}

// fact is one line of the page's header.
type fact struct{ Name, Value string }

func (p *passes) facts() []fact {
	h, t := parseObject(p.doc.Header), p.total
	all := []fact{
		{"Session", h.str("id")},
		{"Folder", h.str("cwd")},
		{"Started", instant(h.str("timestamp")).Full},
		{"Model", or(p.doc.Model, "(not selected)")},
		{"Thinking", p.doc.ThinkingLevel},
		{"Messages", join(" · ",
			count(t.User, "user", "user"),
			count(t.Assistant, "assistant", "assistant"),
			count(t.ToolCalls, "tool call", "tool calls"))},
		{"Tokens", t.Path.tokens()},
		{"Cost", t.cost()},
		{"File", p.doc.FileName},
	}
	var known []fact
	for _, f := range all {
		if f.Value != "" {
			known = append(known, fact{f.Name, clean(f.Value)})
		}
	}
	return known
}

func (u usage) tokens() string {
	var parts []string
	for _, k := range []struct {
		n    float64
		name string
	}{{u.Input, "in"}, {u.Output, "out"}, {u.CacheRead, "cache read"}, {u.CacheWrite, "cache write"}} {
		if k.n > 0 {
			parts = append(parts, grouped(k.n)+" "+k.name)
		}
	}
	return strings.Join(parts, " · ")
}

// cost includes the sum over the file if other branches add to it.
func (t totals) cost() string {
	if t.All.Cost <= 0 {
		return ""
	}
	s := dollars(t.Path.Cost)
	if dollars(t.All.Cost) != s {
		s += " (" + dollars(t.All.Cost) + " including other branches)"
	}
	return s
}

func dollars(f float64) string {
	digits := 2
	if f < 1 {
		digits = 4
	}
	return "$" + strconv.FormatFloat(f, 'f', digits, 64)
}

// grouped formats a whole number with its thousands set apart.
func grouped(f float64) string {
	s := strconv.FormatFloat(f, 'f', 0, 64)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count is a number with its noun, "" for zero.
func count(n int, one, many string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + one
	}
	return grouped(float64(n)) + " " + many
}

// join is strings.Join without the empty strings.
func join(sep string, ss ...string) string {
	known := slices.DeleteFunc(ss, func(s string) bool { return s == "" })
	return strings.Join(known, sep)
}
