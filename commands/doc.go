// Package commands implements the commands of xcsh-ls. [Default] is the only list of them:
// dispatch, LSP capabilities, package.json, the TypeScript and Lua lists and docs/commands.md
// are derived from it, and TestGenerated fails if one is stale.
//
// A command takes one JSON object and returns one. Errors are [fault.Error] values: a sentence
// for users and a kind for programs. [Table.Execute] checks the conditions that a command's
// flags name, a resolver finds the session that a call names, and a prompter asks the user for
// missing arguments. A command with several steps is a job, such as exportJob, which takes the few
// services that it needs from the [Env].
package commands
