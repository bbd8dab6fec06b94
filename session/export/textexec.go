package export

import (
	"fmt"
	"strconv"
	"strings"
)

func (t *dump) bash(m object) {
	t.lines("## Bash Execution\n")
	command := m.str("command")
	// Differs: a command that holds a fence itself (a here-document of Markdown, say)
	// gets a fence of its own; between single backticks it would open one.
	if strings.Contains(command, "```") {
		t.lines("Ran:", fenced("", command))
	} else {
		t.lines("Ran `" + command + "`")
	}
	t.output("", "Command exited", "(command cancelled)", m)
}

func (t *dump) python(m object) {
	t.lines("## Python Execution\n", "Ran Python:", fenced("python", m.str("code")))
	t.output("Output:\n", "Execution failed", "(execution cancelled)", m)
}

// output writes the output of an execution and how it ended.
func (t *dump) output(lead, failed, cancelled string, m object) {
	text := "(no output)"
	if out := m.str("output"); out != "" {
		text = lead + fenced("", out)
	}
	code := m.number("exitCode")
	switch {
	case m.truthy("cancelled"):
		text += "\n\n" + cancelled
	case code != "" && m.float("exitCode") != 0:
		text += "\n\n" + failed + " with code " + code
	}
	if notice := truncationNotice(m); notice != "" {
		text += "\n\n[" + notice + "]"
	}
	t.lines(text, "\n")
}

// truncationNotice describes the part of an output that was kept, "" if all of it was.
func truncationNotice(m object) string {
	cut := m.object("meta").object("truncation")
	if cut == nil {
		return ""
	}
	shown, total := cut.object("shownRange"), or(cut.number("totalLines"), "?")
	notice := "Showing " + or(cut.number("outputLines"), "?") + " of " + total + " lines"
	if shown != nil {
		notice = "Showing lines " + or(shown.number("start"), "?") + "-" + or(shown.number("end"), "?") + " of " + total
	}
	if cut.str("truncatedBy") == "bytes" {
		notice += " (" + byteSize(cut.float("outputBytes")) + " limit)"
	}
	if next := cut.number("nextOffset"); next != "" {
		return notice + ". Use offset=" + next + " to continue"
	}
	if id := or(cut.str("artifactId"), cut.number("artifactId")); id != "" {
		return notice + ". Full: artifact://" + oneLine(id)
	}
	return notice
}

// byteSize formats n bytes with a binary unit, as in 12.0KB.
func byteSize(n float64) string {
	switch {
	case n < 1<<10:
		return strconv.FormatFloat(n, 'f', -1, 64) + "B"
	case n < 1<<20:
		return fmt.Sprintf("%.1fKB", n/(1<<10))
	}
	return fmt.Sprintf("%.1fMB", n/(1<<20))
}
