// Package pi runs the user's pi as an engine: pi's RPC mode, one JSON object per line, and an extension of this
// program that is loaded into it. It also runs xcsh, and omp over RPC, which were forked from pi: a [dialect] holds the
// differences. Where a comment says pi, it holds for all three.
//
// Guarantees:
//
//  1. One goroutine reads the lines of pi and never blocks on the host: responses, dialogs and questions are dispatched
//     while the host waits for a message or for the user. Everything that must stay in order is put into a backlog.
//  2. One goroutine reports the backlog to the host, in the order of the lines. [Engine.Run] returns
//     after everything before the end of the run has been reported.
//  3. Everything that pi, its extensions or a model send is bounded in size, number and time. A line that is not
//     understood costs that line only.
//  4. A prompt is sent once. If pi did not take it, it is returned.
//  5. A tool that changes something runs after a permission, or pi is ended.
//
// The extension, bridge/xcsh-ls-host.ts, asks the host through dialogs of pi: for permission before a tool runs, and
// for the content of files that are open in the editor. It also adds commands that RPC lacks. In omp and xcsh it leaves files
// alone: a tool call that would change a file with unsaved changes is refused instead.
package pi
