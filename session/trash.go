package session

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// The files of one thing in the trash. The names are fixed, so that nothing that a
// session file says or is called can lead out of the directory, and they keep the
// artifacts where [ArtifactDir] looks for them.
const (
	trashRecordName = "trashed.json"
	trashedName     = "session.jsonl"
)

// trashRecord is the content of trashed.json: what it takes to put everything back.
type trashRecord struct {
	Path      string `json:"path"`
	Artifacts string `json:"artifacts,omitempty"` // for people; [ArtifactDir] says the same
	TrashedAt string `json:"trashedAt"`
	SessionID string `json:"sessionId,omitempty"` // "" when the header cannot be read
}

// Trash moves the session file at path and its artifact directory into a directory of
// their own in the trash of the agent directory they belong to, ours for a session
// outside every root. It returns that directory, which [Store.Untrash] takes. Damaged,
// empty and newer ones can be trashed too. After an error everything is where it was; should even taking it back fail, the error
// says where it is. After a crash it is in one of the two places. A file that changes
// meanwhile is kind stale and stays.
//
// Differs: the originals remove the file and then its artifacts, for good.
func (s *Store) Trash(path string) (trashed string, err error) {
	path = filepath.Clean(path)
	was, err := s.regular(path)
	if err != nil {
		return "", err
	}
	id, err := s.trashable(path, was.size)
	if err != nil {
		return "", err
	}
	trash, err := s.trashFor(path)
	if err != nil {
		return "", err
	}
	unlock, err := s.lock(path)
	if err != nil {
		return "", err
	}
	defer unlock()
	undo, err := s.makeDir(trash)
	if err != nil {
		return "", err
	}
	dir, err := s.newTrashDir(trash)
	if err == nil {
		if err = s.fillTrash(dir, path, id, was); err == nil {
			return dir, nil
		}
		s.clearTrashDir(dir)
	}
	undo()
	return "", err
}

// trashable returns the id of the session at path, "" when it cannot be read. A file
// that neither is a session nor lies where sessions do is not ours to throw away.
func (s *Store) trashable(path string, size int64) (id string, err error) {
	head, err := Finder{Fs: s.Fs}.readHead(path)
	if err == nil && head.found {
		return head.header.ID, nil
	}
	if _, ok := s.root(path); !ok || !isSessionName(filepath.Base(path)) {
		return "", noHeaderFault(path, size)
	}
	return "", nil
}

