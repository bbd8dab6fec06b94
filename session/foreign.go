package session

import (
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/foreign"
)

// follow moves the leaf to the newest of the entries from index from on that descends from
// it. A new entry of a conversation that does not is the end of another program's branch.
//
// Differs: the programs do not read the entries of others while they have a session open, and
// take the last entry of the file as the leaf when they open it again.
func (l *Log) follow(from int, isNew func(i int) bool) {
	switch {
	case l.lent != nil:
		l.followLent(from, isNew)
	case !l.chosen && l.holds == 0:
		// A hidden entry is no step of the conversation: another program need not have read it.
		base := l.leaf
		if shown := l.doc.shown(l.leaf); shown >= 0 {
			base = shown
		}
		if i, ok := l.doc.tree.newestBelow(base, from); ok {
			l.leaf = i
		}
	}
	ours := l.doc.tree.above(l.leaf, from)
	for i := l.doc.Len() - 1; i >= from; i-- {
		if !ours[i-from] && isNew(i) && l.doc.tree.id(i) != "" && talks(l.doc.tree.typ(i)) {
			l.foreign = l.doc.tree.id(i)
			break
		}
	}
	l.forgetFollowed()
}

// followLent is follow for the leaf of the program that a session is lent to: it moves to the newest of the new entries
// below it. The first one that the program appends is followed wherever it is; see [Lent.Leaf].
func (l *Log) followLent(from int, isNew func(i int) bool) {
	t, newest := &l.doc.tree, -1
	below := make([]bool, t.len()-from)
	for i := from; i < t.len(); i++ {
		parent := t.parentOf(i)
		if below[i-from] = isNew(i) && (parent == l.leaf || parent >= from && below[parent-from]); below[i-from] {
			newest = i
		}
	}
	for i := t.len() - 1; i >= from && newest < 0 && !l.lent.placed; i-- {
		if isNew(i) {
			newest = i
		}
	}
	if newest >= 0 {
		l.leaf, l.chosen, l.lent.placed = newest, false, true
	}
}

// talks reports whether entries of a type belong to the conversation. A program that
// records a title, a label or a setting has not continued it.
func talks(t Type) bool {
	switch t {
	case TypeMessage, TypeCustomMessage, TypeCompaction, TypeBranchSummary:
		return true
	}
	return false
}

// above marks, of the entries from index from on, entry i and its ancestors up to the first
// one before from.
func (t *tree) above(i, from int) []bool {
	marks := make([]bool, t.len()-from)
	for ; i >= from && !marks[i-from]; i = t.parentOf(i) {
		marks[i-from] = true
	}
	return marks
}

// forgetFollowed forgets the other program's branch if the leaf is at or below its end, or
// if the file has lost it.
func (l *Log) forgetFollowed() {
	if l.foreign == "" {
		return
	}
	end, ok := l.doc.tree.find(l.foreign)
	if !ok || l.doc.tree.above(l.leaf, 0)[end] {
		l.foreign = ""
	}
}

// ForeignBranch describes the branch on which another program continued while the leaf
// stayed where it was. ok is false if there is none, or if the leaf has moved there since.
func (l *Log) ForeignBranch() (b foreign.Branch, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end, ok := l.doc.tree.find(l.foreign)
	if l.foreign == "" || !ok {
		return b, false
	}
	// Settings below it belong to the branch: the other program continues below those.
	if i, ok := l.doc.tree.newestBelow(end, end+1); ok && l.doc.tree.id(i) != "" {
		end = i
	}
	branch := l.doc.tree.apart(end, l.leaf)
	b = foreign.Branch{End: l.doc.tree.id(end), Entries: len(branch), Program: l.writerOf(branch)}
	for _, i := range branch {
		if id := l.doc.tree.id(i); id != "" {
			b.Start = id
		}
		if b.Prompt == "" && l.doc.tree.role(i) == "user" {
			b.Prompt = l.doc.firstLine(i)
		}
	}
	return b, true
}

// apart returns entry i and those of its ancestors that are neither leaf nor above it, in
// this order.
func (t *tree) apart(i, leaf int) (branch []int) {
	seen := t.above(leaf, 0)
	for ; i >= 0 && !seen[i]; i = t.parentOf(i) {
		seen[i] = true
		branch = append(branch, i)
	}
	return branch
}

// firstLine returns the beginning of a message's text, without control characters.
func (d *Document) firstLine(i int) string {
	e, err := d.Brief(i)
	if err != nil {
		return ""
	}
	text := strings.TrimLeft(MessageBeginning(e.Message(), 4*foreign.MaxPrompt), "\r\n\t ")
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		text = text[:end]
	}
	return rawjson.UTF16Prefix(CleanTitle(text), foreign.MaxPrompt)
}

// writerOf returns the program that wrote a branch, "" if that is unknown: the one whose
// marks the entries have, else the one that owns the directory.
func (l *Log) writerOf(branch []int) string {
	if l.lock == nil {
		if o, ok := l.store.Owners()[l.path]; ok && !o.Ours {
			return "" // another server, which writes the form of any program
		}
	}
	var marks DialectMarks
	for _, i := range slices.Backward(branch) {
		if talks(l.doc.tree.typ(i)) {
			continue // large, and without marks
		}
		if e, err := l.doc.Entry(i); err == nil {
			marks.See(e.Type, e.Raw)
		}
	}
	d := l.form()
	switch {
	case marks.omp:
		d = Omp
	case marks.pi:
		d = Pi
	}
	if d == Xcsh {
		return ""
	}
	return d.String()
}
