package session

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// Fork copies the session l into a new file beside it and opens that one. Every entry
// keeps its bytes; the header gets a new id and time and names the old id as parent;
// the title and the artifact directory come along. The file is written at once, even
// without an answer in it. A session in memory is kind notPersistent.
//
// The copy of another program's session is filed among ours. Its header remembers by
// whose rules the conversation is to be read.
func (s *Store) Fork(l *Log) (fork *Log, err error) {
	if !l.Persistent() {
		return nil, fault.New(fault.NotPersistent, "Fork failed (session not persisted or cancelled)")
	}
	err = l.View(func(d *Document, _ Leaf) error {
		dir, err := s.dirForFork(l.path, d.header.Cwd)
		if err != nil {
			return err
		}
		fork, err = s.forkDocument(d, forkInto{
			dir: dir, cwd: d.header.Cwd, parent: d.header.ID, title: &d.title, artifacts: l.path, blobs: s.foreignBlobs(l.path, dir),
		})
		return err
	})
	return fork, err
}

// dirForFork is where a fork of the session at path belongs: beside it, or among ours
// when it is another program's.
func (s *Store) dirForFork(path, cwd string) (string, error) {
	if s.RootFor != nil && cwd != "" {
		if root, ok := s.RootFor(path); ok && root.Dialect != Xcsh {
			return s.DirFor(cwd)
		}
	}
	return filepath.Dir(path), nil
}

// ForkFrom copies the session at path, whichever program wrote it, into a new session
// of cwd and opens that one. The source is never changed. A missing source is kind
// notFound, an unreadable one kind damaged.
//
// Differs: xcsh makes an empty session of a source that cannot be read, and leaves
// the artifacts behind.
func (s *Store) ForkFrom(path, cwd string) (*Log, error) {
	doc, err := s.Load(path)
	if err != nil {
		return nil, closing(err, doc)
	}
	dir, err := s.DirFor(cwd)
	if err != nil {
		return nil, closing(err, doc)
	}
	fork, err := s.forkDocument(doc, forkInto{
		dir: dir, cwd: cwd, parent: doc.header.ID, title: &doc.title, artifacts: path, blobs: s.foreignBlobs(path, dir),
	})
	return fork, closing(err, doc)
}

// foreignBlobs returns the images of a source whose store is not the one that the
// copy at dir will look in, so that the copy must carry them itself.
func (s *Store) foreignBlobs(path, dir string) BlobSource {
	from, _ := s.BlobsFor(path).(BlobDir)
	to, _ := s.BlobsFor(filepath.Join(dir, "x.jsonl")).(BlobDir)
	if from.Dir == "" || from.Dir == to.Dir {
		return nil
	}
	return from
}

// Position says which side of an entry a partial fork ends on.
type Position string

// The positions of [Store.ForkAt].
const (
	Before Position = "before" // up to the entry's parent; the entry must be a user message
	AtIt   Position = "at"     // up to and with the entry
)

// ForkAt copies the path to one entry into a new file beside the session and opens
// that one. Labels on the path are made anew at its end. The header names the old
// file as parent. With [Before] the text of the user message is returned, to be
// edited and sent again; before the first message the new session is empty.
func (s *Store) ForkAt(l *Log, entryID string, at Position) (fork *Log, text string, err error) {
	if !l.Persistent() {
		return nil, "", fault.New(fault.NotPersistent, "Fork failed (session not persisted or cancelled)")
	}
	err = l.View(func(d *Document, _ Leaf) error {
		i, err := d.Index(entryID)
		if err != nil {
			return err
		}
		end := i
		if at == Before {
			e, err := d.Entry(i)
			if err != nil {
				return err
			}
			if e.Role() != "user" {
				return fault.New(fault.InvalidArgument, "Invalid entry ID for forking").With("field", "entryId")
			}
			text, end = MessageText(e.Message()), d.Parent(i)
		}
		dir, err := s.dirForFork(l.path, d.header.Cwd)
		if err != nil {
			return err
		}
		into := forkInto{dir: dir, cwd: d.header.Cwd, parent: l.path, artifacts: l.path, blobs: s.foreignBlobs(l.path, dir)}
		if end < 0 {
			fork = s.emptyFork(into)
			return nil
		}
		into.path = d.PathTo(atPlace(end))
		fork, err = s.forkDocument(d, into)
		return err
	})
	return fork, text, err
}

// emptyFork is a fork of nothing: a new session that waits for its first answer.
func (s *Store) emptyFork(into forkInto) *Log {
	doc, name := s.newDocument(into.cwd, NewOptions{Parent: into.parent})
	doc.path = filepath.Join(into.dir, name)
	return newLog(s, doc, doc.path, true)
}

type forkInto struct {
	dir, cwd, parent string
	title            *Title     // nil: none
	artifacts        string     // the session whose artifact directory is copied
	path             []int      // the entries to copy as a branch of their own; nil: all, as they are
	blobs            BlobSource // images to put into the copy
}

