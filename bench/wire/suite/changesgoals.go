package suite

// changeGoals are those of recording, reviewing and rewinding changes of files.
func (r *Runner) changeGoals() (all []goal) {
	n := r.changes
	add := func(g ...goal) { all = append(all, g...) }
	for _, s := range n.editStores() {
		write := r.of(writeSynced, s)
		add(
			ratio("capture of an edit of "+s+" alone, against writing the file durably", r.of(captureAlone, s), write).most(4),
			ratio("capture of an edit of "+s+" over the wire, against writing the file durably", r.time(capturing, Live, s), write).most(4),
			r.further("capture of an edit of "+s+": further memory", editCost(captureAll), editCost(captureOff), s).most(40),
		)
	}
	tree := n.treeStore()
	for _, t := range []Temperature{Cold, Warm} {
		add(ratio("two looks around a command, "+string(t)+", "+tree+", against git status -uall", r.time(looking, t, tree), r.of(gitStatus, tree)).most(4))
	}
	add(r.further("two looks around a command, "+tree+": further memory", nothingDone+captureAll, nothingDone+captureOff, tree).most(40))
	s := n.rewindStore()
	write := r.of(writeAll, s)
	add(
		ratio("changes of "+s+", against writing the files durably", r.time(changesAgain, Live, s), write).most(1),
		ratio("plan of a rewind of "+s+", against writing the files durably", r.time(rewindPlan, Live, s), write).most(1),
		ratio("rewind of "+s+", against writing the files durably", r.time(rewindDone, Live, s), write).most(4),
		r.memory("rewind of "+s+": memory", rewindDone, Live, s).most(60),
	)
	other, records := n.longStores()[0], n.longStores()[1]
	for _, c := range []struct {
		command string
		t       Temperature
	}{{"resume", Cold}, {"resume", Warm}, {"state", Live}, {"messages, newest 100", Live}, {"prompt, each of 10", Live}} {
		add(ratio(c.command+" ("+string(c.t)+") of a session with "+records+", against one with "+other, r.time(c.command, c.t, records), r.time(c.command, c.t, other)).most(1.3))
	}
	return all
}

// further compares the peak memory of two commands of a store.
func (r *Runner) further(what, more, less, store string) goal {
	for _, t := range []Temperature{Live, Warm} {
		a, b := r.result(key{more, t, r.Programs[0].Name}, store), r.result(key{less, t, r.Programs[0].Name}, store)
		if a != nil && b != nil && a.peak() > 0 && b.peak() > 0 {
			return goal{what: what, value: max(0, float64(a.peak()-b.peak())/1e6), unit: " MB", ok: true}
		}
	}
	return goal{}
}
