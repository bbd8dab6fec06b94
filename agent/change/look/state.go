package look

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/regular"
)

// stateOf returns the present state of a path and stores its content. A file that has not changed since the last look is not read
// again. Paths below a link count as missing, because they are elsewhere.
func (l *Look) stateOf(ctx context.Context, abs string) (change.State, error) {
	if err := ctx.Err(); err != nil {
		return change.State{}, err
	}
	absent := change.State{Kind: change.Absent}
	if l.belowLink(abs) {
		return absent, nil
	}
	info, err := disk.Lstat(l.o.Fs, abs)
	if err != nil {
		return absent, nil // also paths without access, which can't be restored either
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		reader, ok := l.o.Fs.(afero.LinkReader)
		if !ok {
			return change.State{Kind: change.Special}, nil
		}
		target, err := reader.ReadlinkIfPossible(abs)
		if err != nil {
			return absent, nil
		}
		return l.keep(abs, fs.ModeSymlink, []byte(target)), nil
	case info.IsDir():
		return absent, nil // its files have their own states
	case !info.Mode().IsRegular():
		return change.State{Kind: change.Special}, nil
	}
	if st, ok := l.o.Memory.known(abs, info); ok {
		return st, nil
	}
	return l.fileState(ctx, abs, info)
}

func (l *Look) fileState(ctx context.Context, abs string, info fs.FileInfo) (change.State, error) {
	if info.Size() > l.o.Contents.MaxFile() || l.o.Contents.Excluded(abs) {
		st, err := l.hashed(ctx, abs, info)
		if err == nil && st.SHA256 != "" {
			l.o.Memory.remember(abs, info, st)
		}
		return st, err
	}
	content, now, err := regular.Read(ctx, l.o.Fs, abs, l.o.Contents.MaxFile())
	switch {
	case ctx.Err() != nil:
		return change.State{}, ctx.Err()
	case err != nil: // it grew, was removed, or can't be read
		l.limit(change.LimitBudget)
		return change.State{Kind: change.Large, Mode: uint32(info.Mode().Perm()), Size: info.Size()}, nil
	}
	st, err := l.put(abs, now.Mode().Perm(), content)
	if err == nil && identity(now) == identity(info) {
		l.o.Memory.remember(abs, info, st)
	}
	return st, nil
}

// keep stores a content. If that fails, the state still has the content's hash.
func (l *Look) keep(abs string, mode fs.FileMode, content []byte) change.State {
	st, _ := l.put(abs, mode, content)
	return st
}

func (l *Look) put(abs string, mode fs.FileMode, content []byte) (change.State, error) {
	st, err := l.o.Contents.StateWith(abs, mode, content)
	if err != nil {
		l.limit(change.LimitBudget)
	}
	return st, err
}

// hashed returns the state of a file whose content is not stored. For a huge file it hashes the identity, which changes with the file.
func (l *Look) hashed(ctx context.Context, abs string, info fs.FileInfo) (change.State, error) {
	st := change.State{Kind: change.Large, Mode: uint32(info.Mode().Perm()), Size: info.Size()}
	if info.Size() > maxHashed {
		sum := sha256.Sum256([]byte(identity(info)))
		st.SHA256 = hex.EncodeToString(sum[:])
		return st, nil
	}
	f, err := regular.Open(l.o.Fs, abs)
	if err != nil {
		return st, nil
	}
	h := sha256.New()
	_, err = io.Copy(h, &untilDone{ctx, io.LimitReader(f, maxHashed)})
	err = errors.Join(err, f.Close())
	if ctx.Err() != nil {
		return st, ctx.Err()
	}
	if err == nil {
		st.SHA256 = hex.EncodeToString(h.Sum(nil))
	}
	return st, nil
}

// untilDone reads until ctx ends.
type untilDone struct {
	ctx context.Context //nolint:containedctx // used for one read only
	io.Reader
}

func (u *untilDone) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(b)
}

// belowLink reports whether a directory above the path, below its root, is a link.
func (l *Look) belowLink(abs string) bool {
	for _, r := range l.roots {
		if rel, err := filepath.Rel(r.top, abs); err == nil && filepath.IsLocal(rel) {
			return linked(l.o.Fs, r.top, rel)
		}
	}
	return false
}

func linked(fsys afero.Fs, top, rel string) bool {
	dir := top
	for part := range strings.SplitSeq(filepath.Dir(rel), string(filepath.Separator)) {
		dir = filepath.Join(dir, part)
		if info, err := disk.Lstat(fsys, dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}
