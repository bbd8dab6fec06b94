// Package procgroup runs programs so that they can be ended together with the processes that they start. It knows
// nothing of sessions and imports the standard library and golang.org/x/sys only.
//
// A [Group] is for a program that ends soon, a [Family] for one that outlives many requests, and [Leash] ends all
// descendants of a program, also when this process is killed.
//
// On Unix a group is a process group, and the end of this process ends neither a group nor a family: their programs
// see the end of their input. On Windows both are job objects. Their processes can't leave them, and end with this
// process, however it ends; so there is no leash.
package procgroup
