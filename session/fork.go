package session

import (
	"context"
	"errors"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// Fork copies the session l into a new file beside it and opens the copy. Everything after
// the header is copied byte for byte, unreadable lines included; the header gets a new id
// and time and names the old id as parent; the title and the artifact directory are copied
// too. The file is written at once, even without an answer in it. A session in memory is a
// NotPersistent error.
//
// Differs: xcsh leaves out lines that it cannot read.
//
// The copy of another program's session goes into this program's session directory. Its
// header records the dialect of the conversation.
func (s *Store) Fork(l *Log) (fork *Log, err error) {
	if !l.Persistent() {
		return nil, fault.New(fault.NotPersistent, "Fork failed (session not persisted or cancelled)")
	}
	if err := l.settle(context.Background()); err != nil {
		return nil, err
	}
	err = l.View(func(d *Document, _ Leaf) error {
		dir, err := s.dirForFork(l.path, d.header.Cwd)
		if err != nil {
			return err
		}
		fork, err = s.forkDocument(d, forkInto{
			dir: dir, cwd: d.header.Cwd, parent: d.header.ID, title: &d.title,
			source: l.path, unsaved: l.unsaved, blobs: s.foreignBlobs(l.path, dir),
		})
		return err
	})
	return fork, err
}

// dirForFork returns the directory for a fork of the session at path: the session's own
// directory, or this program's if the session belongs to another one.
func (s *Store) dirForFork(path, cwd string) (string, error) {
	if s.RootFor != nil && cwd != "" {
		if root, ok := s.RootFor(path); ok && root.Dialect != Xcsh {
			return s.DirFor(cwd)
		}
	}
	return filepath.Dir(path), nil
}

// ForkFrom copies the session at path, whichever program wrote it, into a new session of
// cwd and opens the copy. The source is never changed. A missing source is a NotFound
// error, an unreadable one a Damaged error.
//
// Differs: xcsh makes an empty session of a source that cannot be read, and does not copy
// the artifacts.
func (s *Store) ForkFrom(path, cwd string) (*Log, error) {
	doc, err := s.Load(path)
	if err != nil {
		return nil, Closing(err, doc)
	}
	dir, err := s.DirFor(cwd)
	if err != nil {
		return nil, Closing(err, doc)
	}
	fork, err := s.forkDocument(doc, forkInto{
		dir: dir, cwd: cwd, parent: doc.header.ID, title: &doc.title, source: path, blobs: s.foreignBlobs(path, dir),
	})
	return fork, Closing(err, doc)
}

// foreignBlobs returns the image store of the source if the copy at dir has another one, so
// that the copy must contain the images itself.
func (s *Store) foreignBlobs(path, dir string) BlobSource {
	from, _ := s.BlobsFor(path).(blobDir)
	to, _ := s.BlobsFor(filepath.Join(dir, "x.jsonl")).(blobDir)
	if from.Dir == "" || from.Dir == to.Dir {
		return nil
	}
	if ok, err := afero.DirExists(s.Fs, from.Dir); err == nil && !ok {
		return nil // nothing can be found there
	}
	return from
}

// Position determines on which side of an entry a partial fork ends.
type Position string

// The positions of [Store.ForkAt].
const (
	Before Position = "before" // up to the entry's parent; the entry must be a user message
	AtIt   Position = "at"     // up to and with the entry
)

// ForkAt copies the path to one entry into a new file beside the session and opens the
// copy. Labels on the path are written again at its end. The header names the old file as
// parent. With [Before], ForkAt returns the text of the user message, to be edited and sent
// again; before the first message the new session is empty.
func (s *Store) ForkAt(l *Log, entryID string, at Position) (fork *Log, text string, err error) {
	if !l.Persistent() {
		return nil, "", fault.New(fault.NotPersistent, "Fork failed (session not persisted or cancelled)")
	}
	if err := l.settle(context.Background()); err != nil {
		return nil, "", err
	}
	err = l.View(func(*Document, Leaf) error {
		i, err := l.index(entryID)
		if err != nil {
			return err
		}
		d, end := l.doc, i // index may have reloaded the document
		if at == Before {
			if text, end, err = d.before(i); err != nil {
				return err
			}
		}
		dir, err := s.dirForFork(l.path, d.header.Cwd)
		if err != nil {
			return err
		}
		into := forkInto{dir: dir, cwd: d.header.Cwd, parent: l.path, source: l.path, blobs: s.foreignBlobs(l.path, dir)}
		if into.path = d.forkPath(end); into.path == nil {
			fork = s.emptyFork(into)
			return nil
		}
		fork, err = s.forkDocument(d, into)
		return err
	})
	return fork, text, err
}

// before returns the text of entry i, which must be a user message, and its parent.
func (d *Document) before(i int) (text string, parent int, err error) {
	e, err := d.Entry(i)
	if err != nil {
		return "", 0, err
	}
	if e.Role() != "user" {
		return "", 0, fault.New(fault.InvalidArgument, "Invalid entry ID for forking").With("field", "entryId")
	}
	return MessageText(e.Message()), d.Parent(i), nil
}

// emptyFork returns a fork without entries: a new session without a file until its first
// answer.
func (s *Store) emptyFork(into forkInto) *Log {
	doc, name := s.newDocument(into.cwd, NewOptions{Parent: into.parent})
	doc.path = filepath.Join(into.dir, name)
	return newLog(s, doc, doc.path, true)
}

type forkInto struct {
	dir, cwd, parent string
	title            *Title     // nil: none
	source           string     // the file of the session, whose artifact directory is copied too
	unsaved          []int      // entries that are not in that file
	path             []int      // the entries to copy as a branch of their own; nil: all, as they are
	blobs            BlobSource // images to put into the copy
}

func (s *Store) forkDocument(d *Document, into forkInto) (fork *Log, err error) {
	id, at := s.NewID(), FormatTime(s.Now())
	title := into.title
	if title != nil && title.Text == "" {
		title = nil
	}
	header := NewHeader(id, at, into.cwd, title, into.parent)
	if d.dialect != Xcsh {
		header = rawjson.SetString(header, "dialect", d.dialect.String())
	}
	path := filepath.Join(into.dir, FileName(at, id))
	if into.path != nil {
		err = disk.Create(s.Fs, path, id, func(w io.Writer) error { return s.writeBranch(w, d, header, into, s.forDisk(path, d.dialect)) })
	} else {
		fork, err = s.forkWhole(d, header, into, path, id)
	}
	if err != nil {
		return nil, err
	}
	s.copyArtifacts(into.source, path)
	if fork == nil {
		fork, err = s.Open(path)
	}
	if err == nil {
		fork.titleForPi()
	}
	return fork, err
}

// forkWhole copies a session unchanged, under another header. fork is nil if the new file
// must still be read.
func (s *Store) forkWhole(d *Document, header []byte, into forkInto, path, id string) (fork *Log, err error) {
	body, err := s.bodyOf(d, into, s.forDisk(path, d.dialect))
	if err != nil {
		return nil, err
	}
	err = disk.Create(s.Fs, path, id, func(w io.Writer) error { return body.writeTo(w, header) })
	if err = errors.Join(err, body.close()); err != nil {
		return nil, disk.Fault("write", path, err)
	}
	doc, err := s.indexOfFork(path, header, body)
	if doc == nil || err != nil {
		return nil, err
	}
	return newLog(s, doc, path, false), nil
}

// writeEntries writes a header and the lines of the entries at the given indexes. Lines
// from memory pass through disk first; lines from a file are copied unchanged.
func (d *Document) writeEntries(w io.Writer, disk func([]byte) []byte, header []byte, entries []int) error {
	if err := writeLine(w, header); err != nil {
		return err
	}
	return d.eachOnDisk(entries, disk, func(_ int, line []byte) error { return writeLine(w, line) })
}

// eachOnDisk calls f with the line of each listed entry as it is, or would be, in a file. A
// line is valid only during the call.
func (d *Document) eachOnDisk(list []int, disk func([]byte) []byte, f func(i int, line []byte) error) error {
	r := lineReader{doc: d, reuse: true}
	return r.each(list, func(i int, line []byte) error {
		if d.tree.mem(i) != nil {
			line = disk(line)
		}
		return f(i, line)
	})
}

func writeLine(w io.Writer, line []byte) error {
	_, err := w.Write(line)
	if err == nil {
		_, err = w.Write([]byte{'\n'})
	}
	return err
}

func allEntries(d *Document) []int {
	all := make([]int, d.Len())
	for i := range all {
		all[i] = i
	}
	return all
}

// ArtifactDir returns the directory beside a session's file that holds the output of its
// tools: the file's path without .jsonl. ok is false for a path without that ending.
//
// Differs: the originals cut six characters off any path.
func ArtifactDir(path string) (dir string, ok bool) { return strings.CutSuffix(path, ".jsonl") }

// copyArtifacts is best effort: a conversation is useful without its artifacts.
func (s *Store) copyArtifacts(from, to string) {
	fromDir, ok := ArtifactDir(from)
	toDir, _ := ArtifactDir(to)
	if !ok {
		return
	}
	if rel, err := filepath.Rel(fromDir, toDir); err == nil && filepath.IsLocal(rel) {
		return // a directory of sessions whose name only looks like an artifact directory
	}
	if err := disk.CopyTree(s.Fs, fromDir, toDir, toFork); err != nil {
		s.Log.Warn("artifacts were not copied", zap.String("path", fromDir), zap.Error(err))
	}
}

// contentsDir is the folder of an artifact directory with the contents of changed files, each named by its hash.
const contentsDir = "changes/"

// toFork shares the contents of changed files with the fork, because they never change. Other files in their directory belong to an
// unfinished rewind or command of the source.
func toFork(rel string) disk.Copied {
	name, ok := strings.CutPrefix(rel, contentsDir)
	if !ok {
		return disk.Copy
	}
	if dir, hash := path.Split(name); len(hash) == 64 && dir == hash[:2]+"/" {
		return disk.Share
	}
	return disk.Skip
}