// trashFor is the trash of the root that the session at path belongs to. It is beside
// the images, because that is where a root keeps its data and so on the file system of
// its sessions.
func (s *Store) trashFor(path string) (string, error) {
	root, ok := s.root(path)
	if !ok {
		dir, err := s.DirFor(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		root, _ = s.root(filepath.Join(dir, trashedName))
	}
	if root.Blobs == "" {
		return "", fault.New(fault.Internal, "There is no trash for %s.", path).With("path", path)
	}
	return filepath.Join(filepath.Dir(root.Blobs), "trash"), nil
}

// newTrashDir makes a directory that nobody else has.
func (s *Store) newTrashDir(trash string) (dir string, err error) {
	for range maxRetries {
		dir = filepath.Join(trash, s.ids.Session())
		if err = s.Fs.Mkdir(dir, dirMode); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", ioFault("create", dir, err)
	}
	return dir, nil
}

// fillTrash puts the session at path into dir. The file goes before its artifacts:
// whatever a crash leaves behind then still lies where Untrash would put it.
func (s *Store) fillTrash(dir, path, id string, was fileState) error {
	r := trashRecord{Path: path, TrashedAt: FormatTime(s.now()), SessionID: id}
	artifacts, hasArtifacts, err := s.artifactsOf(path)
	if err != nil {
		return err
	}
	if hasArtifacts {
		r.Artifacts = artifacts
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	record, session := filepath.Join(dir, trashRecordName), filepath.Join(dir, trashedName)
	err = createFile(s.Fs, record, s.ids.Session(), func(w io.Writer) error { return writeLines(w, [][]byte{text}) })
	if err == nil {
		err = s.carry(path, session, &was)
	}
	if err != nil || !hasArtifacts {
		return err
	}
	to, _ := ArtifactDir(session)
	if err := s.carry(artifacts, to, nil); err != nil {
		if back := s.carry(session, path, nil); back != nil {
			return errors.Join(err, fault.New(fault.IO, "%s is in the trash, at %s.", path, dir).With("path", dir), back)
		}
		return err
	}
	return nil
}

// clearTrashDir removes a trash directory that holds nothing but its record.
func (s *Store) clearTrashDir(dir string) {
	names, err := afero.ReadDir(s.Fs, dir)
	if err != nil {
		return
	}
	for _, n := range names {
		if n.Name() != trashRecordName {
			return
		}
	}
	_ = s.Fs.Remove(filepath.Join(dir, trashRecordName)) // a record of nothing does no harm
	removeEmpty(s.Fs, dir)
}

// Untrash puts what [Store.Trash] moved to trashed back to where it was, and returns
// the session's path. Nothing is ever overwritten: anything there by now is kind
// fileExists. A directory that is not one of our trash's is kind outsideRoot, one that
// does not exist kind notFound. After an error everything is still in the trash.
func (s *Store) Untrash(trashed string) (path string, err error) {
	dir := filepath.Clean(trashed)
	r, err := s.readTrash(dir)
	if err != nil {
		return "", err
	}
	session := filepath.Join(dir, trashedName)
	was, err := s.regular(session)
	if err != nil {
		return "", err
	}
	if err := s.taken(r.Path); err != nil {
		return "", err
	}
	undo, err := s.makeDir(filepath.Dir(r.Path))
	if err != nil {
		return "", err
	}
	if err := s.takeFromTrash(session, r.Path, was); err != nil {
		undo()
		return "", err
	}
	s.clearTrashDir(dir)
	return r.Path, nil
}

// takeFromTrash carries a session back. The artifacts go first, as they came last.
func (s *Store) takeFromTrash(session, path string, was fileState) error {
	unlock, err := s.lock(path)
	if err != nil {
		return err
	}
	defer unlock()
	artifacts, hasArtifacts, err := s.artifactsOf(session)
	if err != nil {
		return err
	}
	to, ok := ArtifactDir(path)
	hasArtifacts = hasArtifacts && ok
	double := hasArtifacts && s.twins(artifacts, to)
	if hasArtifacts && !double {
		if err := s.carry(artifacts, to, nil); err != nil {
			return err
		}
	}
	err = s.carry(session, path, &was)
	switch {
	case err == nil && double:
		_ = removeTree(s.Fs, artifacts) // what stays is a second copy
	case err != nil && hasArtifacts && !double:
		return errors.Join(err, s.carry(to, artifacts, nil))
	}
	return err
}

// readTrash reads the record of a directory of our trash. A record anywhere else is
// not believed: it would let a file that somebody planted name any place.
func (s *Store) readTrash(dir string) (r trashRecord, err error) {
	outside := fault.New(fault.OutsideRoot, "%s is not in the trash.", dir).With("path", dir)
	if !isSessionID(filepath.Base(dir)) {
		return r, outside
	}
	info, err := s.lstat(dir)
	if err != nil {
		return r, ioFault("read", dir, err)
	}
	text, err := afero.ReadFile(s.Fs, filepath.Join(dir, trashRecordName))
	if !info.IsDir() || errors.Is(err, fs.ErrNotExist) {
		return r, outside
	} else if err != nil {
		return r, ioFault("read", dir, err)
	}
	if json.Unmarshal(text, &r) != nil || checkCwd(r.Path) != nil || filepath.Clean(r.Path) != r.Path {
		return r, outside
	}
	if trash, err := s.trashFor(r.Path); err != nil || trash != filepath.Dir(dir) {
		return r, outside
	}
	return r, nil
}

// isSessionID reports whether name has the form of the ids that we make.
func isSessionID(name string) bool {
	return len(name) == 16 && strings.Trim(name, "0123456789abcdef") == ""
}
