package upkeep

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// The files of one trashed item. The names are fixed, so that no content or name of a
// session file can lead out of the directory, and they keep the artifacts where
// [session.ArtifactDir] looks for them.
const (
	trashRecordName = "trashed.json"
	trashedName     = "session.jsonl"
)

// trashRecord is the content of trashed.json: the information needed to restore
// everything.
type trashRecord struct {
	Path      string `json:"path"`
	Artifacts string `json:"artifacts,omitempty"` // for people; [session.ArtifactDir] says the same
	TrashedAt string `json:"trashedAt"`
	SessionID string `json:"sessionId,omitempty"` // "" when the header cannot be read
}

// Trash moves the session file at path and its artifact directory into a directory of their own in the trash of the
// agent directory they belong to, ours for a session outside every root. It returns that directory, the argument of
// [Untrash]. Damaged, empty and newer ones can be trashed too. After an error everything is where it was; if even
// moving it back fails, the error says where it is. After a crash it is in one of the two places. A file that changes
// meanwhile stays, and the error is of kind stale.
//
// Differs: the originals remove the file and then its artifacts, for good.
func Trash(s *session.Store, path string) (trashed string, err error) {
	path = filepath.Clean(path)
	was, err := disk.Regular(s.Fs, path)
	if err != nil {
		return "", err
	}
	id, err := trashable(s, path, was.Size)
	if err != nil {
		return "", err
	}
	trash, err := trashFor(s, path)
	if err != nil {
		return "", err
	}
	unlock, err := lockFiles(s, path)
	if err != nil {
		return "", err
	}
	defer unlock()
	undo, err := makeDir(s, trash)
	if err != nil {
		return "", err
	}
	dir, err := newTrashDir(s, trash)
	if err == nil {
		if err = fillTrash(s, dir, path, id, was); err == nil {
			return dir, nil
		}
		clearTrashDir(s, dir)
	}
	undo()
	return "", err
}

// trashable returns the id of the session at path, "" if it cannot be read. A file that is
// neither a session nor in a directory of sessions is not ours to remove.
func trashable(s *session.Store, path string, size int64) (id string, err error) {
	if head, ok, err := library.ReadHeader(s.Fs, path); err == nil && ok {
		return head.ID, nil
	}
	if _, ok := s.RootOf(path); !ok || !library.IsSessionName(filepath.Base(path)) {
		return "", library.NoHeaderFault(path, size)
	}
	return "", nil
}

// maxTrashNames bounds the number of names tried for a new directory in the trash.
const maxTrashNames = 200

