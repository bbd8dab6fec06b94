package session

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// Into is where [Store.ForkInto] makes a session, and in which form.
type Into struct {
	Program Dialect
	Dir     string // the directory of the new file; it need not exist
	Cwd     string // of the new session
	LeafID  string // the entry at which the program continues; "" for the newest one
}

// ForkInto copies the session at path, whichever program wrote it, into a new session in the form of a program, and
// opens the copy. Unlike [Store.ForkFrom], it converts the entries: the copy has no line that the program does not know, and
// continues with the same messages. The source is never changed. Its errors are those of ForkFrom, and NotFound for an unknown
// leaf.
//
// All branches are copied. What has no counterpart is left out: settings that only the other program has, its records of
// billing, and lines that cannot be read. A conversation that was cleared begins at a new root. Labels and the title are kept.
func (s *Store) ForkInto(path string, into Into) (*Log, error) {
	doc, err := s.Load(path)
	if err != nil {
		return nil, Closing(err, doc)
	}
	fork, err := s.forkConverted(doc, path, into)
	return fork, Closing(err, doc)
}

func (s *Store) forkConverted(d *Document, source string, into Into) (*Log, error) {
	if d.header.Version > CurrentVersion {
		return nil, fault.New(fault.NewerVersion, "%s was written by a newer program (version %d); it cannot be converted.", source, d.header.Version).
			With("version", d.header.Version).With("path", source)
	}
	leaf := d.Len() - 1
	if into.LeafID != "" {
		i, err := d.Index(into.LeafID)
		if err != nil {
			return nil, err
		}
		leaf = i
	}
	id, at := s.ids.sessionOf(into.Program), FormatTime(s.Now())
	file := filepath.Join(into.Dir, FileName(at, id))
	c := &converter{
		doc: d, to: into.Program, at: at, newID: s.ids.entry, ids: map[string]bool{},
		named: map[int]string{}, images: forkInto{blobs: s.foreignBlobs(source, into.Dir)},
	}
	if err := c.plan(); err != nil {
		return nil, err
	}
	err := disk.Create(s.Fs, file, id, func(w io.Writer) error {
		return c.write(w, id, into.Cwd, source, leaf)
	})
	if err != nil {
		return nil, err
	}
	if into.Program != Pi { // which keeps no files beside a session
		s.copyArtifacts(source, file)
	}
	return s.Open(file)
}

