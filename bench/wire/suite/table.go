package suite

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
)

// Group is a table of the report: stores of one kind, in the order of their sizes.
type Group struct {
	Title  string
	Stores []string
	Growth bool // the last column compares the last store with the first
}

// Markdown writes the results as tables.
func (r *Runner) Markdown(w io.Writer, groups ...Group) {
	for _, g := range groups {
		r.group(w, g)
	}
	r.appendTable(w)
	r.promptTable(w)
	r.limitTable(w)
	r.goalTable(w)
}

func row(w io.Writer, cells ...string) { _, _ = fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }

// head writes the title and the first lines of a table. The text follows the title.
func head(w io.Writer, title, text string, cells ...string) {
	_, _ = fmt.Fprintf(w, "### %s\n\n", title)
	if text != "" {
		_, _ = fmt.Fprintf(w, "%s\n\n", text)
	}
	row(w, cells...)
	_, _ = fmt.Fprintln(w, strings.Repeat("|---", len(cells))+"|")
}

// key is a row of a group.
type key struct {
	command     string
	temperature Temperature
	program     string
}

func (r *Runner) group(w io.Writer, g Group) {
	var keys []key
	for _, m := range r.Results {
		k := key{m.Command, m.Temperature, m.Program}
		if slices.Contains(g.Stores, m.Store) && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return
	}
	cells := append([]string{"Command", ""}, g.Stores...)
	if len(r.Programs) > 1 {
		cells = append(cells, "Program")
	}
	if g.Growth {
		cells = append(cells, "Growth")
	}
	head(w, g.Title, "Cells: milliseconds until the answer / milliseconds of the server's CPU time / peak memory in MB."+growthText(g), cells...)
	for _, k := range keys {
		cells := []string{k.command, string(k.temperature)}
		for _, store := range g.Stores {
			cells = append(cells, cell(r.result(k, store)))
		}
		if len(r.Programs) > 1 {
			cells = append(cells, k.program)
		}
		if g.Growth {
			cells = append(cells, growth(r.result(k, g.Stores[0]), r.result(k, g.Stores[len(g.Stores)-1])))
		}
		row(w, cells...)
	}
	_, _ = fmt.Fprintln(w)
	r.ratioTable(w, g, keys)
}

func growthText(g Group) string {
	if !g.Growth {
		return ""
	}
	return " Growth: time and CPU time of the largest session, divided by those of the smallest."
}

// ratioTable compares the two programs.
func (r *Runner) ratioTable(w io.Writer, g Group, keys []key) {
	if len(r.Programs) < 2 {
		return
	}
	ours, other := r.Programs[0].Name, r.Programs[1].Name
	head(w, g.Title+": "+other+" against "+ours, "Time and CPU time of "+other+", divided by those of "+ours+".",
		append([]string{"Command", ""}, g.Stores...)...)
	for _, k := range keys {
		if k.program != ours {
			continue
		}
		cells := []string{k.command, string(k.temperature)}
		for _, store := range g.Stores {
			a, b := r.result(k, store), r.result(key{k.command, k.temperature, other}, store)
			if a == nil || b == nil || len(a.Runs) == 0 || len(b.Runs) == 0 {
				cells = append(cells, "")
				continue
			}
			cells = append(cells, times(b.wall(), a.wall())+" / "+times(b.cpu(), a.cpu()))
		}
		row(w, cells...)
	}
	_, _ = fmt.Fprintln(w)
}

func (r *Runner) result(k key, store string) *Result {
	for i := range r.Results {
		m := &r.Results[i]
		if m.Store == store && m.Command == k.command && m.Temperature == k.temperature && m.Program == k.program {
			return m
		}
	}
	return nil
}

func cell(m *Result) string {
	switch {
	case m == nil:
		return ""
	case m.Wrong != "":
		return "**WRONG**"
	case m.Note != "":
		return m.Note
	}
	return fmt.Sprintf("%s / %s / %s", ms(m.wall()), ms(m.cpu()), megabytes(m.peak()))
}

