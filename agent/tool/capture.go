package tool

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spf13/afero"
)

// Keep makes a file beside the session for an output of a tool that is too long for a result. The
// caller closes the file, or closes and removes it. An error means that the session has no place
// for it.
type Keep func(tool string) (KeptFile, error)

// KeptFile is a new file, open for writing.
type KeptFile struct {
	File       afero.File
	Path       string // absolute
	ArtifactID string
}

// maxSpill is the most of one output that is kept in a file, in bytes.
const maxSpill = 256 << 20

// capture takes the output of a command: its end stays in memory, and if that is not all, the whole
// goes into a file. It is safe for concurrent use.
type capture struct {
	fs   afero.Fs
	tool string // the tool of the output
	keep Keep
	temp string // directory for files for which keep has no place

	mu      sync.Mutex // guards the fields below
	ring    []byte     // the end of the output, at most twice as much as is shown
	bytes   int        // of the whole output
	lines   int        // newlines in it
	partial int        // bytes since the last newline
	ended   int        // bytes of the last line that has a newline
	file    afero.File
	path    string
	id      string // of the artifact that the file is, "" when it is none
	failed  bool   // the file cannot be written, or has reached its limit
}

// Write takes a piece of output. It never fails: a full disk must not end the command.
func (c *capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += len(b)
	c.lines += bytes.Count(b, []byte("\n"))
	c.measure(b)
	c.spill(b)
	c.ring = append(c.ring, b...)
	if extra := len(c.ring) - 2*MaxBytes; extra > 0 {
		c.ring = append(c.ring[:0], c.ring[extra:]...)
	}
	return len(b), nil
}

// measure keeps the sizes of the last lines.
func (c *capture) measure(b []byte) {
	i := bytes.LastIndexByte(b, '\n')
	if i < 0 {
		c.partial += len(b)
		return
	}
	c.ended = i - bytes.LastIndexByte(b[:i], '\n') - 1
	if c.ended == i { // it began before b
		c.ended += c.partial
	}
	c.partial = len(b) - i - 1
}

// spill keeps b in the file, which is begun when memory may not hold everything any more.
func (c *capture) spill(b []byte) {
	if c.failed || c.file == nil && c.bytes <= MaxBytes && c.lines <= MaxLines {
		return
	}
	if c.file == nil {
		if !c.begin() {
			c.failed = true
			return
		}
		// The ring still has everything before b.
		if _, err := c.file.Write(c.ring); err != nil {
			c.drop()
			return
		}
	}
	if c.bytes > maxSpill {
		c.failed = true // the content so far stays
	} else if _, err := c.file.Write(b); err != nil {
		c.drop()
	}
}

// begin makes the file: one of the session, or one in the temporary directory.
func (c *capture) begin() bool {
	if c.keep != nil {
		if kept, err := c.keep(c.tool); err == nil {
			c.file, c.path, c.id = kept.File, kept.Path, kept.ArtifactID
			return true
		}
	}
	if c.fs.MkdirAll(c.temp, 0o700) != nil {
		return false
	}
	path := filepath.Join(c.temp, c.tool+"-"+strings.ToLower(rand.Text()[:12])+".log")
	f, err := c.fs.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	c.file, c.path = f, path
	return true
}

// drop gives the file up.
func (c *capture) drop() {
	_ = c.file.Close()
	_ = c.fs.Remove(c.path) // best effort
	c.failed, c.file, c.path, c.id = true, nil, "", ""
}

// close ends the file.
func (c *capture) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil {
		if c.file.Close() != nil {
			c.path, c.id = "", ""
		}
		c.failed, c.file = true, nil
	}
}

// captured is the output so far.
type captured struct {
	text     string // the end of it, within the limits
	cut      Truncation
	path     string // of the whole, "" when text is all or there is no such file
	artifact string // its id, "" when it is none of the session's
	last     int    // size of the last line, in bytes
}

func (c *capture) snapshot() captured {
	c.mu.Lock()
	raw := string(c.ring)
	total, all, last, path, id := c.bytes, c.lines, c.ended, c.path, c.id
	if c.partial > 0 {
		all, last = all+1, c.partial
	}
	c.mu.Unlock()

	if total > len(raw) {
		// The ring begins anywhere: the result must not begin with half a character, and only with
		// half a line if there is no whole one.
		raw = lastBytes(raw, len(raw)-headless(raw))
		if _, rest, ok := strings.Cut(raw, "\n"); ok && rest != "" {
			raw = rest
		}
	}
	text, cut := tail(printable(raw))
	if total > len(raw) && !cut.Truncated {
		cut = cut.cut(byBytes, text)
	}
	if cut.Truncated {
		cut.TotalLines, cut.TotalBytes = all, total
	} else {
		path, id = "", ""
	}
	return captured{text: text, cut: cut, path: path, artifact: id, last: last}
}

// headless is the number of bytes at the beginning of s that belong to a character whose
// beginning is missing.
func headless(s string) int {
	n := 0
	for n < len(s) && n < utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n++
	}
	return n
}

// escapes are the commands of terminals: colours, titles, movements.
var escapes = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])`)

// printable returns output as a user would read it: without terminal commands, control characters
// and bytes that are not valid UTF-8.
func printable(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = escapes.ReplaceAllString(s, "")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