// sessionOf returns a new session id in the form of a program: pi and omp have UUIDs that begin with the time.
func (g *ids) sessionOf(d Dialect) string {
	var b [16]byte
	if d == Xcsh {
		return g.session()
	}
	if _, err := io.ReadFull(g.random, b[:]); err != nil {
		return g.session()
	}
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(max(0, g.now().UnixMilli())))
	copy(b[:6], ms[2:])
	b[6], b[8] = b[6]&0x0F|0x70, b[8]&0x3F|0x80
	h := hex.EncodeToString(b[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// converter writes a session in the form of another program.
type converter struct {
	doc    *Document
	to     Dialect
	at     string // the time of entries that it adds
	newID  func(taken func(string) bool) string
	ids    map[string]bool // that are in the copy
	images forkInto

	out      []bool  // entries that are left out
	above    []int32 // the nearest entry that is not, from each one upwards; -1 for none
	children []int32 // how many each entry has
	steps    int     // that may still be taken from entry to entry, so that no session takes quadratic time

	named map[int]string         // the ids of entries that had none
	edits map[string]contextEdit // by the id of the entry that an edit is about
	last  string                 // the id of the last entry written
}

// plan determines which entries are left out.
func (c *converter) plan() error {
	n := c.doc.Len()
	c.out, c.edits = make([]bool, n), map[string]contextEdit{}
	c.above, c.children, c.steps = make([]int32, n), make([]int32, n), 4*n+maxSteps
	for i := range n {
		if p := c.doc.tree.parentOf(i); p >= 0 {
			c.children[p]++
		}
	}
	for i := range n {
		if c.doc.tree.typ(i) == typeContextEdit && c.to != Pi {
			e, err := c.doc.Entry(i)
			if err != nil {
				return err
			}
			if edit := e.asContextEdit(); c.undivided(edit.TargetID, i) {
				c.edits[edit.TargetID] = edit
			}
		}
	}
	return c.doc.eachOnDisk(allEntries(c.doc), keepLine, func(i int, line []byte) error {
		c.out[i] = c.isLeftOut(c.doc.entryOf(i, line))
		switch p := c.doc.tree.parentOf(i); {
		case !c.out[i]:
			c.above[i] = int32(i)
			c.name(i)
		case p >= 0 && p < i:
			c.above[i] = c.above[p]
		default:
			c.above[i] = -1
		}
		return nil
	})
}

// name gives an entry without an id one, because the program may continue below it.
func (c *converter) name(i int) {
	id := c.doc.tree.id(i)
	if id == "" {
		id = c.newID(func(id string) bool { return c.ids[id] || c.doc.has(id) })
		c.named[i] = id
	}
	c.ids[id] = true
}

func (c *converter) idOf(i int) string {
	if id := c.named[i]; id != "" {
		return id
	}
	return c.doc.tree.id(i)
}

// maxSteps is enough for what programs write.
const maxSteps = 1 << 22

func keepLine(line []byte) []byte { return line }

// undivided reports whether the entry called target is above entry i without a branch between them, so that what i says about
// it holds wherever it is part of the conversation.
func (c *converter) undivided(target string, i int) bool {
	top, ok := c.doc.tree.find(target)
	for j := c.doc.tree.parentOf(i); ok && j >= 0 && c.children[j] == 1 && c.steps > 0; j = c.doc.tree.parentOf(j) {
		if c.steps--; j == top {
			return true
		}
	}
	return false
}

// isLeftOut reports whether the program has no counterpart of an entry.
func (c *converter) isLeftOut(e Entry) bool {
	if edit, ok := c.edits[e.ID]; ok && edit.Content == nil {
		return true
	}
	switch e.Type {
	case TypeMessage:
		return c.messageIsLeftOut(e)
	case TypeCompaction, TypeBranchSummary, TypeCustom, TypeCustomMessage, TypeThinkingLevel:
		return false
	case TypeLabel:
		_, ok := c.doc.tree.find(e.AsLabel().TargetID)
		return !ok
	case TypeModelChange:
		m := e.AsModelChange()
		return m.Model == "" || c.to == Pi && m.Role != "default"
	case typeResetBoundary:
		return false // a root, where it is not known
	case typeContextEdit, typeUsage:
		return c.to != Pi
	case typeServiceTier, TypeModeChange, typeMCPToolSelection, typeTTSRInjection, TypeSessionInit:
		return c.to == Pi
	case typeContextChange:
		return c.to != Xcsh
	case typeModelUsage, TypeTitleChange, typeCredentialPin:
		return c.to != Omp
	}
	return true // a title, which is written at the end, or a type of an unknown program
}

// messageIsLeftOut is isLeftOut for a message: one that is never shown to a model, and system prompts, of which
// only pi keeps records.
func (c *converter) messageIsLeftOut(e Entry) bool {
	m := e.Message()
	if m == nil {
		return true
	}
	switch e.Role() {
	case "system":
		return c.to != Pi
	case "pythonExecution":
		if c.to == Pi && rawjson.Truthy(rawjson.Get(m, "excludeFromContext")) {
			return true
		}
	}
	return c.doc.dialect == Omp && c.to != Omp && ompMessage(e) == nil
}

// keptAbove returns the id of entry i or of the nearest one above it that is in the copy; "" if there is none.
func (c *converter) keptAbove(i int) string {
	if i < 0 || c.above[i] < 0 {
		return ""
	}
	return c.idOf(int(c.above[i]))
}

// keptBelow returns the id of the entry that takes the place of the one called id on the path to entry i: itself, or the next one
// that is in the copy.
func (c *converter) keptBelow(id string, i int) string {
	first, ok := c.doc.tree.find(id)
	if !ok || !c.out[first] {
		return id
	}
	next := ""
	for j := range c.doc.tree.upward(i) {
		if c.steps--; c.steps <= 0 || j == first {
			return next
		}
		if !c.out[j] && j != i {
			next = c.doc.tree.id(j)
		}
	}
	return next
}

func (c *converter) write(w io.Writer, id, cwd, parent string, leaf int) error {
	title := &c.doc.title
	if title.Text == "" || c.to != Xcsh {
		title = nil
	}
	if c.to == Omp && c.doc.title.Text != "" {
		if _, err := w.Write(titleSlot(c.doc.title, c.at)); err != nil {
			return err
		}
	}
	if err := writeLine(w, NewHeader(id, c.at, cwd, title, parent)); err != nil {
		return err
	}
	err := c.doc.eachOnDisk(allEntries(c.doc), keepLine, func(i int, line []byte) error {
		if c.out[i] {
			return nil
		}
		c.last = c.idOf(i)
		return writeLine(w, singleLine(c.images.withImages(c.entry(i, line))))
	})
	if err != nil {
		return err
	}
	return c.writeEnd(w, c.keptAbove(leaf))
}

// writeEnd writes the title in pi's form, below the leaf. If there is none, but the leaf is not the last entry, it
// writes an entry that makes it the place where the program continues.
func (c *converter) writeEnd(w io.Writer, leaf string) error {
	d := DraftCustom("xcsh-ls.leaf", []byte("{}"))
	switch {
	case c.to == Pi && c.doc.title.Text != "":
		d = draftSessionInfo(c.doc.title.Text, false)
	case c.last == leaf:
		return nil
	}
	id := c.newID(func(id string) bool { return c.ids[id] })
	return writeLine(w, d.Line(id, leaf, c.at))
}

// entry returns the line of entry i in the program's form.
func (c *converter) entry(i int, line []byte) []byte {
	e := c.doc.entryOf(i, line)
	if e.ID == "" {
		e.ID = c.named[i]
		line = rawjson.SetString(line, "id", e.ID)
		e.Raw = line
	}
	switch e.Type {
	case TypeMessage:
		line = c.message(e)
	case TypeModelChange:
		line = c.again(e, c.modelChange(e.AsModelChange()))
	case TypeThinkingLevel:
		line = c.again(e, DraftSetting(TypeThinkingLevel, rawjson.Quote(e.AsThinkingLevel())))
	case TypeCompaction:
		line = c.compaction(i, e)
	case typeResetBoundary:
		if c.to != Omp {
			return DraftCustom("xcsh-ls.cleared", []byte("{}")).Line(e.ID, "", e.Timestamp)
		}
	case TypeCustomMessage:
		if edit, ok := c.edits[e.ID]; ok {
			line = rawjson.Set(line, "content", edit.Content)
		}
	}
	if parent := c.doc.tree.parentOf(i); parent >= 0 && c.out[parent] {
		line = withParent(line, c.keptAbove(parent))
	}
	return line
}

// again returns the line of e with other content.
func (c *converter) again(e Entry, d *Draft) []byte { return d.Line(e.ID, e.ParentID, e.Timestamp) }

func (c *converter) modelChange(m ModelChange) *Draft {
	provider, model, _ := strings.Cut(m.Model, "/")
	role := m.Role
	if role == "default" {
		role = ""
	}
	return DraftModelChange(c.to, provider, model, role)
}

// compaction converts the members that differ, and names another first entry where that is left out.
func (c *converter) compaction(i int, e Entry) []byte {
	line, first := []byte(e.Raw), ""
	if first, _ = rawjson.GetString(line, "firstKeptEntryId"); first != "" {
		first = c.keptBelow(first, i)
	}
	if first == "" && c.to == Pi {
		first = e.ID // pi's way to keep none
	}
	line = rawjson.SetString(line, "firstKeptEntryId", first)
	extension := e.AsCompaction().FromExtension
	line = rawjson.Delete(rawjson.Delete(line, "fromHook"), "fromExtension")
	if extension {
		name := "fromExtension"
		if c.to == Pi {
			name = "fromHook"
		}
		line = rawjson.Set(line, name, []byte("true"))
	}
	if c.to != Pi {
		return rawjson.Delete(line, "systemMessage")
	}
	// These are for the service that made the summary, and only the other program returns them.
	return rawjson.Delete(rawjson.Delete(line, "preserveData"), "providerReplayThroughEntryId")
}

// message converts a message of a role that the program does not have.
func (c *converter) message(e Entry) []byte {
	m := []byte(e.Message())
	if edit, ok := c.edits[e.ID]; ok {
		m = replaceContent(m, edit.Content)
		return rawjson.Set(e.Raw, "message", m)
	}
	if c.to != Pi {
		return e.Raw
	}
	role := e.Role()
	switch role {
	case "developer", "hookMessage":
		return c.custom(e, role, rawjson.Get(m, "content"), rawjson.Truthy(rawjson.Get(m, "display")))
	case "pythonExecution":
		return c.custom(e, role, rawjson.Quote(pythonText(m)), true)
	case "fileMention":
		return c.custom(e, role, fileMentionContent(m), true)
	}
	return e.Raw
}

// custom returns the line of e as an extension's message.
func (c *converter) custom(e Entry, kind string, content []byte, display bool) []byte {
	if k := rawjson.Kind(content); k != '"' && k != '[' {
		content = []byte(`""`)
	}
	return c.again(e, draft(TypeCustomMessage).str("customType", kind).raw("content", content).
		raw("display", strconv.AppendBool(nil, display)))
}

// pythonText is a record of Python code that the user ran, in words.
func pythonText(m []byte) string {
	code, _ := rawjson.GetString(m, "code")
	output, _ := rawjson.GetString(m, "output")
	text := "Ran Python:\n```\n" + code + "\n```\n"
	if output == "" {
		return text + "(no output)"
	}
	return text + "Output:\n```\n" + output + "\n```"
}

// fileMentionContent is the files that a prompt named, as blocks of text and images.
func fileMentionContent(m []byte) []byte {
	var blocks [][]byte
	rawjson.Elements(rawjson.Get(m, "files"), func(f []byte) bool {
		path, _ := rawjson.GetString(f, "path")
		text, _ := rawjson.GetString(f, "content")
		blocks = append(blocks, new(rawjson.Object).String("type", "text").String("text", "File "+path+":\n"+text).Bytes())
		if image := rawjson.Get(f, "image"); rawjson.Kind(image) == '{' {
			blocks = append(blocks, slices.Clone(image))
		}
		return true
	})
	return rawjson.Array(blocks)
}
