// Package script makes hooks of a user's executables: every executable in a folder is run for each event. Call [New],
// and pass the result to a [hook.Runner].
//
// # Input of an executable
//
// The [hook.Event] as one line of JSON on its standard input, its type in the variable XCSH_HOOK_EVENT, the workspace
// folder as its working directory, or the folder of hooks if the workspace folder no longer exists, and otherwise the
// environment of this process. It has a process group of its own and no terminal.
//
// # Answers
//
// To cancel a change, an executable that runs before it prints {"cancel": true, "reason": "..."} to its standard
// output; no output, or {}, is consent. Executables run one after the other, in the order of their names, and the first
// one that cancels decides. The output of an executable that runs after a change is ignored.
//
// An executable that fails, takes too long or prints anything else is reported, and never cancels: a mistake in a
// script must not lock users out of their sessions.
//
// # Order and time
//
// A hook before a change blocks that change, so each executable has a timeout of five seconds. Notifications after a
// change wait in one queue for each workspace folder and block nothing: executables run one after the other, with a
// timeout of ten seconds each. [Hooks.Close] waits at most two seconds for all queues. An executable that exceeds its
// timeout is killed with its process group. A hook before a change does not wait for the queue: it may run while an
// executable still handles an earlier notification.
//
// # Whose executables
//
// Only those that no other user could have written: the folder, the file and, for a link, the directory that it leads
// to belong to the user or to the administrator, and are not writable for the group or the world. The folder is read at
// each event, so that new executables take effect at once. A folder that a workspace's settings may have named must not
// be in a workspace: opening a stranger's folder runs nothing. On Windows, which has no such modes, the file extension
// decides whether a file is executable.
package script
