package session

// Check returns everything that is wrong with the session: what reading found, what
// the tree looks like as a whole, and what the context of leaf must do without. The
// error is that of reading a large file.
func (d *Document) Check(leaf Leaf, blobs BlobSource) ([]Problem, error) {
	problems := append([]Problem{}, d.problems...)
	cycles := d.cycles()
	seen := map[ProblemKind]map[string]bool{OrphanEntry: {}, ParentCycle: {}}
	for i := range d.Len() {
		if d.tree.orphan(i) {
			id := d.tree.id(i)
			seen[OrphanEntry][id] = true
			p := problemAt(OrphanEntry, 0, false, "The parent of entry %s is not in the file; it stands as another beginning.", id)
			p.EntryID = id
			problems = append(problems, p)
			continue
		}
		if cycles[i] {
			id := d.tree.id(i)
			seen[ParentCycle][id] = true
			p := problemAt(ParentCycle, 0, false, "The parents of entry %s lead back to it.", id)
			p.EntryID = id
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

// cycles returns the entries that lie on a circle of parents, be it of one entry. Every
// entry is walked once, whatever the shape.
func (d *Document) cycles() map[int]bool {
	onCycle := map[int]bool{}
	walk := make([]int32, d.Len()) // which walk met the entry first; 0: none yet
	for i := range d.Len() {
		if d.tree.slots.at(i).ownParent() && !d.tree.shadowed(i) {
			onCycle[i] = true // a root to us, and for pi the way to nowhere
		}
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