func (s *Store) forkDocument(d *Document, into forkInto) (*Log, error) {
	id, at := s.ids.Session(), FormatTime(s.now())
	title := into.title
	if title != nil && title.Text == "" {
		title = nil
	}
	header := newHeader(id, at, into.cwd, title, into.parent)
	if d.dialect != Xcsh {
		header = rawjson.SetString(header, "dialect", d.dialect.String())
	}
	entries := allEntries(d)
	if into.path != nil {
		entries = into.path
	}
	path := filepath.Join(into.dir, FileName(at, id))
	lines, err := d.lines(s.forDisk(path), header, entries)
	if err != nil {
		return nil, err
	}
	if into.path != nil {
		if lines, err = s.asBranch(d, into.path, lines); err != nil {
			return nil, err
		}
	}
	if into.blobs != nil {
		for i, line := range lines {
			lines[i] = resolveBlobs(line, into.blobs, 0, func(string, error) {})
		}
	}
	if err := createFile(s.Fs, path, id, func(w io.Writer) error { return writeLines(w, lines) }); err != nil {
		return nil, err
	}
	s.copyArtifacts(into.artifacts, path)
	return s.Open(path)
}

// asBranch takes label entries out of the copied path, ties the ends together and
// labels anew what is still there.
//
// Differs: xcsh leaves the children of a removed label without a parent, which cuts
// off everything above them, and a compaction that keeps from a label keeps nothing.
func (s *Store) asBranch(d *Document, path []int, lines [][]byte) ([][]byte, error) {
	labels, err := d.Labels()
	if err != nil {
		return nil, err
	}
	instead := d.afterLabels(path)
	out := lines[:1]
	parent, cut := "", false
	ids := map[string]bool{}
	for n, i := range path {
		r, line := &d.tree.recs[i], lines[n+1]
		if r.typ == TypeLabel {
			cut = true
			continue
		}
		if cut {
			value := []byte("null")
			if parent != "" {
				value = rawjson.Quote(parent)
			}
			line, cut = rawjson.Set(line, "parentId", value), false
		}
		if r.typ == TypeCompaction {
			line = redirect(line, instead)
		}
		out, parent = append(out, line), r.id
		ids[r.id] = true
	}
	for _, i := range path {
		target := d.tree.recs[i].id
		text := labels[target]
		if text == "" || !ids[target] {
			continue
		}
		id := s.ids.Entry(func(id string) bool { return ids[id] })
		ids[id] = true
		out = append(out, DraftLabel(target, text).line(id, parent, FormatTime(s.now())))
		parent = id
	}
	return out, nil
}

// afterLabels maps each label entry of the path to the entry that takes its place: the
// next one that is no label.
func (d *Document) afterLabels(path []int) map[string]string {
	instead := map[string]string{}
	next := ""
	for _, i := range slices.Backward(path) {
		r := &d.tree.recs[i]
		if r.typ != TypeLabel {
			next = r.id
		} else if next != "" {
			instead[r.id] = next
		}
	}
	return instead
}

// redirect makes a compaction keep from the entry that took a label's place.
func redirect(line []byte, instead map[string]string) []byte {
	for _, key := range []string{"firstKeptEntryId", "providerReplayThroughEntryId"} {
		id, _ := rawjson.GetString(line, key)
		if to := instead[id]; to != "" {
			line = rawjson.SetString(line, key, to)
		}
	}
	return line
}

// lines returns a header and the lines of the entries at the given indexes. What is in
// memory only goes through disk first; what comes from a file is copied as it is.
func (d *Document) lines(disk func([]byte) []byte, header []byte, entries []int) ([][]byte, error) {
	lines := [][]byte{header}
	for _, i := range entries {
		raw, err := d.raw(i)
		if err != nil {
			return nil, err
		}
		if d.tree.recs[i].mem != nil {
			raw = disk(raw)
		}
		lines = append(lines, raw)
	}
	return lines, nil
}

func allEntries(d *Document) []int {
	all := make([]int, d.Len())
	for i := range all {
		all[i] = i
	}
	return all
}

// ArtifactDir is the directory beside a session's file that holds what its tools
// wrote: the file's path without .jsonl. A path without that ending has none.
//
// Differs: the originals cut six characters off any path.
func ArtifactDir(path string) (dir string, ok bool) { return strings.CutSuffix(path, ".jsonl") }

// copyArtifacts is best effort: a conversation is worth having without them.
func (s *Store) copyArtifacts(from, to string) {
	fromDir, ok := ArtifactDir(from)
	toDir, _ := ArtifactDir(to)
	if !ok {
		return
	}
	if rel, err := filepath.Rel(fromDir, toDir); err == nil && filepath.IsLocal(rel) {
		return // a directory of sessions that happens to be called like one
	}
	if err := copyTree(s.Fs, fromDir, toDir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("artifacts were not copied", zapPath(fromDir), zapError(err))
	}
}
