package upkeep

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Relocate moves the session at path to toCwd: its file and artifact directory move to the
// directory for that cwd, under the same name, and the header gets the new cwd. Nothing
// else in the file changes, regardless of its version and damage. It returns the new path.
// The session must not be open.
//
// The old file exists until the new file is synced and read back; anything at the new path
// stays, and the error is of kind fileExists. After an error the session is where it was,
// also if a file changed meanwhile (kind stale). The error is of kind notFound if toCwd is
// not a directory, and of kind outsideRoot for a session of another program.
func Relocate(s *session.Store, path, toCwd string) (newPath string, err error) {
	newPath, err = Destination(s, path, toCwd)
	if err != nil {
		return "", err
	}
	return newPath, Refile(s, path, newPath, filepath.Clean(toCwd))
}

// Destination is where [Relocate] would move the session at path to.
func Destination(s *session.Store, path, toCwd string) (string, error) {
	if err := movable(s, path); err != nil {
		return "", err
	}
	missing := fault.New(fault.NotFound, "Directory not found: %s", toCwd).With("path", toCwd)
	if library.CheckCwd(toCwd) != nil {
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
	if !library.IsSessionName(name) { // it was named by hand, and no list would show it
		name = strings.TrimSuffix(strings.TrimLeft(name, "."), ".jsonl") + ".jsonl"
	}
	return filepath.Join(dir, name), nil
}

// movable refuses sessions in another program's root.
func movable(s *session.Store, path string) error {
	if root, ok := s.RootOf(path); ok && root.Dialect != session.Xcsh {
		return fault.New(fault.OutsideRoot, "%s belongs to %s, which would not find it again; fork it instead.", path, root.Dialect).With("path", path)
	}
	return nil
}

// Refile is [Relocate] to exactly the path to, for undoing a relocation. An empty cwd
// means that the header has none.
func Refile(s *session.Store, path, to, cwd string) error {
	if err := cmp.Or(movable(s, path), movable(s, to)); err != nil {
		return err
	}
	r := refiling{Store: s, path: filepath.Clean(path), to: filepath.Clean(to), cwd: cwd}
	if err := r.look(); err != nil {
		return err
	}
	if r.path == r.to {
		unlock, err := lockFiles(s, r.path)
		if err != nil {
			return err
		}
		defer unlock()
		return r.write(r.unchanged)
	}
	undo, err := makeDir(s, filepath.Dir(r.to))
	if err != nil {
		return err
	}
	// In the same order in either direction, so that no two wait for each other.
	unlock, err := lockFiles(s, min(r.path, r.to), max(r.path, r.to))
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
	*session.Store
	path, to, cwd string

	was    disk.State               // of the file at path
	at     struct{ off, end int64 } // of its header
	header []byte                   // that replaces it
	id     string
	put    bool       // the new file has its name
	done   disk.State // of the new file, once it was seen
}

// look reads the session to be moved.
func (r *refiling) look() (err error) {
	if r.was, err = disk.Regular(r.Fs, r.path); err != nil {
		return err
	}
	doc, err := r.Load(r.path)
	if err != nil {
		return session.Closing(err, doc)
	}
	if err := doc.Close(); err != nil {
		return disk.Fault("read", r.path, err)
	}
	if doc.Header().Version > session.CurrentVersion {
		return fault.New(fault.NewerVersion, "%s was written by a newer program (version %d); it can be read but not moved.",
			r.path, doc.Header().Version).With("version", doc.Header().Version).With("path", r.path)
	}
	// Raw is the line as it is in the file; a migrated header would not be.
	r.at.off, r.at.end = doc.HeaderSpan()
	r.id, r.header = doc.Header().ID, rawjson.Delete(doc.Header().Raw, "cwd")
	if r.cwd != "" {
		r.header = rawjson.SetString(doc.Header().Raw, "cwd", r.cwd)
	}
	return nil
}

// run moves the session to a free path.
func (r *refiling) run() error {
	artifacts, hasArtifacts, err := artifactsOf(r.Store, r.path)
	to, ok := session.ArtifactDir(r.to)
	hasArtifacts = hasArtifacts && ok
	if err == nil && hasArtifacts {
		err = taken(r.Store, to)
	}
	if err == nil {
		err = r.write(r.free)
	}
	if err == nil {
		err = r.verify()
	}
	if err == nil && hasArtifacts {
		err = carry(r.Store, artifacts, to, nil)
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
		if back := carry(r.Store, to, artifacts, nil); back != nil {
			return errors.Join(err, back)
		}
	}
	return r.dropNew(err)
}

func (r *refiling) unchanged() error { return still(r.Store, r.path, r.was) }

// free is called right before the new file gets its name.
func (r *refiling) free() error { return cmp.Or(taken(r.Store, r.to), r.unchanged()) }

// write writes the file with its new header to r.to.
func (r *refiling) write(ready func() error) error {
	err := disk.Replace(r.Fs, r.to, r.NewID(), r.was.Info.Mode().Perm()&disk.DirMode|disk.FileMode, r.content, ready)
	if err != nil {
		return err
	}
	r.put = true
	keepTime(r.Store, r.to, r.was.Mod)
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
		_, err = io.Copy(w, io.NewSectionReader(f, r.at.end, r.was.Size-r.at.end))
	}
	return errors.Join(err, f.Close())
}

// verify reads back the written file.
func (r *refiling) verify() (err error) {
	if r.done, err = disk.Regular(r.Fs, r.to); err != nil {
		return err
	}
	head, _, err := library.ReadHeader(r.Fs, r.to)
	if err != nil {
		return err
	}
	size := r.was.Size - (r.at.end - r.at.off) + int64(len(r.header))
	if r.done.Size != size || head.ID != r.id || head.Cwd != r.cwd {
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
		return disk.Fault("remove", r.path, err)
	}
	durable.SyncDir(r.Fs, filepath.Dir(r.path))
	return nil
}

// dropNew removes the new file after the error why, if it is the one that we wrote and the
// old one is still there.
func (r *refiling) dropNew(why error) error {
	if r.put && r.done.Info == nil && r.verify() != nil {
		return why // its owner is unknown
	}
	if r.done.Info == nil || taken(r.Store, r.path) == nil || still(r.Store, r.to, r.done) != nil {
		return why
	}
	return errors.Join(why, r.Fs.Remove(r.to))
}
