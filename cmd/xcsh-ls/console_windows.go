package main

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// enableStyles makes a console interpret control sequences. It reports whether it does.
func enableStyles(f *os.File) bool {
	console := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(console, &mode); err != nil {
		return false // a terminal of Cygwin, whose kind is unknown
	}
	const sequences = windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	return mode&sequences != 0 || windows.SetConsoleMode(console, mode|sequences) == nil
}

// isClosedPipe reports whether a write failed because the reader is gone.
func isClosedPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}
