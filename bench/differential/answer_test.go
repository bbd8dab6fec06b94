//go:build peers

package differential

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

// answer is everything a program reports about a session file.
type answer struct {
	Header   map[string]any
	Entries  []map[string]any
	Leaf     string
	Name     string
	Context  shown
	Contexts []shown  // at further leaves
	Tree     []string // depth, id and label of each entry, parents before children
}

// shown is the context of a model.
type shown struct {
	Messages      []any
	ThinkingLevel string
	Model         model
}

// model is provider/id, "" for none.
type model string

// UnmarshalJSON reads pi's form.
func (m *model) UnmarshalJSON(b []byte) error {
	var form *struct{ Provider, ModelID string }
	if err := json.Unmarshal(b, &form); err != nil || form == nil {
		return err
	}
	*m = model(form.Provider + "/" + form.ModelID)
	return nil
}

// pis is pi's answer about a file, ours our own. leaves are ids, nil for before the
// first entry. A tree is left out where pi does not come back from one.
func (w *world) pis(file string, leaves []any, tree bool) (a answer) {
	w.t.Helper()
	require.NoError(w.t, w.pi.ask(request{Do: "look", File: file, Leaves: leaves, Tree: tree}, &a))
	return withoutOwn(a)
}

func (w *world) ours(file string, leaves []any, tree bool) answer {
	w.t.Helper()
	doc, err := w.kit.Store.Load(file)
	require.NoError(w.t, err)
	a := w.answerOf(doc, leaves, tree)
	require.NoError(w.t, doc.Close())
	return a
}

func (w *world) answerOf(doc *session.Document, leaves []any, tree bool) answer {
	w.t.Helper()
	a := answer{Leaf: doc.LeafID(session.AtLast()), Name: doc.Title().Text, Contexts: []shown{}}
	w.decode(doc.HeaderLine(), &a.Header)
	a.Entries = w.entries(doc)
	a.Context = w.contextAt(doc, session.AtLast())
	for _, id := range leaves {
		leaf := session.AtRoot()
		if id != nil {
			leaf = session.At(id.(string))
		}
		a.Contexts = append(a.Contexts, w.contextAt(doc, leaf))
	}
	if tree {
		a.Tree = w.tree(doc)
	}
	return withoutOwn(a)
}

func (w *world) entries(doc *session.Document) []map[string]any {
	w.t.Helper()
	entries := []map[string]any{}
	for i := range doc.Len() {
		e, err := doc.Entry(i)
		require.NoError(w.t, err)
		var entry map[string]any
		w.decode(e.Raw, &entry)
		entries = append(entries, entry)
	}
	return entries
}

func (w *world) contextAt(doc *session.Document, leaf session.Leaf) shown {
	w.t.Helper()
	c, _, err := session.BuildContext(doc, leaf, nil)
	require.NoError(w.t, err)
	require.Len(w.t, c.EntryIDs, len(c.Messages))
	return w.shown(c)
}

func (w *world) shown(c session.Context) shown {
	w.t.Helper()
	s := shown{ThinkingLevel: c.ThinkingLevel, Model: model(c.Models["default"])}
	b, err := json.Marshal(c.Messages)
	require.NoError(w.t, err)
	w.decode(b, &s.Messages)
	return s
}

func (w *world) tree(doc *session.Document) []string {
	w.t.Helper()
	order, err := paging.Ordered(doc)
	require.NoError(w.t, err)
	labels, err := doc.Labels()
	require.NoError(w.t, err)
	depth, lines, parents := map[int]int{-1: -1}, []string{}, doc.ShownParents()
	for _, i := range order {
		depth[i] = depth[parents[i]] + 1
		lines = append(lines, fmt.Sprintf("%d %s %s", depth[i], doc.ID(i), labels[doc.ID(i)]))
	}
	return lines
}

func (w *world) decode(b []byte, into any) {
	w.t.Helper()
	require.NoError(w.t, json.Unmarshal(b, into), "%s", b)
}

// requireSame requires that both programs return the same about a file, and that reading only the
// end of the file gives no other result. xcsh-ls reads first, because pi ends a last line without
// newline even when it only reads.
func (w *world) requireSame(file string, leaves []any) answer {
	w.t.Helper()
	doc, err := w.kit.Store.Load(file)
	require.NoError(w.t, err)
	tree := w.safeTree(doc)
	require.NoError(w.t, doc.Close())
	got := w.ours(file, leaves, tree)
	dialect := session.Pi
	tail, ok, err := session.LoadTail(w.kit.Finder.Fs, file, &dialect, nil)
	require.NoError(w.t, err)

	want := w.pis(file, leaves, tree)
	require.Equal(w.t, want, got)
	if ok {
		w.tails++
		require.Equal(w.t, want.Leaf, tail.LeafID)
		require.Equal(w.t, want.Context, w.shown(tail.Context))
	}
	w.requireSameRow(file)
	return want
}

