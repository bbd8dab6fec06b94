// Package procgroup runs programs so that they can be ended together with their child processes. It
// knows nothing of sessions and imports the standard library only.
//
// On Windows only the program itself can be ended: its child processes continue, without their
// output. There are no process groups there, and a job object would have to be made before the
// process runs.
package procgroup
