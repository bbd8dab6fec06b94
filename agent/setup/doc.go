// Package setup finds the set-up that holds for a session in a folder: MCP servers, skills, templates, agents,
// files of the system prompt, instructions, rules and settings, as the program that wrote the session
// would find them.
//
// It reads files and starts nothing. Every value has the path of its file, and everything that exists and
// is not used is listed with the reason. A folder comes from other people: of an untrusted one only the
// instructions are used, files are read below their folder only, and their size, depth and number are
// bounded. Values of environment variables and headers are never part of the JSON form of a result.
package setup
