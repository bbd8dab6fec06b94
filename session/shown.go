package session

// Hidden reports whether entry i is one that this program added for its own use, such as the
// start of a tool call. Such an entry is part of the file and of the chain of parents, and can
// be named in commands; it is not shown. Its children are shown as those of the nearest entry
// above it that is not hidden; see [Document.ShownParents].
func (d *Document) Hidden(i int) bool { return d.tree.hidden(i) }

// ShownParents returns, for every entry, the index of the nearest entry above it that is not
// hidden, or -1.
func (d *Document) ShownParents() []int { return d.tree.shownParents() }

func (t *tree) shownParents() []int {
	const unknown, visiting = -2, -3
	parents := make([]int, t.len())
	for i := range parents {
		parents[i] = unknown
	}
	var chain []int // an entry and the hidden ones above it, which share the result
	for i := range parents {
		chain = chain[:0]
		above := i
		for parents[above] == unknown {
			parents[above] = visiting
			chain = append(chain, above)
			p := t.parentOf(above)
			if p < 0 || !t.hidden(p) {
				above = p
				break
			}
			above = p
		}
		if len(chain) == 0 {
			continue
		}
		if above >= 0 && t.hidden(above) {
			above = max(parents[above], -1) // known, or -1 on a cycle of hidden entries
		}
		for _, j := range chain {
			parents[j] = above
		}
	}
	return parents
}

// shown returns the nearest entry at or above i that is not hidden, or -1.
func (d *Document) shown(i int) int {
	for n := 0; i >= 0 && d.tree.hidden(i); n++ {
		if n > d.Len() {
			return -1 // a cycle of hidden entries
		}
		i = d.tree.parentOf(i)
	}
	return i
}
