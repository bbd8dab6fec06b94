package shipping

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// maxHead is the greatest length of a head in bytes.
const maxHead = 1 << 20

// Head is the beginning of a session file: omp's title slot if there is one, and the header line, with everything in front of
// them. Its methods change nothing.
type Head struct {
	Raw    []byte // with the newline of the header line
	header span
	slot   span // empty without one
}

// span is a range of bytes.
type span struct{ from, to int }

// byteOrderMark may be in front of the first line.
const byteOrderMark = "\xEF\xBB\xBF"

// ReadHead reads the head of a session file. Everything that follows in r is the body, but r may have been read beyond the
// head. The error is of kind damaged if there is no whole header line, else that of r.
func ReadHead(r io.Reader) (Head, error) {
	lines := bufio.NewReader(io.LimitReader(r, maxHead))
	var h Head
	for {
		line, err := lines.ReadBytes('\n')
		at := len(h.Raw)
		h.Raw = append(h.Raw, line...)
		if errors.Is(err, io.EOF) {
			return Head{}, fault.New(fault.Damaged, "The session file has no readable header, so it is not sent to the team.")
		}
		if err != nil {
			return Head{}, fault.New(fault.IO, "Cannot read the header of the session file: %w.", err)
		}
		from, to := trimmed(h.Raw[:at], line)
		if found, err := h.add(span{at + from, at + to}); found || err != nil {
			return h, err
		}
	}
}

// ParseHead is [ReadHead] for a head that is in memory, with nothing behind it.
func ParseHead(raw []byte) (Head, error) {
	h, err := ReadHead(bytes.NewReader(raw))
	if err == nil && len(h.Raw) < len(raw) {
		return Head{}, fault.New(fault.Damaged, "The head of the session has lines behind its header.")
	}
	return h, err
}

// trimmed returns the range of a line without the white space around it, and without a mark at the beginning of the file.
func trimmed(before, line []byte) (from, to int) {
	if len(before) == 0 && bytes.HasPrefix(line, []byte(byteOrderMark)) {
		from = len(byteOrderMark)
	}
	const space = " \t\r\n"
	to = len(bytes.TrimRight(line, space))
	if to < from {
		return from, from
	}
	return from + len(line[from:to]) - len(bytes.TrimLeft(line[from:to], space)), to
}

// add looks at one line by the rules of [session.Store.Load]. found reports that it is the header.
func (h *Head) add(line span) (found bool, err error) {
	text := h.Raw[line.from:line.to]
	if !rawjson.Valid(text) || rawjson.Kind(text) != '{' {
		return false, nil // damage costs its own line only
	}
	if _, ok := session.ParseTitleSlot(text); ok && h.slot == (span{}) {
		h.slot = line
		return false, nil
	}
	if _, ok := session.ParseHeader(text); ok {
		h.header = line
		return true, nil
	}
	return false, fault.New(fault.Damaged, "The session file has no readable header, so it is not sent to the team.")
}

// Len returns the offset of the body in the file.
func (h Head) Len() int64 { return int64(len(h.Raw)) }

// Header returns the header.
func (h Head) Header() session.Header {
	header, _ := session.ParseHeader(h.Raw[h.header.from:h.header.to])
	return header
}

// HasSlot reports whether the head begins with omp's title slot.
func (h Head) HasSlot() bool { return h.slot != span{} }

// Title returns the title, as the programs show it: that of the slot hides that of the header.
func (h Head) Title() session.Title {
	if h.HasSlot() {
		title, _ := session.ParseTitleSlot(h.Raw[h.slot.from:h.slot.to])
		return title
	}
	header := h.Header()
	return session.Title{Text: header.Title, Source: header.TitleSource}
}

// withHeader returns a head with another header line.
func (h Head) withHeader(line []byte) Head {
	return Head{
		Raw:    bytes.Join([][]byte{h.Raw[:h.header.from], line, h.Raw[h.header.to:]}, nil),
		header: span{h.header.from, h.header.from + len(line)}, slot: h.slot,
	}
}

// Shipped returns the head without the paths of this machine: the working directory becomes folder, which is
// relative to the root of the project, and a parent that is a path becomes the id in its name. All other bytes stay.
func (h Head) Shipped(folder string) Head {
	line := h.Header().Raw
	if folder == "" {
		folder = "."
	}
	if rawjson.Get(line, "cwd") != nil {
		line = setOnly(line, "cwd", folder)
	}
	if parent := h.Header().ParentSession; parent != "" {
		if id := parentID(parent); id != parent {
			line = setOnly(line, "parentSession", id)
		} else if count(line, "parentSession") > 1 {
			line = setOnly(line, "parentSession", parent)
		}
	}
	return h.withHeader(line)
}

// Local is what a head needs to be true on this machine.
type Local struct {
	Cwd     string // the folder of the project
	Parent  string // the path of the parent's file if it is here, else ""
	Dialect string // of the conversation if the file goes to the root of another program, else ""
}

// Localized returns a head from a store as the head of a file of this machine. It is the inverse of [Head.Shipped].
func (h Head) Localized(l Local) Head {
	line := h.Header().Raw
	if rawjson.Get(line, "cwd") != nil {
		line = rawjson.SetString(line, "cwd", l.Cwd)
	}
	if l.Parent != "" && h.Header().ParentSession != "" {
		line = rawjson.SetString(line, "parentSession", l.Parent)
	}
	if l.Dialect != "" {
		line = rawjson.SetString(line, "dialect", l.Dialect)
	}
	return h.withHeader(line)
}

// setOnly sets a member, and removes others of the same name: the last one counts, but all are sent.
func setOnly(line []byte, key, value string) []byte {
	if count(line, key) > 1 {
		line = rawjson.Delete(line, key)
	}
	return rawjson.SetString(line, key, value)
}

// count returns how many members of an object are called key.
func count(line []byte, key string) (n int) {
	rawjson.Members(line, func(k, _ []byte) bool {
		if name, _ := rawjson.String(k); name == key {
			n++
		}
		return true
	})
	return n
}

// parentID returns the id in the name of a session file, as the programs form it: TIME_ID.jsonl. Anything but a path is returned as it
// is.
func parentID(parent string) string {
	const ext = ".jsonl"
	slash := strings.LastIndexAny(parent, `/\`)
	if slash < 0 && !strings.HasSuffix(parent, ext) {
		return parent
	}
	name := parent[slash+1:]
	for strings.HasSuffix(name, ext) {
		name = strings.TrimSuffix(name, ext)
	}
	if _, id, ok := strings.Cut(name, "_"); ok && id != "" {
		name = id
	}
	return name
}
