package change

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// Book holds all records and reviews of a session, in file order. One goroutine fills it; after that it is read-only.
type Book struct {
	Records []*Record
	Reviews []*Review

	byID   map[string]*Record
	byPath map[string][]*Record // in file order
	taken  map[place]string     // the rewind that made the record inactive at the path; a rewind has its own id
	void   map[string]bool
	pairs  map[string]pair
}

// place is a record at an absolute path.
type place struct{ id, path string }

// pair is the newest review of a path.
type pair struct {
	kept    Kept
	seq     int
	dropped string // the rewind that undid the kept changes, "" if there is none
}

// NewBook returns an empty book.
func NewBook() *Book {
	return &Book{byID: map[string]*Record{}, byPath: map[string][]*Record{}, taken: map[place]string{}, void: map[string]bool{}, pairs: map[string]pair{}}
}

// Add adds a record. Its Seq is greater than that of every earlier record.
func (b *Book) Add(r *Record) {
	if r.Unreadable {
		b.Records = append(b.Records, r)
		b.byID[r.ID] = r
		return
	}
	if r.Void != "" {
		b.void[r.Void] = true
		return
	}
	r.index()
	for i, p := range r.paths {
		if p != "" && r.at[p] == i {
			b.byPath[p] = append(b.byPath[p], r)
		}
	}
	b.Records = append(b.Records, r)
	b.byID[r.ID] = r
	switch {
	case r.Redoes != "":
		b.redo(r)
	case len(r.Undoes) > 0 && len(r.Hunks) == 0:
		b.undo(r)
	}
}

// undo makes r and the records that it undid inactive: they cancel each other out.
func (b *Book) undo(r *Record) {
	for _, id := range r.Undoes {
		u := b.byID[id]
		if u == nil {
			continue
		}
		for _, p := range u.Paths() {
			at := place{id, p}
			if p == "" || r.excepts(p) || b.taken[at] != "" {
				continue
			}
			b.taken[at] = r.ID
			b.taken[place{r.ID, p}] = r.ID
			if k, ok := b.pairs[p]; ok && u.Seq < k.seq && k.dropped == "" {
				k.dropped = r.ID
				b.pairs[p] = k
			}
		}
	}
	for _, p := range r.Paths() {
		if p != "" {
			b.taken[place{r.ID, p}] = r.ID
		}
	}
}

// redo reactivates the records that the rewind made inactive.
func (b *Book) redo(r *Record) {
	for _, p := range r.Paths() {
		if p != "" {
			b.taken[place{r.ID, p}] = r.ID
		}
	}
	rewind := b.byID[r.Redoes]
	if rewind == nil {
		return
	}
	for at, by := range b.taken {
		if by == rewind.ID && at.id != rewind.ID && !r.excepts(at.path) {
			delete(b.taken, at)
		}
	}
	for _, p := range rewind.Paths() {
		if p == "" || r.excepts(p) {
			continue
		}
		b.taken[place{rewind.ID, p}] = r.ID
		if k := b.pairs[p]; k.dropped == rewind.ID {
			k.dropped = ""
			b.pairs[p] = k
		}
	}
}

// With returns a book that also has more records, each at its place in the file. They are sorted by it. The book itself stays as it is.
func (b *Book) With(more []*Record) *Book {
	all := NewBook()
	all.void = maps.Clone(b.void)
	records := slices.Concat(b.Records, more)
	slices.SortStableFunc(records, func(x, y *Record) int { return cmp.Compare(x.Seq, y.Seq) })
	reviews := b.Reviews
	for _, r := range records {
		for len(reviews) > 0 && reviews[0].Seq < r.Seq {
			all.AddReview(reviews[0])
			reviews = reviews[1:]
		}
		own := *r // adding a record works out its paths, and others may be reading those of b
		all.Add(&own)
	}
	for _, r := range reviews {
		all.AddReview(r)
	}
	return all
}

// AddReview adds a review.
func (b *Book) AddReview(r *Review) {
	b.Reviews = append(b.Reviews, r)
	for _, k := range r.Kept {
		if p := AbsolutePath(r.Root, k.Path); p != "" {
			b.pairs[p] = pair{kept: k, seq: r.Seq}
		}
	}
}

// ParseReview decodes the data of a review. It returns nil for a review of a newer version.
func ParseReview(data json.RawMessage) (*Review, error) {
	var r Review
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	if r.V > Version {
		return nil, nil
	}
	return &r, nil
}

// Record returns the record with an id, nil if there is none or its change did not happen.
func (b *Book) Record(id string) *Record {
	if b.void[id] {
		return nil
	}
	return b.byID[id]
}

// Active reports whether a record is active at an absolute path: its change happened, and no rewind has undone it there.
func (b *Book) Active(r *Record, abs string) bool {
	return !r.Unreadable && !b.void[r.ID] && b.taken[place{r.ID, abs}] == ""
}

// Step is one active change of a path.
type Step struct {
	Record *Record // nil for the changes that the user kept
	Change Change
}

// ActivePaths returns the paths at which a record is active, in the order of its changes.
func (b *Book) ActivePaths(r *Record) (paths []string) {
	for _, p := range r.Paths() {
		if p != "" && b.Active(r, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// Chain returns the active changes of a path for which keep is true, oldest first. A nil keep selects all.
func (b *Book) Chain(abs string, keep func(*Record) bool) (steps []Step) {
	for _, r := range b.byPath[abs] {
		if keep != nil && !keep(r) || !b.Active(r, abs) {
			continue
		}
		if c, ok := r.Change(abs); ok {
			steps = append(steps, Step{Record: r, Change: c})
		}
	}
	return steps
}

// Pending returns the changes of a path that the user has not reviewed: the last review, then the active changes after it.
func (b *Book) Pending(abs string) (steps []Step) {
	k, ok := b.pairs[abs]
	if !ok {
		return b.Chain(abs, nil)
	}
	if k.dropped == "" {
		after := k.kept.After
		steps = append(steps, Step{Change: Change{Path: k.kept.Path, Before: k.kept.Before, After: &after}})
	}
	return append(steps, b.Chain(abs, func(r *Record) bool { return r.Seq > k.seq })...)
}

// AllPaths returns the absolute paths with an active record for which keep is true, sorted.
func (b *Book) AllPaths(keep func(*Record) bool) (paths []string) {
	seen := map[string]bool{}
	for _, r := range b.Records {
		if keep != nil && !keep(r) {
			continue
		}
		for _, p := range b.ActivePaths(r) {
			if !seen[p] {
				seen[p] = true
				paths = append(paths, p)
			}
		}
	}
	slices.Sort(paths)
	return paths
}

// Rewinds returns the rewinds, newest first. redoable reports whether a rewind still has an effect that a redo would undo.
func (b *Book) Rewinds() (rewinds []*Record, redoable func(*Record) bool) {
	for _, r := range slices.Backward(b.Records) {
		if r.IsRewind() && r.Redoes == "" && !b.void[r.ID] {
			rewinds = append(rewinds, r)
		}
	}
	return rewinds, func(r *Record) bool {
		if r.Unreadable {
			return false
		}
		return slices.ContainsFunc(r.Paths(), func(p string) bool { return p != "" && b.Redoable(r, p) })
	}
}

// Redoable reports whether a rewind still has an effect at an absolute path that a redo would undo.
func (b *Book) Redoable(r *Record, abs string) bool {
	by := b.taken[place{r.ID, abs}]
	return by == "" || by == r.ID
}
