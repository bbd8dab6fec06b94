// Package connect decides which store this machine may connect to, and how. It connects to nothing.
//
// A connection string says where a user's conversations go. So it only comes from the user's own settings, service file and
// environment, in that order, and nothing in it may name a file of a workspace. [Find] checks that, and that the server has to
// prove who it is. [PasswordCommand] runs the user's executable for a password.
package connect
