package review_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/changetest"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/review"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

var programs = flag.Int("programs", 300, "random programs of changes, rewinds and redos")

// oracle is a model of the tree: a list of events for each line, file and mode. The newest active event of a line decides whether it
// exists. Undoing records deactivates their events. There are no merges.
type oracle struct {
	paths map[string]*history
	off   map[at]bool     // the inactive events of a path
	by    map[string][]at // of each rewind
}

// history is the events of a path.
type history struct {
	order  []string // every line that ever existed, in order
	lines  map[string][]fact
	exists []fact
	mode   []fact
}

// at is an event at a path.
type at struct{ event, path string }

// takeBack deactivates events, except for some paths.
func (o *oracle) takeBack(rewind string, except, events []string) {
	for p := range o.paths {
		for _, e := range events {
			if a := (at{e, p}); !slices.Contains(except, p) && !o.off[a] {
				o.off[a] = true
				o.by[rewind] = append(o.by[rewind], a)
			}
		}
	}
}

// redo activates the events again that a rewind undid.
func (o *oracle) redo(rewind string, except []string) {
	for _, a := range o.by[rewind] {
		if !slices.Contains(except, a.path) {
			delete(o.off, a)
		}
	}
}

// fact is the value that an event set.
type fact struct {
	event string
	value uint32 // 0 is false
}

func (o *oracle) newest(path string, facts []fact) uint32 {
	for _, f := range slices.Backward(facts) {
		if !o.off[at{f.event, path}] {
			return f.value
		}
	}
	return 0
}

// note adds an event that led to the given tree.
func (o *oracle) note(event string, tree changetest.Tree) {
	for p, f := range tree {
		if o.paths[p] == nil {
			o.paths[p] = &history{lines: map[string][]fact{}}
		}
		h := o.paths[p]
		if o.newest(p, h.exists) == 0 {
			h.exists = append(h.exists, fact{event, 1})
		}
		if o.newest(p, h.mode) != f.Mode {
			h.mode = append(h.mode, fact{event, f.Mode})
		}
		o.noteLines(p, h, event, strings.SplitAfter(f.Content, "\n"))
	}
	for p, h := range o.paths {
		if _, ok := tree[p]; !ok && o.newest(p, h.exists) != 0 {
			h.exists = append(h.exists, fact{event, 0})
			o.noteLines(p, h, event, nil)
		}
	}
}

func (o *oracle) noteLines(p string, h *history, event string, lines []string) {
	next := 0 // after the previous line
	for _, l := range lines {
		if l == "" {
			continue
		}
		if i := slices.Index(h.order, l); i >= 0 {
			next = i + 1
		} else {
			h.order = slices.Insert(h.order, next, l)
			next++
		}
		if o.newest(p, h.lines[l]) == 0 {
			h.lines[l] = append(h.lines[l], fact{event, 1})
		}
	}
	for _, l := range h.order {
		if o.newest(p, h.lines[l]) != 0 && !slices.Contains(lines, l) {
			h.lines[l] = append(h.lines[l], fact{event, 0})
		}
	}
}

// tree returns the expected tree.
func (o *oracle) tree() changetest.Tree {
	t := changetest.Tree{}
	for p, h := range o.paths {
		if o.newest(p, h.exists) == 0 {
			continue
		}
		var b strings.Builder
		for _, l := range h.order {
			if o.newest(p, h.lines[l]) != 0 {
				b.WriteString(l)
			}
		}
		t[p] = changetest.File{Content: b.String(), Mode: o.newest(p, h.mode)}
	}
	return t
}

// program is a random program.
type program struct {
	t        *testing.T
	r        *rand.Rand
	w        *changetest.World
	sessions []*changetest.Session
	o        *oracle
	lines    int
	past     []changetest.Tree
	log      []string
	accepted int
	refused  int
	either   bool // the oracle can't follow from here
	forks    bool
}

var names = []string{"a", "b", "dir/c", "dir/d", "e"}

func newProgram(t *testing.T, seed uint64) *program {
	w, s := changetest.New()
	p := &program{
		t: t, r: rand.New(rand.NewPCG(seed, 1)), w: w, sessions: []*changetest.Session{s}, o: &oracle{paths: map[string]*history{}, off: map[at]bool{}, by: map[string][]at{}},
	}
	for _, n := range names[:3] {
		p.w.Tree[changetest.Path(n)] = changetest.File{Content: p.text(8 + p.r.IntN(8)), Mode: 0o644}
	}
	p.o.note("start", w.Tree)
	return p
}

