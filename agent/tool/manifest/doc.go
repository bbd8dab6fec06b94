// Package manifest makes tools for the model of a user's executables. A manifest is a JSON file in the
// user's folder of tools that has the tool's name, a description for the model, the schema of its
// parameters, and the name of an executable in the same folder.
//
// A call runs the executable with the arguments as one line of JSON on its standard input. It prints
// its result as JSON, and before that lines with its progress, see [parseResult].
//
// # Trust
//
// [Load] reads only files that no other user could have written, and no links. The digest of a manifest
// and its executable is taken when they are loaded and compared before each call: an executable that
// has changed since is not run. It is part of the approval rules, so that an allowed tool is a new one
// after a change.
//
// A call needs approval like a command, and runs in the sandbox like one. A tool is run without approval
// only if its manifest declares that it only reads and the user has confirmed that for this digest; it
// then runs in the strict sandbox, and not at all without one.
package manifest
