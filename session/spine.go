package session

import (
	"iter"
	"maps"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// spine is what the path from the root to one leaf comes to, so that it need not be walked again: what a
// context takes from it, and its counts. A walk gives the same. A spine never changes.
type spine struct {
	leaf   int
	sparse []int          // entries of the path before from that a context depends on, in its order
	marks  []mark         // those that [Document.Recent] yields
	from   int            // first entry of the rest of the path, all of which is taken
	roles  map[string]int // messages on the path by role
	first  int            // first message of the user, -1 for none
}

// mark is an entry with its type, so that its page is not needed.
type mark struct {
	at  int
	typ Type
}

// maxClimb is how many entries a spine is carried on by before it is made again.
const maxClimb = 4096

// spineFrom is the number of entries from which on a spine is made. A shorter path is walked at once.
var spineFrom = 512

// spineAt returns the spine at a leaf. ok is false where the whole path must be walked: in a short session,
// and where there are problems to report, because an id is used twice, the parents form a cycle, the path
// begins at an orphan, or a parent comes behind its child.
func (d *Document) spineAt(leaf int) (s *spine, ok bool) {
	if leaf < 0 || d.tree.twice || d.Len() < spineFrom {
		return nil, false
	}
	s = d.spine.Load()
	if s != nil && s.leaf == leaf {
		return s, true
	}
	next, ok := d.carry(s, leaf)
	if !ok {
		next, ok = d.makeSpine(leaf)
	}
	if ok {
		d.spine.Store(next)
	}
	return next, ok
}

// carry carries a spine on to a leaf below its own in the tree. ok is false if the leaf is not near there, or if what
// a compaction keeps is not known from the spine.
func (d *Document) carry(s *spine, leaf int) (next *spine, ok bool) {
	if s == nil {
		return nil, false
	}
	more, same, ok := d.climb(s.leaf, leaf)
	if !ok {
		return nil, false
	}
	next = new(*s)
	next.leaf, next.roles = leaf, maps.Clone(s.roles)
	for _, i := range more {
		next.count(d, i)
	}
	if same {
		return next, true
	}
	path, ok := s.upTo(d, s.leaf)
	if !ok {
		return nil, false
	}
	path = append(path, more...)
	return next, slices.IsSorted(path) && d.divide(next, path, s)
}

// climb returns the entries between one and another below it in the tree, in their order. same reports that none of them
// changes where the messages of a context begin.
func (d *Document) climb(from, leaf int) (more []int, same, ok bool) {
	same = true
	for i := leaf; i != from; i = d.tree.parentOf(i) {
		if i < from || len(more) == maxClimb {
			return nil, false, false
		}
		typ := d.tree.typ(i)
		same = same && typ != TypeCompaction && typ != typeResetBoundary
		more = append(more, i)
	}
	slices.Reverse(more)
	return more, same, true
}

// upTo returns the sparse entries, and all from the rest of the path to a leaf.
func (s *spine) upTo(d *Document, leaf int) (path []int, ok bool) {
	for i := leaf; ; i = d.tree.parentOf(i) {
		if i < 0 || len(path) == d.Len() { // a page is lost, so that nothing can be read
			return nil, false
		}
		path = append(path, i)
		if i == s.from {
			break
		}
	}
	for _, i := range slices.Backward(s.sparse) {
		path = append(path, i)
	}
	slices.Reverse(path)
	return path, true
}

func (s *spine) count(d *Document, i int) {
	role := d.tree.role(i)
	if role == "" {
		return
	}
	s.roles[role]++
	if role == "user" && s.first < 0 {
		s.first = i
	}
}

// counted returns a spine with nothing but the counts of the path.
func (d *Document) counted(path []int) *spine {
	s := &spine{roles: map[string]int{}, first: -1}
	for _, i := range path {
		s.count(d, i)
	}
	return s
}

// makeSpine walks the path to leaf.
func (d *Document) makeSpine(leaf int) (s *spine, ok bool) {
	path, cycle := d.tree.path(leaf)
	if cycle || len(path) == 0 || d.tree.orphan(path[0]) || !slices.IsSorted(path) {
		return nil, false
	}
	s = d.counted(path)
	s.leaf = leaf
	return s, d.divide(s, path, nil)
}

// divide sets which entries of a path a context depends on. If there is an earlier spine, the path is one that it led to, and
// begins with its sparse entries. It reports false if an entry can't be read, or if the earlier spine doesn't have everything
// that the context depends on.
func (d *Document) divide(s *spine, path []int, earlier *spine) bool {
	var sparse int
	var before []int
	if earlier != nil {
		sparse = len(earlier.sparse)
		for _, m := range earlier.marks {
			before = append(before, m.at)
		}
	}
	b := newContextBuilder(d, nil)
	state, models, ok := d.lastOf(b.stateEntries(path))
	if !ok {
		return false
	}
	from, ok := b.keptFrom(path, sparse, earlier != nil)
	if !ok {
		return false
	}
	keep, ok := b.sparse(path, from)
	if !ok {
		return false
	}
	for _, i := range state {
		keep[i] = true
	}
	s.from, s.sparse = path[from], nil
	for _, i := range path[:from] {
		if keep[i] {
			s.sparse = append(s.sparse, i)
		}
	}
	s.marks, ok = d.marked(append(before, path[sparse:from]...), models)
	return ok
}

// injectionType is the type of the custom messages that bring rules to the model.
const injectionType = "ttsr-injection"

// marked returns the entries that [Document.Recent] yields before the rest of the path. models are the known
// model changes. ok is false if an entry can't be read.
func (d *Document) marked(path []int, models map[int]ModelChange) (marks []mark, ok bool) {
	seen := map[string]bool{} // roles of messages and of models, and types
	newest := func(of string) bool {
		old := seen[of]
		seen[of] = true
		return !old
	}
	for _, i := range slices.Backward(path) {
		typ, keep := d.tree.typ(i), false
		switch typ {
		case TypeModeChange:
			keep = true
		case typeServiceTier, TypeSessionInit, TypeCompaction:
			keep = newest("type " + string(typ))
		case TypeModelChange:
			m, known := models[i]
			if !known {
				e, err := d.Entry(i)
				if err != nil {
					return nil, false
				}
				m = e.AsModelChange()
			}
			keep = m.Model != "" && newest("model "+m.Role)
		case TypeCustomMessage:
			e, err := d.Entry(i)
			if err != nil {
				return nil, false
			}
			name, _ := rawjson.GetString(e.Raw, "customType")
			keep = name == injectionType
		case TypeMessage:
			role := d.tree.role(i)
			keep = role == "system" || (role == "user" || role == "assistant") && newest(role)
		}
		if keep {
			marks = append(marks, mark{i, typ})
		}
	}
	slices.Reverse(marks)
	return marks, true
}

// Recent yields the indexes and types of the entries on the path to leaf, the newest first. Before the part of a long
// conversation that its context shows, it yields only those that set a mode, bring rules to the model or are a system
// message; the newest that sets the model of each role; and the newest service tier, session_init, compaction, prompt and
// answer. So it costs what the context has, not what the session has. The rules for concurrent use are those of [BuildContext].
func (d *Document) Recent(leaf Leaf) iter.Seq2[int, Type] {
	return func(yield func(int, Type) bool) {
		at := d.tree.resolve(leaf)
		s, short := d.spineAt(at)
		end := -1
		if short {
			end = s.from
		}
		for i := range d.tree.upward(at) {
			if !yield(i, d.tree.typ(i)) {
				return
			}
			if i == end {
				break
			}
		}
		if !short {
			return
		}
		for _, m := range slices.Backward(s.marks) {
			if !yield(m.at, m.typ) {
				return
			}
		}
	}
}

// lastOf leaves out of the entries that set state those that a later one overrides: of model changes the last
// of each role counts, of answers the last. models are all model changes among them.
func (d *Document) lastOf(state []int) (last []int, models map[int]ModelChange, ok bool) {
	roles, answered := map[string]bool{}, false
	models = map[int]ModelChange{}
	for _, i := range slices.Backward(state) {
		switch d.tree.typ(i) {
		case TypeModelChange:
			e, err := d.Entry(i)
			if err != nil {
				return nil, nil, false
			}
			m := e.AsModelChange()
			models[i] = m
			if m.Model == "" || roles[m.Role] {
				continue
			}
			roles[m.Role] = true
		case TypeMessage:
			if answered {
				continue
			}
			answered = true
		}
		last = append(last, i)
	}
	slices.Reverse(last)
	return last, models, true
}

// keptFrom returns the position on the path at which the messages of a context begin at the earliest. ok is false if it is
// not known, because it may be before the entries of the path, or among the sparse ones at its beginning.
func (b *contextBuilder) keptFrom(path []int, sparse int, carried bool) (pos int, ok bool) {
	if b.doc.dialect == Omp && b.reset > b.compaction { // the other programs ignore a reset
		return b.reset, b.reset >= sparse
	}
	if b.compaction < 0 {
		return 0, sparse == 0
	}
	e, err := b.doc.Entry(path[b.compaction])
	if err != nil {
		return 0, false
	}
	pos = b.compaction
	for _, name := range []string{"firstKeptEntryId", "providerReplayThroughEntryId"} {
		id, _ := rawjson.GetString(e.Raw, name)
		if id == "" {
			continue
		}
		at := b.beforeCompaction(path, id)
		if carried && at < sparse {
			return 0, false
		}
		if at >= 0 {
			pos = min(pos, at)
		}
	}
	return pos, pos >= sparse
}

// sparse returns the entries of path[:from] that omp's rules look for beyond the state: the last reset
// boundary, the newest notes behind it, and the last request.
func (b *contextBuilder) sparse(path []int, from int) (keep map[int]bool, ok bool) {
	keep = map[int]bool{}
	if b.doc.dialect != Omp {
		return keep, true
	}
	if b.reset >= 0 {
		keep[path[b.reset]] = true
	}
	for _, i := range slices.Backward(path[:from]) {
		if b.doc.tree.role(i) == "user" {
			keep[i] = true
			break
		}
	}
	i, _, _, err := b.doc.newestNotes(path[min(max(b.reset, 0), from):from])
	if i >= 0 {
		keep[i] = true
	}
	return keep, err == nil
}

// spinePath returns the path to leaf without the entries that no context depends on.
func (d *Document) spinePath(leaf int) (path []int, ok bool) {
	s, ok := d.spineAt(leaf)
	if !ok {
		return nil, false
	}
	return s.upTo(d, leaf)
}

// PathCounts returns the number of messages on the path to leaf by role, and the index of the first one of the
// user, -1 for none. The map must not be changed. The rules for concurrent use are those of [BuildContext].
func (d *Document) PathCounts(leaf Leaf) (roles map[string]int, first int) {
	at := d.tree.resolve(leaf)
	if s, ok := d.spineAt(at); ok {
		return s.roles, s.first
	}
	path, _ := d.tree.path(at)
	s := d.counted(path)
	return s.roles, s.first
}
