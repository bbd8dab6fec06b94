// Package procgroup runs programs so that they can be ended together with what they
// started. It knows nothing of sessions and imports the standard library only.
//
// On Windows only the program itself can be ended: what it started goes on, without its
// output. There are no process groups there, and a job object would have to be made before
// the process runs.
package procgroup
