package upkeep

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// RemoveTrashed deletes the session that [Trash] moved to trashed, with its artifacts, for good. Only a directory that
// [Untrash] would restore is removed, and links in it are not followed. It leaves the list of the trash by one rename:
// after an error before that, all of it can still be restored; after one behind it, the error says where the rest is,
// which a collection of garbage removes later.
func RemoveTrashed(s *session.Store, trashed string) error {
	dir := filepath.Clean(trashed)
	if _, err := readTrash(s, dir); err != nil {
		return err
	}
	if _, err := disk.Regular(s.Fs, filepath.Join(dir, trashedName)); err != nil {
		return err
	}
	aside, err := setAside(s, dir)
	if err != nil {
		return err
	}
	durable.SyncDir(s.Fs, filepath.Dir(dir))
	if err := removeTree(s.Fs, aside); err != nil {
		f := fault.New(fault.IO, "The session was removed from the trash, but some of its files are still in %s.", aside).With("path", aside)
		f.Err = err
		return f
	}
	durable.SyncDir(s.Fs, filepath.Dir(dir))
	return nil
}

// setAside renames a directory of the trash to a free name of collected garbage, which [ListTrash] does not list.
func setAside(s *session.Store, dir string) (aside string, err error) {
	at := s.Now().UTC()
	for range maxTrashNames {
		aside = filepath.Join(filepath.Dir(dir), at.Format(gcDirLayout))
		if _, err := disk.Lstat(s.Fs, aside); errors.Is(err, fs.ErrNotExist) {
			return aside, disk.FaultOrNil("remove", dir, durable.Rename(s.Fs, dir, aside))
		} else if err != nil {
			return "", disk.Fault("remove", dir, err)
		}
		at = at.Add(time.Millisecond)
	}
	return "", fault.New(fault.IO, "%s cannot be removed: there is no free name for it.", dir).With("path", dir)
}
