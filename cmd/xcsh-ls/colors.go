package main

import (
	"os"
	"runtime"
)

// The styles of a table on a terminal.
const (
	bold     = "\x1b[1m"
	faint    = "\x1b[2m"
	unstyled = "\x1b[0m"
)

// wantsStyles reports whether a terminal shows styles, and the user wants them, by the conventions of no-color.org and
// bixense.com/clicolors. CLICOLOR_FORCE has no effect: programs that read the output would have to remove the styles.
func wantsStyles(getenv func(string) string) bool {
	kind := getenv("TERM")
	if kind == "dumb" || kind == "" && runtime.GOOS != "windows" {
		return false
	}
	return getenv("NO_COLOR") == "" && getenv("CLICOLOR") != "0"
}

// styles reports whether the terminal f shows styles. It switches them on if the system needs that.
func styles(f *os.File) bool { return wantsStyles(os.Getenv) && enableStyles(f) }
