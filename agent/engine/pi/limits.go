package pi

import (
	"time"
	"unicode/utf8"
)

// The limits of the output of pi and its extensions. Longer texts are cut or refused.
const (
	maxTitle      = 1 << 10  // bytes of a name or a line of a status
	maxNotice     = 16 << 10 // bytes of a notice, or the message of a dialog
	maxPrefill    = 1 << 20  // bytes of the text of an editor dialog
	maxOptions    = 1000     // of a select dialog
	maxDialogs    = 64       // open dialogs
	maxAsked      = 64       // open questions of the bridge
	maxAskedCalls = 1000     // that have not started
	maxKeys       = 64       // of statuses and widgets
	maxLines      = 40       // of a widget
	maxGarbage    = 100      // lines in a row that are not records
	maxHeld       = 100      // custom messages of a session without a file
	maxModels     = 10_000   // in a list
	maxCommands   = 1000     // in a list
	maxTypes      = 50       // unknown types that are logged
	maxBash       = 1 << 20  // bytes of output that are kept while a command of the user runs
	maxBacklog    = 128 << 20
	maxShows      = 200 // notices, statuses and prefills in showWindow
	showWindow    = 10 * time.Second
)

// The times that pi gets.
const (
	startNotice   = 10 * time.Second // then the user is shown that pi starts
	startLimit    = 60 * time.Second
	helloGrace    = 5 * time.Second // between the first answer, or a reload, and the report of the bridge
	answerLimit   = 10 * time.Second
	abortLimit    = 10 * time.Second
	abortInterval = 2 * time.Second
	quietLimit    = 10 * time.Minute
	closeLimit    = 10 * time.Second
)

// cut returns the beginning of s of at most n bytes, whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
