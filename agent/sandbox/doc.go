// Package sandbox runs commands with less than the user's rights.
//
// A [Box] knows the user's machine and makes a [Policy] for a folder and a [Level]: which files may
// not be read, which may be written, and whether there is a network. [Box.Argv] turns a command
// line into one that runs under the policy:
//
//   - On Linux it starts this program again as a launcher ([Exec]), because Landlock and seccomp
//     apply to a process and everything it starts, for ever. Landlock restricts files; seccomp
//     restricts what the running kernel's Landlock does not cover, such as sockets.
//   - On macOS it is sandbox-exec with a profile ([Profile]).
//   - Elsewhere there is no sandbox, which [Supported] reports, and every command has to be approved.
//
// The limits of each of them are described in docs/adr/0016-commands-run-in-a-sandbox.md.
package sandbox
