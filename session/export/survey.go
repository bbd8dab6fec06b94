package export

import (
	"slices"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
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

// add adds the usage v of a message.
func (u *usage) add(v []byte) {
	var m [5][]byte
	rawjson.GetEach(v, []string{"input", "output", "cacheRead", "cacheWrite", "cost"}, m[:])
	u.sum(&usage{number(m[0]), number(m[1]), number(m[2]), number(m[3]), number(rawjson.Get(m[4], "total"))})
}

func (u *usage) sum(v *usage) {
	u.Input += v.Input
	u.Output += v.Output
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	u.Cost += v.Cost
}

func number(v []byte) float64 {
	f, _ := rawjson.Float(v)
	return f
}

// survey finds the owner of each id if any may be used twice, and counts. Of entries with the same id the last
// one counts, as in the session's index.
func (p *passes) survey() error {
	if p.doc.OnPath == nil || p.doc.PathIDs != nil {
		if err := p.findOwners(); err != nil {
			return err
		}
	}
	entries := lots[[]tally]{work: p.tallies, take: func(list *[]tally) error {
		for i := range *list {
			p.total.add(&(*list)[i])
		}
		return nil
	}}
	return entries.run(p.doc.entries(), readFault)
}

func (p *passes) findOwners() error {
	p.owner = map[string]int{}
	n := 0
	for raw, err := range p.doc.entries() {
		if err != nil {
			return readFault(n, err)
		}
		id, _ := rawjson.GetString(raw, "id")
		p.owner[id] = n
		n++
	}
	return nil
}

// tally is what one entry adds to the totals.
type tally struct {
	onPath          bool
	user, assistant bool
	calls           int // of tools, on the path
	usage           usage
}

// tallies replaces list by the tallies of the entries in l.
func (p *passes) tallies(l *lot, list *[]tally) {
	*list = (*list)[:0]
	var entry [3][]byte
	var message [3][]byte
	l.each(func(n int, line []byte) {
		rawjson.GetEach(line, []string{"id", "type", "message"}, entry[:])
		id := text(entry[0])
		t := tally{onPath: p.isOnPath(id, n, p.owns(id, n))}
		if text(entry[1]) == "message" {
			rawjson.GetEach(entry[2], []string{"role", "usage", "content"}, message[:])
			t.message(text(message[0]), message[1], message[2])
		}
		*list = append(*list, t)
	})
}

func (t *tally) message(role string, used, content []byte) {
	switch role {
	case "user":
		t.user = true
	case "assistant":
		t.assistant = true
		t.usage.add(used)
	}
	if t.assistant && t.onPath {
		rawjson.Elements(content, func(b []byte) bool {
			if text(rawjson.Get(b, "type")) == "toolCall" {
				t.calls++
			}
			return true
		})
	}
}

// add adds an entry. The entries are added in their order, because sums of fractions depend on it.
func (t *totals) add(e *tally) {
	if e.assistant {
		t.All.sum(&e.usage)
	}
	if !e.onPath {
		t.OffPath++
		return
	}
	if e.user {
		t.User++
	}
	if e.assistant {
		t.Assistant++
		t.Path.sum(&e.usage)
		t.ToolCalls += e.calls
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
