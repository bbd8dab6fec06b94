package enginetest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// session is a session file as pi keeps it: in memory, written from the first prompt on, one write for each entry.
type session struct {
	path string // "" if it is not kept
	id   string
	cwd  string

	header  json.RawMessage
	entries []entry
	leaf    string // "" before the first entry
	written bool   // the file exists, or existed
	late    bool   // nothing is written before the first answer
	lead    int    // the bytes of a late session that are in the file
}

type entry struct {
	id, parent, kind string
	raw              json.RawMessage
	message          json.RawMessage // of kind message
	role             string
}

// newSession returns a session that is not in a file yet. path may be "" for one in dir.
func newSession(path, dir, id, cwd, parent string) *session {
	now := isoNow()
	if id == "" {
		id = newUUID()
	}
	if path == "" && dir != "" {
		path = filepath.Join(dir, strings.NewReplacer(":", "-", ".", "-").Replace(now)+"_"+id+".jsonl")
	}
	return &session{
		path: path, id: id, cwd: cwd,
		header: object("type", "session", "version", 3, "id", id, "timestamp", now, "cwd", cwd, "parentSession", orAbsent(parent)),
	}
}

// openSession reads a session file.
func openSession(path string) (*session, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s := &session{path: path, written: true}
	from := bufio.NewScanner(file)
	from.Buffer(nil, 256<<20)
	for from.Scan() {
		s.add(slices.Clone(from.Bytes()))
	}
	if s.header == nil {
		return nil, fmt.Errorf("Session file is not a valid pi session: %s", path) //nolint:staticcheck // pi's words
	}
	if info, err := os.Stat(s.cwd); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("Stored session working directory does not exist: %s", s.cwd) //nolint:staticcheck // pi's words
	}
	return s, from.Err()
}

// add adds a line of the file. A line that is not JSON is lost.
func (s *session) add(line []byte) {
	var l struct {
		Type, ID, ParentID, Cwd string
		Message                 json.RawMessage
	}
	if json.Unmarshal(line, &l) != nil {
		return
	}
	if s.header == nil {
		if l.Type == "session" && l.ID != "" {
			s.header, s.id, s.cwd = line, l.ID, l.Cwd
		}
		return
	}
	s.entries = append(s.entries, entry{id: l.ID, parent: l.ParentID, kind: l.Type, raw: line, message: l.Message, role: roleOf(l.Message)})
	s.leaf = l.ID
}

func roleOf(message json.RawMessage) string {
	var m struct{ Role string }
	_ = json.Unmarshal(message, &m) // without one it has no role
	return m.Role
}

// append adds an entry behind the leaf and writes it.
func (s *session) append(kind string, members ...any) (entry, error) {
	e := entry{id: newEntryID(), parent: s.leaf, kind: kind}
	e.raw = object(append([]any{"type", kind, "id", e.id, "parentId", orNull(e.parent), "timestamp", isoNow()}, members...)...)
	if kind == "message" {
		e.message, _ = members[1].(json.RawMessage)
		e.role = roleOf(e.message)
	}
	s.entries = append(s.entries, e)
	s.leaf = e.id
	return e, s.write(e)
}

// write writes an entry, and with the first prompt all before it.
func (s *session) write(e entry) error {
	first := "user"
	if s.late {
		first = "assistant"
	}
	if s.path == "" || (!s.written && e.role != first) {
		return nil
	}
	flags, text := os.O_APPEND|os.O_CREATE|os.O_WRONLY, append(slices.Clone(e.raw), '\n')
	if !s.written {
		if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil { //nolint:gosec // as pi makes it
			return err
		}
		flags, text = flags|os.O_EXCL, s.text()
		if s.late && s.lead > 0 { // the file has the beginning
			flags, text = flags&^os.O_EXCL, text[s.lead:]
		}
	}
	file, err := os.OpenFile(s.path, flags, 0o644) //nolint:gosec // as pi makes it
	if err != nil {
		return err
	}
	s.written = true
	_, err = file.Write(text)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// text returns the whole file.
func (s *session) text() []byte {
	text := append(slices.Clone(s.header), '\n')
	for _, e := range s.entries {
		text = append(append(text, e.raw...), '\n')
	}
	return text
}

// branch returns the entries from the first one to an entry.
func (s *session) branch(to string) (path []entry) {
	for i := len(s.entries) - 1; i >= 0 && to != ""; i-- {
		if e := s.entries[i]; e.id == to {
			path = append(path, e)
			to = e.parent
		}
	}
	slices.Reverse(path)
	return path
}

// messages returns the messages of the branch.
func (s *session) messages() (list []json.RawMessage) {
	for _, e := range s.branch(s.leaf) {
		if e.message != nil {
			list = append(list, e.message)
		}
	}
	return list
}

func (s *session) find(id string) (entry, bool) {
	i := slices.IndexFunc(s.entries, func(e entry) bool { return e.id == id })
	if i < 0 {
		return entry{}, false
	}
	return s.entries[i], true
}

// setting returns the last value of a member in entries of a kind, in the branch.
func (s *session) setting(kind, member string) (value string) {
	for _, e := range s.branch(s.leaf) {
		if e.kind == kind {
			var all map[string]any
			if json.Unmarshal(e.raw, &all) == nil {
				value, _ = all[member].(string)
			}
		}
	}
	return value
}

// copyTo returns a new session with the path to an entry, in a file of its own.
func (s *session) copyTo(leaf, dir string) (*session, error) {
	c := newSession("", dir, "", s.cwd, s.path)
	c.entries, c.leaf = s.branch(leaf), leaf
	if c.path == "" || !slices.ContainsFunc(c.entries, func(e entry) bool { return e.role == "user" }) {
		return c, nil
	}
	c.written = true
	return c, os.WriteFile(c.path, c.text(), 0o644) //nolint:gosec // as pi makes it
}

// textOf returns the text of a message.
func textOf(message json.RawMessage) string {
	var m struct{ Content json.RawMessage }
	_ = json.Unmarshal(message, &m) // without one it has no text
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var blocks []struct{ Type, Text string }
	_ = json.Unmarshal(m.Content, &blocks) // as above
	var parts []string
	for _, b := range blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
