package paging

import (
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// kin holds the children of every entry of a tree, grouped by parent.
type kin struct {
	doc  *session.Document
	ends []int32 // [p+1]: where the children of p end in list; -1, the parent of roots, has the first
	list []int32
	done map[int32]bool // the parents whose children are sorted
}

func kinOf(d *session.Document, parents []int32) kin {
	k := kin{doc: d, ends: make([]int32, len(parents)+2), done: map[int32]bool{}}
	// Counted one index further, the sums are where each group begins; filling moves that to where it ends.
	for _, p := range parents {
		if p != session.NotInTree {
			k.ends[p+2]++
		}
	}
	for i := range len(parents) + 1 {
		k.ends[i+1] += k.ends[i]
	}
	k.list = make([]int32, k.ends[len(parents)+1])
	for i, p := range parents {
		if p != session.NotInTree {
			k.list[k.ends[p+1]] = int32(i)
			k.ends[p+1]++
		}
	}
	return k
}

// number returns how many children an entry has; -1 has the roots.
func (k *kin) number(parent int32) int { return len(k.of(parent)) }

// of returns the children of an entry, in any order.
func (k *kin) of(parent int32) []int32 {
	from := int32(0)
	if parent >= 0 {
		from = k.ends[parent]
	}
	return k.list[from:k.ends[parent+1]]
}

// sorted returns the children of an entry by time. It reads the times only of those that have siblings.
func (k *kin) sorted(parent int32) ([]int32, error) {
	children := k.of(parent)
	if len(children) < 2 || k.done[parent] {
		return children, nil
	}
	times := make(map[int32]string, len(children))
	for _, i := range children {
		e, err := k.doc.Entry(int(i))
		if err != nil {
			return nil, err
		}
		times[i] = sortable(e.Timestamp)
	}
	slices.SortStableFunc(children, func(a, b int32) int { return strings.Compare(times[a], times[b]) })
	k.done[parent] = true
	return children, nil
}

// sortable converts a timestamp to a form that sorts as text, or to "" if it cannot be parsed.
func sortable(s string) string {
	if t, ok := session.ParseTime(s); ok {
		return t.UTC().Format("2006-01-02T15:04:05.000000000Z")
	}
	return ""
}
