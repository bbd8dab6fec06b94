package session

// Check returns all problems of the session: those found while reading, those of the tree
// as a whole, and those of the context of leaf. It fails only if a large file cannot be
// read.
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
		// The same problem, but here the conversation loses the entries above it.
		for i := range problems {
			if problems[i].Kind == p.Kind && problems[i].EntryID == p.EntryID {
				problems[i] = p
			}
		}
	}
	return problems, err
}

// cycles returns the entries on a cycle of parents, including an entry that is its own
// parent. It visits every entry once, whatever the shape.
func (d *Document) cycles() map[int]bool {
	onCycle := map[int]bool{}
	walk := make([]int32, d.Len()) // the walk that reached the entry first; 0: none yet
	for i := range d.Len() {
		if d.tree.slots.at(i).ownParent() && !d.tree.shadowed(i) {
			onCycle[i] = true // a root here, but a dead end in pi
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
