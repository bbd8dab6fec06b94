// Package consent keeps the user's decisions about what leaves this machine: team.json in the agent directory.
//
// Without a decision nothing leaves. A file that cannot be read, or that a newer version wrote, is an error that says
// so, is left as it is, and permits nothing. Changes keep every byte that they are not about, so that the keys
// of other versions survive.
package consent
