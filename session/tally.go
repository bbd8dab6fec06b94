package session

import (
	"bytes"
	"maps"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/internal/own"
)

// Tally counts the entries of a session, on all of its branches. Those that are not shown count
// only for the usage.
type Tally struct {
	Entries int
	Roles   map[string]int // messages by role
	Calls   map[string]int // tool calls by tool
	Usage   Usage          // of every answer, and of sub-agents as recorded in tool results
}

// Tally returns the counts. They were made while the file was read; only entries that were added since are read. It fails only if a large file cannot be read.
// Tally is safe for concurrent use with the readers of a Document.
func (d *Document) Tally() (Tally, error) {
	d.tally.mu.Lock()
	defer d.tally.mu.Unlock()
	err := d.sumUp()
	t := d.tally.clone().Tally
	if t.Roles == nil {
		t.Roles = map[string]int{}
	}
	if t.Calls == nil {
		t.Calls = map[string]int{}
	}
	return t, err
}

// tally is the counts of a document, made when they are asked for.
type tally struct {
	mu sync.Mutex
	counts
	read counts // those of the entries in the source, which forks copy
}

// counts is a Tally of the first counted entries. Entries never change, so it is only ever added to.
type counts struct {
	Tally
	counted   int
	described int // 1 + the index of the newest description, 0 for none
}

func (c counts) clone() counts {
	c.Roles, c.Calls = maps.Clone(c.Roles), maps.Clone(c.Calls)
	return c
}

// lineTally is what one line adds to a tally, as far as that does not depend on the others.
type lineTally struct {
	costs bool // it has a usage, which may be zero
	usage amounts
	calls [][]byte // raw names of the tools
}

// tallyLine returns what the message of a line adds. The names of tools alias the line.
func tallyLine(env *rawjson.Envelope, role string) (t lineTally) {
	switch role {
	case "assistant":
		t.costs, t.usage = true, amountsOf(env.Usage)
	case "toolResult":
		if name, _ := rawjson.String(env.ToolName); name == "task" {
			t.costs, t.usage = true, amountsOf(rawjson.Get(env.Details, "usage"))
		}
	}
	if role != "" {
		t.calls = env.Calls
	}
	return t
}

// count adds entry i of d, whose line is raw.
func (c *counts) count(d *Document, i int, raw []byte, line lineTally) {
	c.counted++
	if line.costs {
		c.Usage.add(line.usage)
	}
	if d.tree.hidden(i) {
		if d.tree.typ(i) == TypeCustom && isDescription(raw) {
			c.described = i + 1
		}
		return
	}
	c.Entries++
	if role := d.tree.role(i); role != "" {
		increment(&c.Roles, role)
	}
	for _, name := range line.calls {
		increment(&c.Calls, toolName(name))
	}
}

// toolName is the name of a tool, "" for a value that is no name.
func toolName(raw []byte) string {
	if text := unquoted(raw); text != nil && bytes.IndexByte(text, '\\') < 0 {
		return string(text)
	}
	name, _ := rawjson.String(raw)
	return name
}

func increment(of *map[string]int, name string) {
	if *of == nil {
		*of = map[string]int{}
	}
	(*of)[name]++
}

// isDescription reports whether a custom entry sets the description of the session. Such entries are hidden.
func isDescription(raw []byte) bool {
	c := Entry{Type: TypeCustom, Raw: raw}.AsCustom()
	_, ok := rawjson.GetString(c.Data, "text")
	return ok && c.CustomType == own.Description
}

// sumUp counts the entries that were not counted yet.
func (d *Document) sumUp() error {
	fresh := make([]int, 0, d.Len()-d.tally.counted)
	for i := d.tally.counted; i < d.Len(); i++ {
		fresh = append(fresh, i)
	}
	r := lineReader{doc: d, reuse: true}
	return r.each(fresh, func(i int, raw []byte) error {
		env, _, _ := rawjson.ScanEnvelope(raw)
		d.tally.count(d, i, raw, tallyLine(&env, d.tree.role(i)))
		return nil
	})
}
