// Package commands holds the public verbs of xcsh-ls: the name, arguments, result
// and function of each. [Default] is the only list of them: dispatch, LSP
// capabilities, package.json, the TypeScript and Lua lists and docs/commands.md
// are derived from it, and TestGenerated fails when one is stale.
//
// A command takes one JSON object and answers with one. Errors are [fault.Error]
// values: one sentence for a person, a kind for a program.
package commands
