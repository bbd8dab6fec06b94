// Package procgroup runs programs so that they can be ended together with the processes that they start. It knows
// nothing of sessions and imports the standard library and golang.org/x/sys only.
//
// [Own], [Terminate] and [Kill] act on a process group, [Leash] on all descendants of a program, also when this
// process is killed, and [Family] on all processes of a program that outlives many requests.
//
// On Windows only a Family is complete, as a job object. Otherwise only the program itself can be ended: its child
// processes continue, without their output.
package procgroup
