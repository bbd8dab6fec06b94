package commands

// Default is THE list of commands, in the order in which they are shown.
var Default = NewTable(
	newSession,
	resume,
	continueSession,
	fork,
	export,
	dump,
	list,
	recent,
	resolve,
	state,
	contextOf,
	entries,
	tree,
	branch,
	label,
	rename,
	deleteSession,
	undelete,
	move,
	doctor,
)