func (p *program) text(n int) string {
	var b strings.Builder
	for range n {
		p.lines++
		fmt.Fprintf(&b, "line %d\n", p.lines)
	}
	return b.String()
}

// change changes a file of the tree in one of the ways of editors and commands.
func (p *program) change(t changetest.Tree) {
	name := changetest.Path(names[p.r.IntN(len(names))])
	f, ok := t[name]
	switch {
	case !ok:
		t[name] = changetest.File{Content: p.text(1 + p.r.IntN(8)), Mode: 0o644}
	case p.r.IntN(12) == 0:
		delete(t, name)
	case p.r.IntN(12) == 0:
		f.Mode ^= 0o111
		t[name] = f
	case p.r.IntN(12) == 0: // git checkout -- file, or a rename
		if old, ok := p.past[p.r.IntN(len(p.past))][name]; ok {
			t[name] = old
		}
	case p.r.IntN(12) == 0:
		to := changetest.Path(names[p.r.IntN(len(names))])
		if _, taken := t[to]; !taken {
			t[to] = f
			delete(t, name)
		}
	default:
		lines := strings.SplitAfter(strings.TrimSuffix(f.Content, "\n"), "\n")
		lines[len(lines)-1] += "\n"
		if f.Content == "" {
			lines = nil
		}
		for range 1 + p.r.IntN(2) {
			at := p.r.IntN(len(lines) + 1)
			end := min(at+p.r.IntN(3), len(lines))
			lines = slices.Replace(lines, at, end, strings.SplitAfter(strings.TrimSuffix(p.text(p.r.IntN(3)), "\n"), "\n")...)
			for i := range lines {
				lines[i] = strings.TrimSuffix(lines[i], "\n") + "\n"
			}
			lines = slices.DeleteFunc(lines, func(l string) bool { return l == "\n" })
		}
		f.Content = strings.Join(lines, "")
		t[name] = f
	}
}

func (p *program) step() {
	s := p.sessions[p.r.IntN(len(p.sessions))]
	p.past = append(p.past, p.copy())
	defer func(was changetest.Tree) {
		for _, n := range names {
			if f := changetest.Path(n); was[f] != p.w.Tree[f] {
				p.say("    %s: %q %o -> %q %o", n, was[f].Content, was[f].Mode, p.w.Tree[f].Content, p.w.Tree[f].Mode)
			}
		}
		p.agree()
	}(p.copy())
	switch k := p.r.IntN(100); {
	case k < 35: // an edit, or a command that changes several files
		r := s.Run(func(t changetest.Tree) {
			for range 1 + p.r.IntN(3)*p.r.IntN(2) {
				p.change(t)
			}
		})
		p.say("%s changes %d paths", r.ID, len(r.Changes))
		p.o.note(r.ID, p.w.Tree)
	case k < 55:
		p.change(p.w.Tree)
		p.say("the user changes a file")
		p.o.note(fmt.Sprint("user", len(p.log)), p.w.Tree)
	case k < 63:
		p.keep(s)
	case k < 85:
		p.rewind(s)
	case k < 92:
		p.redo(s)
	case k < 98:
		p.undoPending(s)
	default:
		if len(p.sessions) < 3 && p.forks {
			p.sessions = append(p.sessions, s.Fork())
			p.say("fork")
		}
	}
}

// agree compares the tree with the oracle. If two events made the same line, as a checkout that restores lines does, either may count
// as its origin: the file may have any of its earlier contents. The oracle has one list of active events, but each fork of a session
// has its own: they may differ in lines that no user wrote or removed.
func (p *program) agree() {
	want := p.o.tree()
	for _, n := range names {
		path := changetest.Path(n)
		if want[path] == p.w.Tree[path] || p.o.paths[path] == nil {
			continue
		}
		was := slices.ContainsFunc(p.past, func(t changetest.Tree) bool { return t[path] == p.w.Tree[path] })
		// There are only two modes, and a file that is made again gets that of its record.
		h := p.o.paths[path]
		mode := want[path].Content == p.w.Tree[path].Content && (len(h.mode) > 2 || len(h.exists) > 1)
		ok := mode || was && h.twice() ||
			h.remade(want[path].Content, p.w.Tree[path].Content) || len(p.sessions) > 1 && h.foreign(want[path].Content, p.w.Tree[path].Content)
		require.True(p.t, ok, "%s: want %q\n%s", n, want[path].Content, strings.Join(p.log, "\n"))
		p.either = true
		return
	}
	require.Equal(p.t, p.o.tree(), p.w.Tree, "%s", strings.Join(p.log, "\n"))
}

