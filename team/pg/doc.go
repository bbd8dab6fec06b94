// Package pg keeps sessions in PostgreSQL. It implements [team.Store] with one method for each function
// of schema.sql, creates and upgrades the schema, and checks it.
//
// # Connections
//
// A [Store] connects when it is used, with at most four connections, and closes those that are idle for
// a minute. Statements have no names, so that a pooler in transaction mode can be between the program
// and the server. [Store.Ear] has a connection of its own. Nothing is set in a session of the server: a
// call is limited by its context, for which the store adds a timeout.
//
// # Rights
//
// The login role of the connection is the user. Functions compare session_user with the members of the
// teams; no table can be read or written directly.
package pg
