package redact

import "strings"

// blockMark is in the first and in the last line of a private key.
const blockMark = "private key"

// block records the private key whose first or last line has the mark at at. This includes keys that are truncated at
// either end.
func (p *pass) block(at int) {
	if at < p.blockEnd {
		return
	}
	text := p.v.text
	line := max(0, at-60)
	line += strings.LastIndexByte(text[line:at], '\n') + 1
	head := text[line:at]
	if i := strings.LastIndex(head, "BEGIN "); i >= 0 && strings.HasSuffix(strings.TrimRight(head[:i], " "), "----") {
		from := line + len(strings.TrimRight(strings.TrimRight(head[:i], " "), "-"))
		if end, ok := bodyEnd(text, at+len(blockMark)); ok {
			p.add(p.v, from, end, Finding{Kind: "private-key", rank: rankBlock})
			p.blockEnd = end
		}
		return
	}
	if i := strings.LastIndex(head, "END "); i >= 0 && strings.HasSuffix(strings.TrimRight(head[:i], " "), "----") {
		from := bodyStart(text, line+len(strings.TrimRight(strings.TrimRight(head[:i], " "), "-")), p.blockEnd)
		end := at + len(blockMark)
		if from < line {
			p.add(p.v, from, dashes(text, end), Finding{Kind: "private-key", rank: rankBlock})
			p.blockEnd = end
		}
	}
}

// dashes skips the text after the mark in the first or the last line: " BLOCK-----".
func dashes(text string, i int) int {
	if strings.HasPrefix(text[i:], " BLOCK") {
		i += len(" BLOCK")
	}
	for i < len(text) && text[i] == ' ' {
		i++
	}
	for i < len(text) && text[i] == '-' {
		i++
	}
	return i
}

// longestLine is how much of a line of a key is checked: all of a key may be on one line.
const longestLine = 8192

// bodyEnd returns the end of the key whose first line has the mark in front of text[i].
func bodyEnd(text string, i int) (end int, ok bool) {
	i = dashes(text, i)
	blank := 0
	for i < len(text) {
		line := text[i:min(len(text), i+longestLine)]
		stop := strings.IndexByte(line, '\n')
		if stop < 0 {
			stop = len(line)
		}
		line = line[:stop]
		kind := lineOf(line)
		if at := strings.Index(line, "-----END"); at >= 0 && lineOf(line[:at]) != other {
			if mark := strings.Index(strings.ToLower(line[at:]), blockMark); mark >= 0 {
				return dashes(text, i+at+mark+len(blockMark)), ok || lineOf(line[:at]) == base64Line
			}
		}
		switch {
		case kind == other, kind == shortLine && !ok, blank > 12:
			return end, ok
		case kind == blankLine, kind == headerLine:
			blank++
		case kind == base64Line, kind == shortLine:
			end, ok, blank = i+bodyLength(line), true, 0
		}
		i += stop + 1
	}
	return end, ok
}

// bodyStart returns where the key begins whose last line begins at text[i], not before
// least.
func bodyStart(text string, i, least int) int {
	start := i
	for i > least {
		first := max(least, i-longestLine)
		line := text[first+strings.LastIndexByte(text[first:i-1], '\n')+1 : i]
		kind := lineOf(strings.TrimSuffix(line, "\n"))
		if kind == other || kind == headerLine || kind == shortLine && start < i {
			break
		}
		i -= len(line)
		if kind == base64Line {
			start = i + indentOf(line)
		}
	}
	return start
}

// bodyLength is the length of a line without the characters that close a string after it.
func bodyLength(line string) int { return len(strings.TrimRight(line, decoration)) }

func indentOf(line string) int { return len(line) - len(undecorated(line)) }

// lineKind is the kind of a line in a private key.
type lineKind int

const (
	other lineKind = iota
	blankLine
	headerLine // Proc-Type: 4,ENCRYPTED
	base64Line
	shortLine // the last one of base64
)

// decoration are the characters that other texts put around the lines of a key.
const decoration = " \t\r\"'`+\\,;|>#*()[]"

// undecorated returns a line without leading signs, line numbers and diff marks.
func undecorated(line string) string {
	line = strings.TrimLeft(line, decoration+"-")
	rest := strings.TrimLeft(line, "0123456789")
	if len(rest) < len(line) && len(line)-len(rest) < 7 {
		if cut := strings.TrimLeft(rest, "\t :|→"); len(cut) < len(rest) {
			return strings.TrimLeft(cut, decoration+"-")
		}
	}
	return line
}

func lineOf(line string) lineKind {
	line = strings.TrimRight(undecorated(line), decoration)
	if line == "" {
		return blankLine
	}
	if name, _, ok := strings.Cut(line, ": "); ok && len(name) < 40 && !strings.ContainsAny(name, " =/+") {
		return headerLine
	}
	longest, fields := 0, 0
	for field := range strings.FieldsSeq(line) {
		if strings.IndexFunc(field, notBase64) >= 0 {
			return other
		}
		longest, fields = max(longest, len(field)), fields+1
	}
	switch {
	case longest >= 24 && (fields == 1 || longest >= 40 || fields < 40 && len(line)/fields >= 16):
		return base64Line
	case fields == 1 && (looksCut(line) || strings.HasSuffix(line, "=")):
		return shortLine
	}
	return other
}

func notBase64(c rune) bool {
	return c > 0x7F || !isWord[byte(c)] || c == '-' || c == '_' || c == '~' || c == '.'
}
