package session

import (
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// record is an entry's place in the index: its envelope, and where its bytes are.
type record struct {
	off    int64 // in the file
	n      int32 // bytes; maxLine fits
	ord    int32 // how many JSON values came before it in the file, the header being 0
	id     string
	parent string
	typ    Type
	role   string // of a message
	mem    []byte // the line, where it is not, or not in full, in the source
	fresh  bool   // the entry is newer than the source
}

// tree is the index of a session: every entry in file order, and by id. Payloads
// are not in it.
type tree struct {
	recs     []record
	byID     map[string]int32 // the last entry of each id
	migrated *migration       // set when the file is older than the current format
}

func (t *tree) len() int { return len(t.recs) }

func (t *tree) add(r record) {
	if t.byID == nil {
		t.byID = map[string]int32{}
	}
	t.recs = append(t.recs, r)
	if r.id != "" {
		t.byID[r.id] = int32(len(t.recs) - 1)
	}
}

// record files the envelope of v. ok is false when it has no type.
func (t *tree) record(v value) (r record, ok bool) {
	r = record{off: v.off, n: int32(len(v.raw))}
	typ, _ := rawjson.String(v.env.Type)
	r.typ = internType(typ)
	r.id, _ = rawjson.String(v.env.ID)
	r.parent, _ = rawjson.String(v.env.ParentID)
	if r.typ == TypeMessage {
		role, _ := rawjson.String(v.env.Role)
		r.role = internRole(role)
	}
	return r, r.typ != ""
}

// knownTypes lets records share the text of the types that are common.
var knownTypes = func() map[string]Type {
	m := map[string]Type{}
	for _, t := range []Type{
		TypeMessage, TypeModelChange, TypeThinkingLevel, TypeServiceTier, TypeContextChange, TypeMCPToolSelection,
		TypeCompaction, TypeBranchSummary, TypeCustom, TypeCustomMessage, TypeLabel, TypeTTSRInjection, TypeSessionInit,
		TypeModeChange, TypeSessionInfo, TypeContextEdit, TypeUsage, TypeModelUsage, TypeResetBoundary, TypeTitleChange,
		TypeCredentialPin, typeSession,
	} {
		m[string(t)] = t
	}
	return m
}()

func internType(s string) Type {
	if t, ok := knownTypes[s]; ok {
		return t
	}
	return Type(s)
}

var knownRoles = func() map[string]string {
	m := map[string]string{}
	for _, r := range []string{"user", "assistant", "toolResult", "system", "developer", "bashExecution", "pythonExecution", "custom", "fileMention"} {
		m[r] = r
	}
	return m
}()

func internRole(s string) string {
	if r, ok := knownRoles[s]; ok {
		return r
	}
	return s
}

// parentOf returns the index of i's parent, or -1 when i is a root: its parent is
// null, itself or not in the file.
func (t *tree) parentOf(i int) int {
	r := &t.recs[i]
	if r.parent == "" || r.parent == r.id {
		return -1
	}
	p, ok := t.byID[r.parent]
	if !ok {
		return -1
	}
	return int(p)
}

// path returns the indexes from the root to leaf. cycle is set when the parents
// lead in a circle; the path then begins where the circle would close.
func (t *tree) path(leaf int) (path []int, cycle bool) {
	seen := map[int]struct{}{}
	for i := leaf; i >= 0; i = t.parentOf(i) {
		if _, again := seen[i]; again {
			cycle = true
			break
		}
		seen[i] = struct{}{}
		path = append(path, i)
	}
	slices.Reverse(path)
	return path, cycle
}

// Leaf says up to which entry a context is built: [AtLast], [AtRoot] or [At].
type Leaf struct {
	id    string
	root  bool
	place int // 1 + the index of an entry that may have no id
}

// AtLast is the newest entry of the file.
func AtLast() Leaf { return Leaf{} }

// AtRoot is before the first entry: an empty context.
func AtRoot() Leaf { return Leaf{root: true} }

// At is the entry called id, or the newest entry when there is none.
func At(id string) Leaf { return Leaf{id: id} }

// atPlace is the entry at an index; -1 is [AtRoot].
func atPlace(i int) Leaf { return Leaf{root: i < 0, place: i + 1} }

// resolve returns the index a leaf stands for, or -1.
func (t *tree) resolve(l Leaf) int {
	if l.root {
		return -1
	}
	if l.place > 0 {
		return l.place - 1
	}
	if i, ok := t.byID[l.id]; ok {
		return int(i)
	}
	return t.len() - 1
}

// LeafID returns the id of the entry that leaf stands for, or "" when there is none.
func (d *Document) LeafID(leaf Leaf) string {
	if i := d.tree.resolve(leaf); i >= 0 {
		return d.tree.recs[i].id
	}
	return ""
}

// Index returns the index of the entry called id. An unknown id is kind notFound.
func (d *Document) Index(id string) (int, error) {
	i, ok := d.tree.byID[id]
	if !ok {
		return 0, entryNotFound(id)
	}
	return int(i), nil
}

func entryNotFound(id string) error {
	return fault.New(fault.NotFound, "Entry %s not found", id).With("entryId", id)
}

// PathTo returns the indexes of the entries from the root to leaf. It ends the walk
// where parents lead in a circle.
func (d *Document) PathTo(leaf Leaf) []int {
	path, _ := d.tree.path(d.tree.resolve(leaf))
	return path
}

// Parent returns the index of entry i's parent, or -1 for a root.
func (d *Document) Parent(i int) int { return d.tree.parentOf(i) }

// Labels returns the label of every entry that has one. The last label entry for a
// target counts; an empty one clears.
func (d *Document) Labels() (map[string]string, error) {
	labels := map[string]string{}
	for i, r := range d.tree.recs {
		if r.typ != TypeLabel {
			continue
		}
		e, err := d.Entry(i)
		if err != nil {
			return nil, err
		}
		if l := e.AsLabel(); l.Text == "" {
			delete(labels, l.TargetID)
		} else {
			labels[l.TargetID] = l.Text
		}
	}
	return labels, nil
}

// Ordered returns the indexes of all entries, parents before children, children of
// one parent by timestamp. Entries that share an id are one node, the last of them.
// Nodes on a circle of parents have no root above them; they follow at the end.
func (d *Document) Ordered() ([]int, error) {
	children, roots, err := d.children()
	if err != nil {
		return nil, err
	}
	order := make([]int, 0, d.Len())
	placed := make([]bool, d.Len())
	visit := func(root int) {
		// A stack, not recursion: a conversation of a hundred thousand turns is as deep.
		for stack := []int{root}; len(stack) > 0; {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if placed[i] {
				continue
			}
			placed[i] = true
			order = append(order, i)
			for _, c := range slices.Backward(children[i]) {
				stack = append(stack, c)
			}
		}
	}
	for _, r := range roots {
		visit(r)
	}
	for i := range d.tree.recs {
		if !d.shadowed(i) {
			visit(i)
		}
	}
	return order, nil
}

// shadowed reports whether a later entry has the same id.
func (d *Document) shadowed(i int) bool {
	id := d.tree.recs[i].id
	return id != "" && int(d.tree.byID[id]) != i
}

func (d *Document) children() (children map[int][]int, roots []int, err error) {
	children = map[int][]int{}
	times := make([]string, d.Len())
	for i := range d.tree.recs {
		if d.shadowed(i) {
			continue
		}
		e, err := d.Entry(i)
		if err != nil {
			return nil, nil, err
		}
		times[i] = sortableTime(e.Timestamp)
		if p := d.tree.parentOf(i); p >= 0 {
			children[p] = append(children[p], i)
		} else {
			roots = append(roots, i)
		}
	}
	for _, c := range children {
		slices.SortStableFunc(c, func(a, b int) int { return strings.Compare(times[a], times[b]) })
	}
	return children, roots, nil
}
