// Package rewind changes several files and open documents at once: either all of them, or none.
//
// A rewind is carried out in three steps. First, the new contents are staged next to their targets. Then, renaming the journal in the
// session's directory commits the rewind. Last, documents and files are swapped, and the record of the rewind is appended to the
// session. If the process dies, [Runner.Recover] uses the journal to complete or undo the rewind:
//
//	rewind.json         the plan; nothing was swapped. Recovery removes the staged files.
//	rewind.commit.json  committed. Recovery completes the rewind, or undoes it if a path is neither old nor new.
//	rewind.back.json    the rewind failed. Recovery continues to undo it.
//
// A journal is only used if the agent directory has a pointer with its checksum, because a session in an untrusted folder may come
// with a forged journal.
//
// Links are never followed. A rewind of a path below a directory that became a link fails.
package rewind
