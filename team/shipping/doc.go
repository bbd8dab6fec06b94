// Package shipping prepares a session file for a store outside of this machine, and back.
//
// A file is a head, which is small and may change, and a body, to which lines are only appended. [ReadHead] divides them and
// [Lines] reads whole lines of the body. [Outgoing] makes of each line what leaves the machine, and keeps two
// running checksums: of the file, and of the lines that left. [State] is a file that keeps both from one process to
// the next. It may be lost or damaged: then [CatchUp] reads the file again.
//
// The package knows no store and sends nothing.
package shipping
