package tool

import "strings"

// commandLine returns a program and its arguments as the command line of a process on Windows, with quotes around all of
// them. Without quotes, Git Bash, MSYS2 and Cygwin expand patterns, and replace @FILE, in arguments that come from
// other programs: a command such as ./*.sh would have become another one before bash sees it.
func commandLine(argv []string) string {
	var line strings.Builder
	for i, arg := range argv {
		if i > 0 {
			line.WriteByte(' ')
		}
		line.WriteByte('"')
		backslashes := 0
		for _, b := range []byte(arg) {
			switch b {
			case '\\':
				backslashes++
			case '"': // backslashes are only special before a quote
				line.WriteString(strings.Repeat(`\`, backslashes+1))
				backslashes = 0
			default:
				backslashes = 0
			}
			line.WriteByte(b)
		}
		line.WriteString(strings.Repeat(`\`, backslashes))
		line.WriteByte('"')
	}
	return line.String()
}