// foreign reports whether the user had no part in the lines in which two contents differ.
func (h *history) foreign(a, b string) bool {
	for l, facts := range h.lines {
		if strings.Contains("\n"+a, "\n"+l) != strings.Contains("\n"+b, "\n"+l) &&
			slices.ContainsFunc(facts, func(f fact) bool { return strings.HasPrefix(f.event, "user") || f.event == "start" && len(facts) == 1 }) {
			return false
		}
	}
	return true
}

// remade reports whether two events made each of the lines in which two contents differ.
func (h *history) remade(a, b string) bool {
	for l, facts := range h.lines {
		if strings.Contains("\n"+a, "\n"+l) != strings.Contains("\n"+b, "\n"+l) && made(facts) < 2 {
			return false
		}
	}
	return a != b
}

// twice reports whether something was made by two events.
func (h *history) twice() bool {
	for _, facts := range h.lines {
		if made(facts) > 1 {
			return true
		}
	}
	return made(h.exists) > 1
}

// made returns how many events made the same of something.
func made(facts []fact) int {
	n := map[uint32]int{}
	for _, f := range facts {
		n[f.value]++
	}
	return max(n[0], n[1])
}

func (p *program) copy() changetest.Tree { return maps.Clone(p.w.Tree) }

func (p *program) say(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

func (p *program) input(s *changetest.Session) *review.Input {
	return &review.Input{Book: s.Book(), Plan: p.w.Input(plan.Selection{})}
}

func (p *program) records(s *changetest.Session) (records []*change.Record) {
	for _, r := range s.Book().Records {
		if !r.IsRewind() || len(r.Hunks) > 0 {
			records = append(records, r)
		}
	}
	return records
}

// rewind undoes all records after a position, or some records.
func (p *program) rewind(s *changetest.Session) {
	b := s.Book()
	all := p.records(s)
	if len(all) == 0 {
		return
	}
	sel := plan.Behind(b, all[p.r.IntN(len(all))].Seq-p.r.IntN(2))
	if p.r.IntN(2) == 0 {
		var ids []string
		for range 1 + p.r.IntN(2) {
			ids = append(ids, all[p.r.IntN(len(all))].ID)
		}
		var err error
		if sel, err = plan.Exactly(b, ids); err != nil {
			require.ErrorContains(p.t, err, "already", ids)
			return
		}
	}
	made, err := plan.Make(p.w.Input(sel))
	require.NoError(p.t, err)
	if made.Conflicts > 0 && p.r.IntN(2) == 0 {
		in := p.w.Input(sel)
		for _, x := range made.Paths {
			if x.Action == wire.Conflict {
				in.Except = append(in.Except, x.Path)
			}
		}
		made, err = plan.Make(in)
		require.NoError(p.t, err)
	}
	p.carry(s, made, made.Records, "")
}

func (p *program) redo(s *changetest.Session) {
	sel, err := plan.Redo(s.Book(), "")
	if err != nil {
		return
	}
	rewind := sel.Records[0]
	made, err := plan.Make(p.w.Input(sel))
	require.NoError(p.t, err)
	if len(rewind.Hunks) > 0 {
		p.carry(s, made, []string{rewind.ID}, "")
		return
	}
	p.carry(s, made, nil, rewind.ID)
}

// carry carries out a plan that undoes records, or redoes a rewind.
func (p *program) carry(s *changetest.Session, made *plan.Plan, records []string, redoes string) {
	if made.Conflicts > 0 {
		p.refused++
		return
	}
	p.accepted++
	id := p.carryOut(s, made)
	if redoes != "" {
		p.o.redo(redoes, made.Except)
		return
	}
	p.o.takeBack(id, made.Except, records)
}

func (p *program) carryOut(s *changetest.Session, made *plan.Plan) string {
	r := s.Apply(made)
	p.say("%s takes back %v%v%s, except %v", r.ID, r.Undoes, r.Hunks, r.Redoes, r.Except)
	return r.ID
}

// keep keeps something, which changes no file.
func (p *program) keep(s *changetest.Session) {
	in := p.input(s)
	files, _, err := review.Files(in, review.Scope{Hunks: true, Pending: true})
	require.NoError(p.t, err)
	_, all, err := review.Files(p.input(s), review.Scope{})
	require.NoError(p.t, err)
	counted, err := review.Sum(p.input(s), nil)
	require.NoError(p.t, err)
	all.Pending = 0
	require.Equal(p.t, all, counted)
	if len(files) == 0 {
		return
	}
	args := wire.KeepArgs{All: true}
	f := files[p.r.IntN(len(files))]
	if p.r.IntN(2) == 0 {
		args = wire.KeepArgs{Paths: []string{f.Path}}
		if len(f.Hunks) > 0 && p.r.IntN(3) > 0 {
			args = wire.KeepArgs{Hunks: []wire.HunkRef{{Path: f.Path, Hunk: f.Hunks[p.r.IntN(len(f.Hunks))].Hunk}}}
		}
	}
	total, err := in.Pending()
	require.NoError(p.t, err)
	kept, err := review.Keep(in, args, p.w.Put)
	require.NoError(p.t, err)
	require.Positive(p.t, kept.Hunks)
	require.Equal(p.t, total-kept.Hunks, kept.Left)
	s.Keep(kept.Pairs)
	p.say("keep %+v", args)
	left, err := p.input(s).Pending()
	require.NoError(p.t, err)
	require.Equal(p.t, kept.Left, left, "the reported number of pending hunks\n%s", strings.Join(p.log, "\n"))
}

// undoPending undoes pending hunks or a file: nothing else changes.
func (p *program) undoPending(s *changetest.Session) {
	in := p.input(s)
	files, _, err := review.Files(in, review.Scope{Hunks: true, Pending: true})
	require.NoError(p.t, err)
	if len(files) == 0 {
		return
	}
	f := files[p.r.IntN(len(files))]
	if len(f.Hunks) == 0 || p.r.IntN(3) == 0 {
		made, err := review.Undo(in, nil, []string{f.Path})
		require.NoError(p.t, err)
		if made.Conflicts > 0 {
			return
		}
		p.carryOut(s, made)
		p.o.note(s.Book().Records[len(s.Book().Records)-1].ID, p.w.Tree)
		v, _, err := review.Files(p.input(s), review.Scope{Path: f.Path, Pending: true})
		require.NoError(p.t, err)
		require.Empty(p.t, v, "%s", strings.Join(p.log, "\n"))
		return
	}
	h := f.Hunks[p.r.IntN(len(f.Hunks))]
	made, err := review.Undo(in, []wire.HunkRef{{Path: f.Path, Hunk: h.Hunk}}, nil)
	require.NoError(p.t, err)
	if made.Conflicts > 0 {
		return
	}
	lines := strings.SplitAfter(p.w.Tree[f.Path].Content, "\n")
	var old []string
	for _, l := range strings.SplitAfter(h.Text, "\n") {
		if rest, ok := strings.CutPrefix(l, "-"); ok {
			old = append(old, rest)
		}
	}
	want := strings.Join(slices.Concat(lines[:h.NewStart-1], old, lines[h.NewStart-1+h.NewLines:]), "")
	p.carryOut(s, made)
	require.Equal(p.t, want, p.w.Tree[f.Path].Content, "%s", strings.Join(p.log, "\n"))
	p.o.note(s.Book().Records[len(s.Book().Records)-1].ID, p.w.Tree)
}

func TestRandomPrograms(t *testing.T) {
	t.Parallel()
	accepted, refused, either := 0, 0, 0
	for i := range *programs {
		p := newProgram(t, uint64(i)+1)
		p.forks = i%4 == 0
		for range 25 {
			if p.step(); p.either {
				either++
				break
			}
		}
		accepted, refused = accepted+p.accepted, refused+p.refused
	}
	t.Logf("%d rewinds and redos of %d programs accepted, %d refused, %d ended where either is right", accepted, *programs, refused, either)
	require.Less(t, 5*either, *programs)
	require.Greater(t, accepted, refused)
}
