// Package identity names projects and devices so that the names mean the same on every machine.
//
// The key of a project is made of the remote of its repository and the folder below its root, and never contains a
// path of a machine. Without a remote the user gives the project a name. A device is a random UUID that is
// kept in the agent directory, with a label for other users.
package identity
