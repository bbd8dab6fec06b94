package gen

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	compactAfter = 700 << 10 // bytes of live context after which a session is compacted
	compactKeep  = 80 << 10  // bytes of it that stay

	isoTime = "2006-01-02T15:04:05.000Z"
)

// node is one entry of the tree that is written.
type node struct {
	id     string
	parent int // -1: none
	size   int
	user   bool
	turn   bool // a message
	shown  bool // gives a model a message
	keeps  int  // of a compaction: the first entry it keeps; else -1
}

// writer writes one session.
type writer struct {
	preset Preset
	text   *text
	r      *rand.Rand
	at     time.Time // of the last entry
	target int64     // bytes
	facts  *Manifest
	is     Session

	out     *bufio.Writer
	line    []byte // the entry being made
	open    node
	nodes   []node
	ids     map[string]bool
	leaf    int
	live    int // bytes of context since the last compaction
	written int64
}

func (w *writer) write(home string) error {
	w.is.ID = w.sessionID()
	w.ids, w.leaf = map[string]bool{}, -1
	name := strings.NewReplacer(":", "-", ".", "-").Replace(w.at.Format(isoTime)) + "_" + w.is.ID + ".jsonl"
	dir := "--" + strings.ReplaceAll(w.is.Cwd[1:], "/", "-") + "--"
	w.is.Path = filepath.Join("."+string(w.preset.Flavour), "agent", "sessions", dir, name)
	path := filepath.Join(home, w.is.Path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w.out = bufio.NewWriterSize(f, 1<<18)
	w.conversation()
	if err := w.out.Flush(); err != nil {
		return errors.Join(err, f.Close())
	}
	if w.is.Torn {
		err = f.Truncate(w.tear())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	w.count()
	return os.Chtimes(path, w.at, w.at)
}

// sessionID is a UUID of version 7, as pi and omp make them, or 16 hex digits, as xcsh does.
func (w *writer) sessionID() string {
	if w.preset.Flavour == Xcsh { // a snowflake
		return fmt.Sprintf("%016x", w.r.Uint64())
	}
	ms, a, b := uint64(w.at.UnixMilli()), w.r.Uint64(), w.r.Uint64()
	return fmt.Sprintf("%08x-%04x-7%03x-%04x-%012x", ms>>16, ms&0xffff, a&0xfff, 0x8000|(b>>48)&0x3fff, b&0xffffffffffff)
}

func (w *writer) conversation() {
	if w.preset.Flavour == Omp {
		w.titleSlot()
	}
	w.line = fmt.Appendf(w.line[:0], `{"type":"session","version":3,"id":"%s","timestamp":"%s","cwd":"%s"}`, w.is.ID, w.at.Format(isoTime), w.is.Cwd)
	w.flush()
	w.modelChange()
	w.thinkingLevel()
	for first := true; first || w.written < w.target; first = false {
		if !w.preset.Flat && w.live > compactAfter {
			w.compact()
		}
		if !w.preset.Flat && w.r.IntN(12) == 0 {
			w.branch()
		}
		w.exchange(first && w.is.Needle)
		w.aside()
	}
}

// flush writes the line that was made.
func (w *writer) flush() {
	w.line = append(w.line, '\n')
	n, _ := w.out.Write(w.line) // the error stays and is returned by Flush
	w.written += int64(n)
}

// begin begins an entry after the leaf.
func (w *writer) begin(typ string) {
	w.at = w.at.Add(time.Duration(200+w.r.IntN(12_000)) * time.Millisecond)
	w.open = node{id: w.entryID(), parent: w.leaf, keeps: -1}
	parent := "null"
	if w.leaf >= 0 {
		parent = `"` + w.nodes[w.leaf].id + `"`
	}
	w.line = fmt.Appendf(w.line[:0], `{"type":"%s","id":"%s","parentId":%s,"timestamp":"%s"`, typ, w.open.id, parent, w.at.Format(isoTime))
}

// end ends the entry and makes it the leaf.
func (w *writer) end() {
	w.add("}")
	w.flush()
	w.open.size = len(w.line)
	w.nodes = append(w.nodes, w.open)
	w.leaf = len(w.nodes) - 1
	w.live += len(w.line)
}

func (w *writer) add(format string, args ...any) { w.line = fmt.Appendf(w.line, format, args...) }

// addText adds a text of about n bytes.
func (w *writer) addText(k kind, n int) {
	if w.preset.Brief {
		n = min(n, 24)
	}
	w.line = w.text.appendText(w.line, w.r, k, n)
}

func (w *writer) entryID() string {
	for {
		if id := fmt.Sprintf("%08x", w.r.Uint32()); !w.ids[id] {
			w.ids[id] = true
			return id
		}
	}
}

// compact hides the entries of the path except for its end, which begins with a prompt.
func (w *writer) compact() {
	keep, kept := w.leaf, 0
	for w.nodes[keep].parent >= 0 && (kept < compactKeep || !w.nodes[keep].user) {
		kept += w.nodes[keep].size
		keep = w.nodes[keep].parent
	}
	before := w.live / 4
	w.begin("compaction")
	w.open.keeps, w.open.shown = keep, true
	w.add(`,"summary":"`)
	w.addText(prose, 4000+w.r.IntN(4000))
	w.add(`","shortSummary":"`)
	w.addText(prose, 40)
	w.add(`","firstKeptEntryId":"%s","tokensBefore":%d`, w.nodes[keep].id, before)
	w.end()
	w.live = kept
	w.facts.Compactions++
}

// branch moves the leaf to before an earlier prompt, if the path has one nearby.
func (w *writer) branch() {
	at, size := w.leaf, 0
	for hops := 5 + w.r.IntN(40); hops > 0 || !w.nodes[at].user; hops-- {
		if n := w.nodes[at]; n.parent < 0 || n.keeps >= 0 {
			return
		}
		size += w.nodes[at].size
		at = w.nodes[at].parent
	}
	from := w.nodes[w.leaf].id
	w.leaf, w.live = w.nodes[at].parent, w.live-size-w.nodes[at].size
	w.facts.Branches++
	if w.r.IntN(2) == 0 {
		w.begin("branch_summary")
		w.open.shown = true
		w.add(`,"fromId":"%s","summary":"`, from)
		w.addText(prose, 300+w.r.IntN(900))
		w.add(`"`)
		w.end()
	}
}

// tear returns where to cut the file so that its last line stops in the middle.
func (w *writer) tear() int64 {
	last := w.nodes[len(w.nodes)-1]
	w.nodes = w.nodes[:len(w.nodes)-1]
	w.leaf = len(w.nodes) - 1
	w.written -= int64(2 + w.r.IntN(last.size-2))
	return w.written
}

// count completes the known facts of the file.
func (w *writer) count() {
	w.is.Entries, w.is.LeafID = len(w.nodes), w.nodes[len(w.nodes)-1].id
	for _, n := range w.nodes {
		if n.turn {
			w.is.Messages++
		}
	}
	keeps, compacted := -1, false
	for i := len(w.nodes) - 1; i >= 0; i = w.nodes[i].parent {
		n := w.nodes[i]
		if n.shown && (n.keeps < 0 || !compacted) {
			w.is.Context++
		}
		if n.keeps >= 0 && !compacted {
			compacted, keeps = true, n.keeps
		}
		if compacted && i == keeps {
			break
		}
	}
	w.facts.Bytes += w.written
	w.facts.Entries += len(w.nodes)
	if w.is.Torn {
		w.facts.Torn++
	}
}