// trashFor is the trash of the root that the session at path belongs to. It is beside the
// images, because a root keeps its data there, and so on the file system of its sessions.
func trashFor(s *session.Store, path string) (string, error) {
	root, ok := s.RootOf(path)
	if !ok {
		dir, err := s.DirFor(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		root, _ = s.RootOf(filepath.Join(dir, trashedName))
	}
	if root.Blobs == "" {
		return "", fault.New(fault.Internal, "There is no trash for %s.", path).With("path", path)
	}
	return filepath.Join(filepath.Dir(root.Blobs), "trash"), nil
}

// newTrashDir makes a new directory, never one that exists.
func newTrashDir(s *session.Store, trash string) (dir string, err error) {
	for range maxTrashNames {
		dir = filepath.Join(trash, s.NewID())
		if err = s.Fs.Mkdir(dir, disk.DirMode); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", disk.Fault("create", dir, err)
	}
	durable.SyncDir(s.Fs, trash)
	return dir, nil
}

// fillTrash moves the session at path into dir. The file is moved before its artifacts:
// the artifacts that a crash leaves behind are then still where Untrash would put them.
func fillTrash(s *session.Store, dir, path, id string, was disk.State) error {
	r := trashRecord{Path: path, TrashedAt: session.FormatTime(s.Now()), SessionID: id}
	artifacts, hasArtifacts, err := artifactsOf(s, path)
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
	record, file := filepath.Join(dir, trashRecordName), filepath.Join(dir, trashedName)
	err = disk.Create(s.Fs, record, s.NewID(), func(w io.Writer) error { return disk.WriteLines(w, [][]byte{text}) })
	if err == nil {
		err = carry(s, path, file, &was)
	}
	if err != nil || !hasArtifacts {
		return err
	}
	to, _ := session.ArtifactDir(file)
	if err := carry(s, artifacts, to, nil); err != nil {
		if back := carry(s, file, path, nil); back != nil {
			return errors.Join(err, fault.New(fault.IO, "%s is in the trash, at %s.", path, dir).With("path", dir), back)
		}
		return err
	}
	return nil
}

// clearTrashDir removes a trash directory that contains only its record.
func clearTrashDir(s *session.Store, dir string) {
	names, err := afero.ReadDir(s.Fs, dir)
	if err != nil {
		return
	}
	for _, n := range names {
		if n.Name() != trashRecordName {
			return
		}
	}
	_ = s.Fs.Remove(filepath.Join(dir, trashRecordName)) // an empty record does no harm
	removeEmpty(s.Fs, dir)
}

// Untrash moves the files that [Trash] moved to trashed back to where they were, and
// returns the session's path. Nothing is ever overwritten: the error is of kind fileExists
// if anything is there by now. It is of kind outsideRoot if trashed is not in one of our
// trash directories, and of kind notFound if it does not exist. After an error everything
// is still in the trash.
func Untrash(s *session.Store, trashed string) (path string, err error) {
	dir := filepath.Clean(trashed)
	r, err := readTrash(s, dir)
	if err != nil {
		return "", err
	}
	session := filepath.Join(dir, trashedName)
	was, err := disk.Regular(s.Fs, session)
	if err != nil {
		return "", err
	}
	if err := taken(s, r.Path); err != nil {
		return "", err
	}
	undo, err := makeDir(s, filepath.Dir(r.Path))
	if err != nil {
		return "", err
	}
	if err := takeFromTrash(s, session, r.Path, was); err != nil {
		undo()
		return "", err
	}
	clearTrashDir(s, dir)
	return r.Path, nil
}

// takeFromTrash moves a session back. The artifacts are moved first, as they were moved
// last before.
func takeFromTrash(s *session.Store, file, path string, was disk.State) error {
	unlock, err := lockFiles(s, path)
	if err != nil {
		return err
	}
	defer unlock()
	artifacts, hasArtifacts, err := artifactsOf(s, file)
	if err != nil {
		return err
	}
	to, ok := session.ArtifactDir(path)
	hasArtifacts = hasArtifacts && ok
	double := hasArtifacts && twins(s, artifacts, to)
	if hasArtifacts && !double {
		if err := carry(s, artifacts, to, nil); err != nil {
			return err
		}
	}
	err = carry(s, file, path, &was)
	switch {
	case err == nil && double:
		_ = removeTree(s.Fs, artifacts) // the remaining files are a second copy
	case err != nil && hasArtifacts && !double:
		return errors.Join(err, carry(s, to, artifacts, nil))
	}
	return err
}

// readTrash reads the record of a directory of our trash. A record anywhere else is not
// trusted: it would let a planted file name any path.
func readTrash(s *session.Store, dir string) (r trashRecord, err error) {
	outside := fault.New(fault.OutsideRoot, "%s is not in the trash.", dir).With("path", dir)
	if !isSessionID(filepath.Base(dir)) {
		return r, outside
	}
	info, err := disk.Lstat(s.Fs, dir)
	if err != nil {
		return r, disk.Fault("read", dir, err)
	}
	text, err := afero.ReadFile(s.Fs, filepath.Join(dir, trashRecordName))
	if !info.IsDir() || errors.Is(err, fs.ErrNotExist) {
		return r, outside
	} else if err != nil {
		return r, disk.Fault("read", dir, err)
	}
	if json.Unmarshal(text, &r) != nil || library.CheckCwd(r.Path) != nil || filepath.Clean(r.Path) != r.Path {
		return r, outside
	}
	if trash, err := trashFor(s, r.Path); err != nil || trash != filepath.Dir(dir) {
		return r, outside
	}
	return r, nil
}

// isSessionID reports whether name has the form of our own ids.
func isSessionID(name string) bool {
	return len(name) == 16 && strings.Trim(name, "0123456789abcdef") == ""
}
