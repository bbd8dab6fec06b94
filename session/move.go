package session

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// Relocate makes the session at path one of toCwd: its file and artifact directory move
// to where that directory's sessions are, under the same name, and the header says so.
// Nothing else in the file changes, whatever its version and whatever is damaged in it.
// It returns the new path. The session must not be open.
//
// Until the new file is synced and read back, the old one is there; anything at the new
// place is kind fileExists and stays. After an error the session is where it was, a
// file that changes meanwhile (kind stale) included. A toCwd that is no directory is
// kind notFound, a session of another program kind outsideRoot.
func (s *Store) Relocate(path, toCwd string) (newPath string, err error) {
	newPath, err = s.Destination(path, toCwd)
	if err != nil {
		return "", err
	}
	return newPath, s.Refile(path, newPath, filepath.Clean(toCwd))
}

// Destination is where [Store.Relocate] would move the session at path to.
func (s *Store) Destination(path, toCwd string) (string, error) {
	if err := s.movable(path); err != nil {
		return "", err
	}
	missing := fault.New(fault.NotFound, "Directory not found: %s", toCwd).With("path", toCwd)
	if checkCwd(toCwd) != nil {
		return "", missing
	}
	toCwd = filepath.Clean(toCwd)
	if info, err := s.Fs.Stat(toCwd); err != nil || !info.IsDir() {
		return "", missing
	}
	dir, err := s.DirFor(toCwd)
	if err != nil {
		return "", err
	}
	name := filepath.Base(path)
	if !isSessionName(name) { // it was named by hand, and no list would show it
		name = strings.TrimSuffix(strings.TrimLeft(name, "."), ".jsonl") + ".jsonl"
	}
	return filepath.Join(dir, name), nil
}

// movable refuses sessions in another program's root.
func (s *Store) movable(path string) error {
	if root, ok := s.root(path); ok && root.Dialect != Xcsh {
		return fault.New(fault.OutsideRoot, "%s belongs to %s, which would not find it again; fork it instead.", path, root.Dialect).With("path", path)
	}
	return nil
}

// Refile is [Store.Relocate] to exactly the path to, for taking a relocation back. An
// empty cwd means that the header names none.
func (s *Store) Refile(path, to, cwd string) error {
	if err := cmp.Or(s.movable(path), s.movable(to)); err != nil {
		return err
	}
	r := refiling{Store: s, path: filepath.Clean(path), to: filepath.Clean(to), cwd: cwd}
	if err := r.look(); err != nil {
		return err
	}
	if r.path == r.to {
		unlock, err := s.lock(r.path)
		if err != nil {
			return err
		}
		defer unlock()
		return r.write(r.unchanged)
	}
	undo, err := s.makeDir(filepath.Dir(r.to))
	if err != nil {
		return err
	}
	// In the same order whichever way a session goes, so that no two wait for each other.
	unlock, err := s.lock(min(r.path, r.to), max(r.path, r.to))
	if err == nil {
		err = r.run()
		unlock()
	}
	if err != nil {
		undo()
	}
	return err
}

// refiling is one move of a session under way.
type refiling struct {
	*Store
	path, to, cwd string

	was    fileState // of the file at path
	at     span      // of its header
	header []byte    // that replaces it
	id     string
	put    bool      // the new file has its name
	done   fileState // of the new file, once it was seen
}

// look reads what is to be moved.
func (r *refiling) look() (err error) {
	if r.was, err = r.regular(r.path); err != nil {
		return err
	}
	doc, err := r.Load(r.path)
	if err != nil {
		return closing(err, doc)
	}
	if err := doc.Close(); err != nil {
		return ioFault("read", r.path, err)
	}
	if doc.header.Version > CurrentVersion {
		return fault.New(fault.NewerVersion, "%s was written by a newer program (version %d); it can be read but not moved.",
			r.path, doc.header.Version).With("version", doc.header.Version).With("path", r.path)
	}
	// Raw is the line as it is in the file; a migrated header would not be.
	r.at, r.id, r.header = doc.headerAt, doc.header.ID, rawjson.Delete(doc.header.Raw, "cwd")
	if r.cwd != "" {
		r.header = rawjson.SetString(doc.header.Raw, "cwd", r.cwd)
	}
	return nil
}

// run moves the session to where nothing is.
func (r *refiling) run() error {
	artifacts, hasArtifacts, err := r.artifactsOf(r.path)
	to, ok := ArtifactDir(r.to)
	hasArtifacts = hasArtifacts && ok
	if err == nil && hasArtifacts {
		err = r.taken(to)
	}
	if err == nil {
		err = r.write(r.free)
	}
	if err == nil {
		err = r.verify()
	}
	if err == nil && hasArtifacts {
		err = r.carry(artifacts, to, nil)
		hasArtifacts = err == nil
	}
	if err != nil {
		return r.dropNew(err)
	}
	if err = r.dropOld(); err == nil {
		return nil
	}
	if hasArtifacts {
		// Two sessions are better than artifacts without one.
		if back := r.carry(to, artifacts, nil); back != nil {
			return errors.Join(err, back)
		}
	}
	return r.dropNew(err)
}

func (r *refiling) unchanged() error { return r.still(r.path, r.was) }

// free is asked right before the new file gets its name.
func (r *refiling) free() error { return cmp.Or(r.taken(r.to), r.unchanged()) }

// write puts the file with its new header at r.to.
func (r *refiling) write(ready func() error) error {
	err := replaceFile(r.Fs, r.to, r.ids.Session(), r.was.info.Mode().Perm()&dirMode|fileMode, r.content, ready)
	if err != nil {
		return err
	}
	r.put = true
	r.keepTime(r.to, r.was.mod)
	return nil
}

func (r *refiling) content(w io.Writer) error {
	f, err := r.Fs.Open(r.path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, io.NewSectionReader(f, 0, r.at.off))
	if err == nil {
		_, err = w.Write(r.header)
	}
	if err == nil {
		_, err = io.Copy(w, io.NewSectionReader(f, r.at.end, r.was.size-r.at.end))
	}
	return errors.Join(err, f.Close())
}

// verify reads back what was written.
func (r *refiling) verify() (err error) {
	if r.done, err = r.regular(r.to); err != nil {
		return err
	}
	head, err := Finder{Fs: r.Fs}.readHead(r.to)
	if err != nil {
		return err
	}
	size := r.was.size - (r.at.end - r.at.off) + int64(len(r.header))
	if r.done.size != size || head.header.ID != r.id || head.header.Cwd != r.cwd {
		return fault.New(fault.IO, "%s did not read back as it was written; the session stays where it was.", r.to).With("path", r.to)
	}
	return nil
}

// dropOld removes the old file if it is still the one that was copied.
func (r *refiling) dropOld() error {
	if err := r.unchanged(); err != nil {
		return err
	}
	if err := r.Fs.Remove(r.path); err != nil {
		return ioFault("remove", r.path, err)
	}
	syncDir(r.Fs, filepath.Dir(r.path))
	return nil
}

// dropNew takes the new file back after why, if it is the one that we wrote and the old
// one is still there.
func (r *refiling) dropNew(why error) error {
	if r.put && r.done.info == nil && r.verify() != nil {
		return why // nobody can say whose it is
	}
	if r.done.info == nil || r.taken(r.path) == nil || r.still(r.to, r.done) != nil {
		return why
	}
	return errors.Join(why, r.Fs.Remove(r.to))
}
