package export

import (
	"bytes"
	"cmp"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// mostRounds is how often a line is searched again after a replacement. Nothing but a text that was made for it needs more than two.
const mostRounds = 8

// Line returns a line of a session file, without its newline, without its secrets. Unlike in [Redactor.Doc], each line is treated by
// itself: the result depends on the line and the scanner alone, and applying Line to it changes nothing. JSON stays JSON. Records
// of changes of files lose the hashes of the contents, as in [JSONL]. Without secrets the result is line itself.
//
// A line that is not JSON, or holds several values, is searched as text as well.
func (r *Redactor) Line(line []byte) []byte {
	redact := r.jsonLine
	if !rawjson.Valid(line) {
		redact = r.values
	}
	for range cmp.Or(r.rounds, mostRounds) {
		changed := redact(line)
		if bytes.Equal(changed, line) {
			return line
		}
		line = changed
	}
	return r.withheld(line)
}

func (r *Redactor) jsonLine(line []byte) []byte { return r.jsonAt("", withoutHashes(line)) }

// values redacts the values of a line, and what follows them.
func (r *Redactor) values(line []byte) []byte {
	var out []byte
	for rest := line; len(rest) > 0; {
		n, st := rawjson.Scan(rest)
		if st != rawjson.Complete || n == 0 || rest[0] != '{' && rest[0] != '[' {
			return append(out, r.garbage(rest)...)
		}
		out = append(out, r.jsonLine(rest[:n])...)
		rest = rest[n:]
		space := len(rest) - len(bytes.TrimLeft(rest, " \t\r"))
		out = append(out, rest[:space]...)
		rest = rest[space:]
	}
	return out
}

// garbage redacts text that may be a part of a value: its strings first, whose escapes and names count, and then all of it.
func (r *Redactor) garbage(b []byte) []byte {
	r.at = "a damaged line"
	return []byte(r.Text(string(r.JSON(b))))
}

// withheld is the entry that stands for a line that contains a new secret after each replacement. It keeps the place in the tree.
func (r *Redactor) withheld(line []byte) []byte {
	o := new(rawjson.Object).String("type", "custom").String("customType", "xcsh-ls.withheld")
	entry := bytes.Clone(o.Bytes())
	if rawjson.Valid(line) {
		var members [3][]byte
		names := []string{"id", "parentId", "timestamp"}
		rawjson.GetEach(line, names, members[:])
		for i, name := range names {
			if members[i] != nil {
				entry = rawjson.Set(entry, name, members[i])
			}
		}
	}
	if !bytes.Equal(r.jsonLine(entry), entry) {
		return o.Bytes()
	}
	return entry
}
