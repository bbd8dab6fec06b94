package suite

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
)

// goal is a measurable goal: a value and its limit.
type goal struct {
	what    string
	value   float64
	unit    string
	limit   float64
	atLeast bool // the limit is a lower one
	ok      bool // everything that the value depends on was measured
}

// goalTable writes which goals are met.
func (r *Runner) goalTable(w io.Writer) {
	goals := slices.DeleteFunc(r.goals(), func(g goal) bool { return !g.ok })
	if len(goals) == 0 {
		return
	}
	head(w, "Goals", "", "What", "Measured", "Goal", "")
	for _, g := range goals {
		sign, met := "at most", g.value <= g.limit
		if g.atLeast {
			sign, met = "at least", g.value >= g.limit
		}
		verdict := "met"
		if !met {
			verdict = "missed, by a factor of " + number(max(g.value/g.limit, g.limit/g.value))
		}
		row(w, g.what, number(g.value)+g.unit, sign+" "+number(g.limit)+g.unit, verdict)
	}
	_, _ = fmt.Fprintln(w)
}

// number formats three significant digits without an exponent.
func number(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// goals are those of the project, as far as they were measured.
func (r *Runner) goals() (all []goal) {
	add := func(g ...goal) { all = append(all, g...) }
	const large, middling = 1000, 100
	for _, f := range gen.Dialects {
		file, what := gen.Sized(f, large), "resume of 1 GB, "+string(f)
		warm, cold := r.time("resume", Warm, file), r.time("resume", Cold, file)
		add(
			ratio(what+", warm: faster than pi", r.of("pi: "+peerOpen, gen.Sized(gen.Pi, large)), warm).least(1000),
			ratio(what+", warm, against 1 MB", warm, r.time("resume", Warm, gen.Sized(f, 1))).most(3),
			r.memory(what+", warm: memory", "resume", Warm, file).most(30),
			ratio(what+", cold, against reading the lines with two threads", cold, r.of(scanTwo, file)).most(1.2),
			duration(what+", cold, with early answers", r.time("resume, early answer", Cold, file)).most(50),
		)
	}
	add(ratio("resume of 100 MB without compaction, warm: faster than pi", r.of("pi: "+peerOpen, gen.Flat(middling)), r.time("resume", Warm, gen.Flat(middling))).least(20))
	file := gen.Sized(gen.Xcsh, large)
	for _, command := range []string{"stats", "info", "state", "describe"} {
		add(duration(command+" of 1 GB", r.time(command, Live, file)).most(30))
	}
	for _, command := range []string{"stats of a file", "info of a file"} {
		add(duration(command+" of 1 GB, warm", r.time(command, Warm, file)).most(30))
	}
	add(
		ratio("fork of 1 GB, warm, against cp", r.time("fork of a file", Warm, file), r.of(copyOnly, file)).most(1.5),
		ratio("fork of 1 GB, warm, against a copy that is synced, as the fork is", r.time("fork of a file", Warm, file), r.of(copySync, file)).most(1.5),
		ratio("CPU of a prompt after 1 GB against 1 MB", r.processor("prompt, each of 10", file), r.processor("prompt, each of 10", gen.Sized(gen.Xcsh, 1))).most(1.3),
		r.lastPrompts().most(1.3),
	)
	const lists = "L2"
	add(
		ratio("list of 10,000 again, against readdir and stat", r.time("list again", Live, lists), r.of(statOnly, lists)).most(1.5),
		ratio("list of 10,000, second start, against readdir and stat", r.time("list", Warm, lists), r.of(statOnly, lists)).most(1.5),
		ratio("list of 10,000, one changed, against readdir and stat", r.time("list, one changed", Live, lists), r.of(statOnly, lists)).most(1.6),
		ratio("search of 500 MB again, against reading and finding", r.time("search again", Live, lists), r.of(findOnly, lists)).most(1.5),
		duration("tree of a million entries, first page", r.time("tree, first 1,000", Live, "tree")).most(50),
		r.memory("tree of a million entries, first page: memory", "tree, first 1,000", Live, "tree").most(60),
		ratio("export of 1 GB as HTML without redaction, against cp", r.time("export html without redaction", Live, file), r.of(copyOnly, file)).most(4),
		r.memory("export of 1 GB as HTML without redaction: memory", "export html without redaction", Live, file).most(60),
		ratio("append of an entry in the engine, against pi", r.of(appendAlone, ""), r.of("append, pi", "")).most(1),
		ratio("an entry of a turn of 200, with its tool call, request and events, against pi's append alone", r.time(appendLong, Live, ""), r.of("append, pi", "")).most(1),
		ratio("append of a label, against pi", r.time("append, label", Live, ""), r.of("append, pi", "")).most(1),
	)
	return append(all, r.changeGoals()...)
}

func (g goal) most(limit float64) goal { g.limit = limit; return g }

func (g goal) least(limit float64) goal { g.limit, g.atLeast = limit, true; return g }

func ratio(what string, a, b time.Duration) goal {
	if a == 0 || b == 0 {
		return goal{}
	}
	return goal{what: what, value: float64(a) / float64(b), unit: "x", ok: true}
}

func duration(what string, d time.Duration) goal {
	return goal{what: what, value: float64(d) / float64(time.Millisecond), unit: " ms", ok: d > 0}
}

func (r *Runner) memory(what, command string, t Temperature, store string) goal {
	m := r.result(key{command, t, r.Programs[0].Name}, store)
	if m == nil || m.peak() == 0 {
		return goal{}
	}
	return goal{what: what, value: float64(m.peak()) / 1e6, unit: " MB", ok: true}
}

// lastPrompts compares the CPU time of the last prompts of a session with that of the first.
func (r *Runner) lastPrompts() goal {
	var ours []hundred
	for _, h := range r.prompts {
		if h.program == r.Programs[0].Name {
			ours = append(ours, h)
		}
	}
	if len(ours) < 2 {
		return goal{}
	}
	first, last := ours[0], ours[len(ours)-1]
	return ratio(fmt.Sprintf("CPU of prompts %d to %d against %d to %d", last.from, last.to, first.from, first.to), last.cpu, first.cpu)
}

// time returns the time of a command of the measured program; 0 if it was not measured.
func (r *Runner) time(command string, t Temperature, store string) time.Duration {
	if m := r.result(key{command, t, r.Programs[0].Name}, store); m != nil && m.Wrong == "" {
		return m.wall()
	}
	return 0
}

// processor returns the CPU time of a live command.
func (r *Runner) processor(command, store string) time.Duration {
	if m := r.result(key{command, Live, r.Programs[0].Name}, store); m != nil && m.Wrong == "" {
		return m.cpu()
	}
	return 0
}

// of returns the time of a limit or peer; 0 if it was not measured.
func (r *Runner) of(name, store string) time.Duration {
	for _, l := range r.Limits {
		if l.Name == name && l.Store == store && l.Note == "" {
			return middle(l.Runs)
		}
	}
	return 0
}
