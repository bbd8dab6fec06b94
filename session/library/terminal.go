package library

import "strings"

// terminalVariables name a terminal that has no device path of its own, in the order of
// preference, with the prefix of its id.
var terminalVariables = [...]struct{ variable, prefix string }{
	{"KITTY_WINDOW_ID", "kitty-"},
	{"TMUX_PANE", "tmux-"},
	{"TERM_SESSION_ID", "apple-"},
	{"WT_SESSION", "wt-"},
}

// TerminalID derives the id of the terminal that a headless command runs in: the device of
// its standard input, ttyPath, or "" when that is none, else the first of the variables
// that terminals set. "" means that the terminal is unknown, and no breadcrumb is read or
// written. Separators in the id are dashes.
//
// A language server must not use it: its input is a pipe, and the variables describe
// whatever terminal the editor was started from.
func TerminalID(env Env, ttyPath string) string {
	if device, ok := strings.CutPrefix(ttyPath, "/dev/"); ok && device != "" {
		id, _ := breadcrumbName(device)
		return id
	}
	for _, v := range terminalVariables {
		if value := env.get(v.variable); value != "" {
			id, _ := breadcrumbName(v.prefix + value)
			return id
		}
	}
	return ""
}
