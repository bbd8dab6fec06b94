// Package script makes hooks of a person's executables: every one in a folder is run for each
// event. Call [New], and give what it returns to a [hook.Runner].
//
// # What an executable gets
//
// The [hook.Event] as one line of JSON on its standard input, its type in the variable
// XCSH_HOOK_EVENT, the workspace folder as its working directory, or the folder of hooks where
// that is gone, and otherwise the environment of this process. It has a process group of its own
// and no terminal.
//
// # What it may answer
//
// Asked before a change, {"cancel": true, "reason": "..."} on its standard output; nothing, or
// {}, is consent. Executables are asked one after the other, in the order of their names, and the
// first no is the answer. Told after a change, what it writes is not looked at.
//
// One that fails, takes too long or answers something else is reported, and is never a no: a
// mistake in a script must not lock a person out of their sessions.
//
// # Order and time
//
// Questions hold up what they are about, so they have five seconds for each executable. What is
// told afterwards waits in one queue for each workspace folder and holds up nothing: executables
// are run one after the other, ten seconds each. [Hooks.Close] waits for the queues two seconds in
// all. Whatever takes too long is killed with its process group. A question does not wait for the
// queue: it may be asked while an executable is still being told of what was before.
//
// # Whose executables
//
// Only those that nobody else could have written: the folder, the file and, for a link, the
// directory that it leads to belong to the person or to the administrator, and are not writable
// for the group or the world. The folder is read at each event, so that what is put there works
// at once. A folder that a workspace's settings may have named must not be in a workspace: opening
// a stranger's folder runs nothing. On Windows, where there are no such modes, the extension says what is executable.
package script
