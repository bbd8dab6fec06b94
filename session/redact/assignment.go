package redact

import "strings"

// assignment is the value that a text gives to a name.
type assignment struct {
	from, to int
	quoted   bool
	shell    bool // NAME=value: the value ends with the word
	listed   bool // only next to the name: setenv("TOKEN", "…"), a table
}

// assigned finds the value of the name text[from:to] in the forms of programming languages,
// configuration files, shells and command lines.
func assigned(text string, from, to int) (a assignment, ok bool) {
	i := to
	for i < len(text) && strings.IndexByte("\"'`]\\", text[i]) >= 0 && i-to < 6 {
		i++
	}
	closed := i > to
	j := skipBlanks(text, i)
	if j == len(text) {
		return a, false
	}
	switch c := text[j]; {
	case c == '=' || c == ':':
		a.shell = c == '=' && j == to && isUpperName(text[from:to])
		j++
		if j < len(text) && (text[j] == '=' || text[j] == '>') {
			j++
		}
	case c == '>' && from > 0 && text[from-1] == '<': // <password>
		j++
	case c == ',' && closed, c == '|' && j > to:
		a.listed = true
		j++
	case j > i && strings.HasPrefix(text[from:], "-"), j > i && afterWord(text, from, "env", "arg", "setx", "machine", "export", "setenv"): // --token …
	default:
		if j = typed(text, j); j < 0 {
			return a, false
		}
	}
	j = skipBlanks(text, j)
	if t := typed(text, j); t >= 0 {
		j = skipBlanks(text, t)
	}
	return value(text, j, a)
}

// typed skips a type between a name and its value, with the equals sign: const name string = …;
// it returns -1 if there is none.
func typed(text string, i int) int {
	start := i
	for i < len(text) && i-start < 24 && (isName[text[i]] || strings.IndexByte("*[]&<>", text[i]) >= 0) {
		i++
	}
	if i == start || '0' <= text[start] && text[start] <= '9' {
		return -1
	}
	j := skipBlanks(text, i)
	if j < len(text)-1 && j > i && text[j] == '=' && text[j+1] == ' ' {
		return j + 1
	}
	return -1
}

func skipBlanks(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

// afterWord reports whether one of words and a space precede text[i].
func afterWord(text string, i int, words ...string) bool {
	head := strings.TrimRight(text[max(0, i-12):i], " \t")
	if len(head) == min(i, 12) {
		return false
	}
	for _, w := range words {
		if n := len(head) - len(w); n >= 0 && strings.EqualFold(head[n:], w) && (n == 0 || !isName[head[n-1]]) {
			return true
		}
	}
	return false
}

func isUpperName(name string) bool { return strings.ToUpper(name) == name }

// mostValue is the length of the longest value that is checked.
const mostValue = 4096

// value finds the end of the value at text[i].
func value(text string, i int, a assignment) (assignment, bool) {
	slashes := 0
	for i < len(text) && text[i] == '\\' {
		i, slashes = i+1, slashes+1
	}
	if i < len(text) && strings.IndexByte("rbfuRBFU@$", text[i]) >= 0 && i+1 < len(text) && strings.IndexByte("\"'", text[i+1]) >= 0 {
		i++ // prefixes of Python and others
	}
	if i < len(text) && strings.IndexByte("\"'`", text[i]) >= 0 {
		quote := text[i]
		i++
		n := strings.IndexAny(text[i:min(len(text), i+mostValue)], string(quote)+"\n")
		if n >= 0 && text[i+n] == quote {
			a.quoted = true
			a.from, a.to = i, i+n-min(slashes, n)
			return a, a.from < a.to
		}
	}
	stops := " \t\r\n\"'`,;&|\\<>"
	if a.shell {
		stops = " \t\r\n\"'`"
	}
	rest := text[i:min(len(text), i+mostValue)]
	n := strings.IndexAny(rest, stops)
	if n < 0 {
		n = len(rest)
	}
	a.from, a.to = i, i+n
	return a, n > 0 && n < mostValue
}

// paired finds the value of a name that is itself a value: name: TOKEN, value: …
func paired(text string, to int) (a assignment, ok bool) {
	const most = 60
	i := to
	for i < len(text) && i-to < most && isBetween[text[i]] {
		i++
	}
	end := i + len("value")
	if i == to || end > len(text) || !strings.EqualFold(text[i:end], "value") {
		return a, false
	}
	return assigned(text, i, end)
}

// isBetween are the bytes that may occur between a name and the word value.
var isBetween = byteSet(" \t\r\n\"'`,\\<>/(){}-")