func growth(first, last *Result) string {
	if first == nil || last == nil || len(first.Runs) == 0 || len(last.Runs) == 0 {
		return ""
	}
	return times(last.wall(), first.wall()) + " / " + times(last.cpu(), first.cpu())
}

func (r *Runner) appendTable(w io.Writer) {
	if !slices.ContainsFunc(r.Results, isAppend) {
		return
	}
	head(w, "Appending, per entry", "", "What", "Time", "CPU", "Program")
	for i := range r.Results {
		if m := &r.Results[i]; isAppend(*m) {
			row(w, m.Command, micro(m.wall()), micro(m.cpu()), m.Program)
		}
	}
	for _, l := range r.Limits {
		if strings.HasPrefix(l.Name, "append") {
			row(w, l.Name, l.text(micro), "", "")
		}
	}
	_, _ = fmt.Fprintln(w)
}

func isAppend(m Result) bool { return strings.HasPrefix(m.Command, "append") }

func (r *Runner) promptTable(w io.Writer) {
	if len(r.prompts) == 0 {
		return
	}
	head(w, "Prompts in one session", "Each prompt has four entries: itself, a tool call, its result and an answer.",
		"Prompts", "Time", "CPU of a prompt", "CPU against the first", "Peak", "Session", "Program")
	first := map[string]time.Duration{}
	for i, h := range r.prompts {
		last := i == len(r.prompts)-1 || r.prompts[i+1].program != h.program
		if first[h.program] == 0 {
			first[h.program] = h.cpu
		}
		if !last && !slices.Contains([]int{0, 1, 2, 4, 9, 14}, (h.from-1)/(h.to-h.from+1)) {
			continue
		}
		row(w, fmt.Sprintf("%d to %d", h.from, h.to), ms(h.wall)+" ms", ms(h.cpu)+" ms", times(h.cpu, first[h.program]),
			megabytes(h.peak)+" MB", fmt.Sprintf("%d KB", h.file/1000), h.program)
	}
	_, _ = fmt.Fprintln(w)
}

func (r *Runner) limitTable(w io.Writer) {
	if len(r.Limits) == 0 {
		return
	}
	head(w, "Limits and peers", "", "What", "Store", "Milliseconds")
	for _, l := range r.Limits {
		if !strings.HasPrefix(l.Name, "append") {
			row(w, l.Name, l.Store, l.text(ms))
		}
	}
	_, _ = fmt.Fprintln(w)
}

func (l Limit) text(format func(time.Duration) string) string {
	if l.Note != "" {
		return strings.ReplaceAll(l.Note, "|", " ")
	}
	return format(middle(l.Runs))
}

func (m *Result) wall() time.Duration {
	return m.middle(func(c child.Cost) time.Duration { return c.Wall })
}

func (m *Result) cpu() time.Duration {
	return m.middle(func(c child.Cost) time.Duration { return c.CPU })
}

func (m *Result) middle(of func(child.Cost) time.Duration) time.Duration {
	all := make([]time.Duration, len(m.Runs))
	for i, c := range m.Runs {
		all[i] = of(c)
	}
	return middle(all)
}

func (m *Result) peak() (peak int64) {
	for _, c := range m.Runs {
		peak = max(peak, c.Peak)
	}
	return peak
}

// ms formats milliseconds with two significant digits below a hundred.
func ms(d time.Duration) string {
	v := float64(d) / float64(time.Millisecond)
	switch {
	case v >= 10:
		return fmt.Sprintf("%.0f", v)
	case v >= 1:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

func micro(d time.Duration) string {
	return fmt.Sprintf("%.0f us", float64(d)/float64(time.Microsecond))
}

func megabytes(n int64) string { return fmt.Sprintf("%.0f", float64(n)/1e6) }

func times(a, b time.Duration) string {
	if b <= 0 {
		return ""
	}
	v := float64(a) / float64(b)
	if v >= 20 {
		return fmt.Sprintf("%.0fx", v)
	}
	return fmt.Sprintf("%.2gx", v)
}
