package session

// Check returns everything that is wrong with the session: what reading found, what
// the tree looks like as a whole, and what the context of leaf must do without. The
// error is that of reading a large file.
func (d *Document) Check(leaf Leaf, blobs BlobSource) ([]Problem, error) {
	problems := append([]Problem{}, d.problems...)
	cycles := d.cycles()
	seen := map[ProblemKind]map[string]bool{OrphanEntry: {}, ParentCycle: {}}
	for i, r := range d.tree.recs {
		if r.parent == "" || r.parent == r.id {
			continue
		}
		if _, ok := d.tree.byID[r.parent]; !ok {
			seen[OrphanEntry][r.id] = true
			p := problemAt(OrphanEntry, 0, false, "The parent of entry %s is not in the file; it stands as another beginning.", r.id)
			p.EntryID = r.id
			problems = append(problems, p)
			continue
		}
		if cycles[i] {
			seen[ParentCycle][r.id] = true
			p := problemAt(ParentCycle, 0, false, "The parents of entry %s lead back to it.", r.id)
			p.EntryID = r.id
			problems = append(problems, p)
		}
	}
	_, contextProblems, err := BuildContext(d, leaf, blobs)
	for _, p := range contextProblems {
		if !seen[p.Kind][p.EntryID] {
			problems = append(problems, p)
			continue
		}
		// The same finding, but here it costs the conversation what is above it.
		for i := range problems {
			if problems[i].Kind == p.Kind && problems[i].EntryID == p.EntryID {
				problems[i] = p
			}
		}
	}
	return problems, err
}

// cycles returns the entries that lie on a circle of parents. Every entry is walked
// once, whatever the shape.
func (d *Document) cycles() map[int]bool {
	onCycle := map[int]bool{}
	walk := make([]int32, d.Len()) // which walk met the entry first; 0: none yet
	for i := range d.Len() {
		id := int32(i + 1)
		j := i
		for j >= 0 && walk[j] == 0 {
			walk[j] = id
			j = d.tree.parentOf(j)
		}
		if j < 0 || walk[j] != id {
			continue // a root, or a chain that was walked before
		}
		for ; !onCycle[j]; j = d.tree.parentOf(j) {
			onCycle[j] = true
		}
	}
	return onCycle
}
