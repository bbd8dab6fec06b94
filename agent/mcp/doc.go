// Package mcp is the client for the servers of the Model Context Protocol that one session uses. It is the only package that
// imports the protocol's SDK.
//
//	servers := mcp.New(mcp.Options{Servers: defined, Dialect: session.Omp, Cwd: cwd, Log: log})
//	for _, t := range servers.Tools(ctx) { … }       // starts the servers, and waits at most 10 s
//	t, err := servers.Tool("xd://mcp__docs_search")  // the names that a conversation may use
//	err = servers.Close(ctx)
//
// Nothing starts before the first call of [Servers.Tools], [Servers.Prompt] or a tool. The tools of a server that is late join
// in a later result of Tools, and so does every change of a server's tools: the tools of a request never change.
//
// # Names
//
// A tool has the name that the program of the session's dialect gives it, because the conversation already uses it. The names that
// the other programs give it are accepted, but not declared; see [Servers.Tool].
//
// # Trust
//
// A server is not trusted. Its lines have a maximum length, its lists and texts are cut, its requests to the user need a running
// call, and a server that does not answer, ends or prints something else costs the call that waits for it and nothing more. A
// process of a server ends with everything that it started. A remote server gets the headers and the token of its definition only at the
// address of its definition. Its texts are shown without control characters.
//
// The environment of a process contains only the variables of package environ and those of the definition. The values of
// variables, headers and tokens of a definition appear in no error, log or state.
//
// Whether a server may be used, and whether a tool may be called, is decided by the caller.
package mcp
