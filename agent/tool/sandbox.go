package tool

// Sandbox lets commands write only where they may. They still read everything the person
// can read, and reach the network.
type Sandbox struct {
	// Launcher is a program and its first arguments that takes "--write DIR" any number of
	// times, "--" and a command line, and runs that with its rights reduced: "xcsh-ls
	// sandbox-exec".
	Launcher []string

	// Write are directories that commands may write to beside their working directory and
	// the directory for temporary files, such as a compiler's cache.
	Write []string
}

func (s *Sandbox) argv(cwd, temp string, command []string) []string {
	argv := append([]string(nil), s.Launcher...)
	for _, dir := range append([]string{cwd, temp}, s.Write...) {
		argv = append(argv, "--write", dir)
	}
	return append(append(argv, "--"), command...)
}
