package team

// MaxLabel is the longest label of a device, in characters. A store cuts longer ones.
const MaxLabel = 64

// Device is an agent directory of a user.
type Device struct {
	ID    DeviceID
	Label string // shown to users, such as "laptop" or "codespace fluffy-goggles"
}

// Protocol is the family of functions that this program calls.
const Protocol = 1

// Hello describes a store and the user that is logged in.
type Hello struct {
	Speaks  []int // the families of functions that the store has; one of them is Protocol
	StoreID UUID  // differs between stores; a copy of a database has the same one
	Epoch   int   // grows when a backup is restored; clients then compare every session again
	User    int   // identifies the user in this store, as Known.Owner does
	Display string
	Replica bool // a read-only copy: methods that write return a ReadOnly error
}

// Project is a project of a team.
type Project struct {
	ID   int
	Team string
	Key  string // "git:HOST/PATH#FOLDER" or "name:NAME"
}

// Membership is a team of the user.
type Membership struct {
	Team    string
	Level   int // 1 reads, 2 writes, 3 administers
	Readers int // how many users can read the team's sessions, this one included
}