// withoutOwn returns what xcsh-ls shows of an answer: its tree and its leaf without the entries that
// xcsh-ls adds for its own use, which are custom entries here. Their children move up. Where they come
// among their new siblings is not compared: pi knows only the time of the entry that is left out.
func withoutOwn(a answer) answer {
	parents, own := map[any]any{}, map[any]bool{}
	for _, e := range a.Entries {
		kind, _ := e["customType"].(string)
		parents[e["id"]], own[e["id"]] = e["parentId"], strings.HasPrefix(kind, "xcsh-ls.")
	}
	for own[a.Leaf] {
		a.Leaf, _ = parents[a.Leaf].(string)
	}
	if a.Tree == nil {
		return a
	}
	root, lines := branch{}, a.Tree
	root.grow(&lines, 0)
	a.Tree = root.shown(0, func(id string) bool { return own[id] }, func(id string) bool { return own[parents[id]] }, []string{})
	return a
}

// branch is an entry of a tree, its id and label, with what follows it.
type branch struct {
	entry    string
	children []branch
}

func (b branch) id() string {
	id, _, _ := strings.Cut(b.entry, " ")
	return id
}

// grow takes the lines of the children of b, which are at a level, off the front of lines.
func (b *branch) grow(lines *[]string, level int) {
	for len(*lines) > 0 {
		depth, entry, _ := strings.Cut((*lines)[0], " ")
		if depth != strconv.Itoa(level) {
			return
		}
		*lines = (*lines)[1:]
		child := branch{entry: entry}
		child.grow(lines, level+1)
		b.children = append(b.children, child)
	}
}

// without returns the children of b, in place of each own one its children.
func (b branch) without(own func(id string) bool) []branch {
	var children []branch
	for _, c := range b.children {
		if own(c.id()) {
			children = append(children, c.without(own)...)
		} else {
			children = append(children, c)
		}
	}
	return children
}

// shown adds the lines of the children of b, sorted by id where one moved up.
func (b branch) shown(level int, own, moved func(id string) bool, lines []string) []string {
	children := b.without(own)
	if slices.ContainsFunc(children, func(c branch) bool { return moved(c.id()) }) {
		slices.SortFunc(children, func(a, b branch) int { return strings.Compare(a.entry, b.entry) })
	}
	for _, c := range children {
		lines = c.shown(level+1, own, moved, append(lines, fmt.Sprintf("%d %s", level, c.entry)))
	}
	return lines
}

// safeTree reports that pi can build the tree of a file: with two entries of one id it
// may never be done.
func (w *world) safeTree(doc *session.Document) bool {
	return !slices.ContainsFunc(doc.Problems(), func(p session.Problem) bool { return p.Kind == session.DuplicateID })
}

// requireSameRow requires the same row in a list, but for the time of the last change,
// which is that of the newest message in pi and that of the file here. pi's list, but
// not pi itself, takes a line separator in a text for the end of the line.
func (w *world) requireSameRow(file string) {
	w.t.Helper()
	if strings.Contains(string(w.read(file)), lineSeparator) {
		return
	}
	got, err := w.kit.Finder.Describe(file)
	require.NoError(w.t, err)
	var rows []struct {
		Path, ID, Cwd, Name, ParentSessionPath string
		Created, FirstMessage, AllMessagesText string
		MessageCount                           int
	}
	require.NoError(w.t, w.pi.ask(request{Do: "list", Dir: w.dir}, &rows))
	for _, row := range rows {
		if row.Path != file {
			continue
		}
		require.Equal(w.t, []any{row.ID, row.Cwd, row.ParentSessionPath, row.Created, row.MessageCount}, []any{got.ID, got.Cwd, got.ParentSession, got.Created, got.MessageCount})
		require.Equal(w.t, row.Name, got.Title)
		require.Equal(w.t, row.FirstMessage, got.FirstMessage)
		require.Equal(w.t, row.AllMessagesText, got.AllText)
		w.rows++
		return
	}
	require.True(w.t, w.unlisted(file), "pi does not list %s", file)
}

// unlisted reports whether pi leaves a session out of its list that it can open: one with a user or
// assistant message whose content is null.
func (w *world) unlisted(file string) bool {
	w.t.Helper()
	for _, e := range w.ours(file, nil, false).Entries {
		m, _ := e["message"].(object)
		if content, ok := m["content"]; ok && content == nil && (m["role"] == "user" || m["role"] == "assistant") {
			return true
		}
	}
	return false
}
