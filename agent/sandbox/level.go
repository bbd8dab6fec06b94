package sandbox

// Level determines how much of the machine a command may reach.
type Level int

// The levels, from the narrowest on. The zero value is the narrowest.
const (
	// Strict lets a command only read, except for the files with secrets: no writes but to
	// /dev/null, no network, no signals to other processes.
	Strict Level = iota

	// Standard also lets it write to its folder, to temporary files and to build caches,
	// and use the network.
	Standard

	// Outside runs the command with all the user's rights.
	Outside
)

func (l Level) String() string {
	switch l {
	case Strict:
		return "strict"
	case Standard:
		return "standard"
	default:
		return "outside"
	}
}
