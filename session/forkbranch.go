package session

import (
	"io"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// writeBranch writes the path of a partial fork under header: it removes the label entries
// and the copies of the header's title, which the fork does not have, connects their
// neighbours, and labels the remaining entries again.
//
// Differs: xcsh leaves the children of a removed label without a parent, which cuts off
// everything above them, and a compaction that keeps from a label keeps nothing.
func (s *Store) writeBranch(w io.Writer, d *Document, header []byte, into forkInto, disk func([]byte) []byte) error {
	if err := writeLine(w, header); err != nil {
		return err
	}
	instead := d.afterRemoved(into.path)
	parent, cut := "", false
	err := d.eachOnDisk(into.path, disk, func(i int, line []byte) error {
		typ := d.tree.typ(i)
		if d.removed(i) {
			cut = true
			return nil
		}
		if cut {
			line, cut = withParent(line, parent), false
		}
		if typ == TypeCompaction {
			line = redirect(line, instead)
		}
		parent = d.tree.id(i)
		return writeLine(w, into.withImages(line))
	})
	if err != nil {
		return err
	}
	return s.writeLabels(w, d, into.path, parent)
}

// withImages returns a line with those images inlined that the copy would not find.
func (into *forkInto) withImages(line []byte) []byte {
	if into.blobs == nil {
		return line
	}
	return resolveBlobs(line, into.blobs, 0, func(string, error) {})
}

// writeLabels writes the labels of the entries on the path as a chain below parent.
func (s *Store) writeLabels(w io.Writer, d *Document, path []int, parent string) error {
	labels, err := d.Labels()
	if err != nil || len(labels) == 0 {
		return err
	}
	ids := map[string]bool{}
	for _, i := range path {
		if !d.removed(i) {
			ids[d.tree.id(i)] = true
		}
	}
	for _, i := range path {
		target := d.tree.id(i)
		text := labels[target]
		if text == "" || !ids[target] {
			continue
		}
		id := s.ids.entry(func(id string) bool { return ids[id] })
		ids[id] = true
		if err := writeLine(w, draftLabel(target, text).Line(id, parent, FormatTime(s.Now()))); err != nil {
			return err
		}
		parent = id
	}
	return nil
}

func withParent(line []byte, parent string) []byte {
	if parent == "" {
		return rawjson.Set(line, "parentId", []byte("null"))
	}
	return rawjson.SetString(line, "parentId", parent)
}

// removed reports whether entry i is not part of a partial fork.
func (d *Document) removed(i int) bool {
	typ := d.tree.typ(i)
	return typ == TypeLabel || typ == TypeSessionInfo && d.tree.hidden(i)
}

// forkPath returns the entries from the root to end, or nil if none of them would be part of
// a fork. end is -1 for before the first entry.
func (d *Document) forkPath(end int) []int {
	path := d.PathTo(atPlace(end))
	if !slices.ContainsFunc(path, func(i int) bool { return !d.removed(i) }) {
		return nil
	}
	return path
}

// afterRemoved maps each removed entry of the path to the entry that replaces it: the next
// one that stays.
func (d *Document) afterRemoved(path []int) map[string]string {
	instead := map[string]string{}
	next := ""
	for _, i := range slices.Backward(path) {
		if !d.removed(i) {
			next = d.tree.id(i)
		} else if next != "" {
			instead[d.tree.id(i)] = next
		}
	}
	return instead
}

// redirect makes a compaction keep from the entry that replaces a label.
func redirect(line []byte, instead map[string]string) []byte {
	for _, key := range []string{"firstKeptEntryId", "providerReplayThroughEntryId"} {
		id, _ := rawjson.GetString(line, key)
		if to := instead[id]; to != "" {
			line = rawjson.SetString(line, key, to)
		}
	}
	return line
}
