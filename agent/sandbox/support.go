package sandbox

// Support reports whether commands can be run in a sandbox on this machine.
type Support struct {
	OK bool

	// Sentence explains it to the user.
	Sentence string
}
