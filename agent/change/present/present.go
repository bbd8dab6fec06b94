package present

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/contents"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/regular"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Options configure a [Presenter].
type Options struct {
	Fs        afero.Fs
	Documents change.Documents // nil: no open documents
	Folder    string           // the folder of the session; links above it are trusted
	MaxFile   int64            // bytes above which a file is large; 0 is [contents.DefaultMaxFile]
	Excluded  func(abs string) bool
	Protected func(abs string) string // why a path must not be changed, "" if it may be; nil: no path is protected
}

// Presenter reads the state of paths. It caches directories, so it is for a single plan. It is not safe for concurrent use.
type Presenter struct {
	o    Options
	ctx  context.Context //nolint:containedctx // the presenter lives as long as one plan
	dirs map[string]directory
}

// New returns a presenter. Its methods fail when ctx is done.
func New(ctx context.Context, o Options) *Presenter {
	if o.Documents == nil {
		o.Documents = change.NoDocuments{}
	}
	if o.MaxFile <= 0 {
		o.MaxFile = contents.DefaultMaxFile
	}
	return &Presenter{o: o, ctx: ctx, dirs: map[string]directory{}}
}

// Look returns the present state of an absolute path. It only returns errors of the context.
func (p *Presenter) Look(abs string) (plan.Now, error) {
	if err := p.ctx.Err(); err != nil {
		return plan.Now{}, err
	}
	now, err := p.onDisk(abs)
	if err != nil {
		return now, err
	}
	p.withDocument(abs, &now)
	if now.Block == "" && p.o.Protected != nil {
		if why := p.o.Protected(abs); why != "" {
			now.Block, now.Why = wire.Denied, why
		}
	}
	return now, nil
}

// onDisk returns the state of a path on disk.
func (p *Presenter) onDisk(abs string) (now plan.Now, err error) {
	dir := p.directory(filepath.Dir(abs))
	if dir.real != filepath.Dir(abs) {
		now.Real = filepath.Join(dir.real, filepath.Base(abs))
	}
	if dir.block != "" {
		now.Block, now.Why = dir.block, dir.why
	}
	if now.Parent = dir.file; now.Parent != "" {
		now.State.Kind = change.Absent
		return now, nil
	}
	info, err := disk.Lstat(p.o.Fs, abs)
	switch {
	case disk.NotThere(err), errors.Is(err, fs.ErrInvalid), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL):
		now.State.Kind = change.Absent
		return now, nil
	case err != nil:
		unknown(&now, err)
		return now, nil
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := disk.Readlink(p.o.Fs, abs)
		if err != nil {
			unknown(&now, err)
			return now, nil
		}
		now.Content = []byte(target)
		now.State = change.State{Kind: change.Link, SHA256: change.Sum(now.Content), Size: int64(len(target))}
	case !info.Mode().IsRegular():
		now.State.Kind, now.Dir = change.Special, info.IsDir()
	default:
		err = p.file(abs, info, &now)
	}
	return now, err
}

// file reads a regular file. It checks that the opened file is the one that info describes.
func (p *Presenter) file(abs string, info fs.FileInfo, now *plan.Now) error {
	now.Same = identity(info)
	now.State = change.State{Kind: change.Regular, Mode: uint32(info.Mode().Perm()), Size: info.Size()}
	f, err := regular.Open(p.o.Fs, abs)
	if err != nil {
		unknown(now, err)
		return nil
	}
	defer func() { _ = f.Close() }() // nothing was written
	if opened, err := f.Stat(); err != nil || !sameFile(info, opened) {
		unknown(now, errors.Join(err, errors.New("it is being changed")))
		return nil
	}
	if info.Size() > p.o.MaxFile || p.o.Excluded != nil && p.o.Excluded(abs) {
		now.State.Kind = change.Large
		now.State.SHA256, now.State.Size, err = hash(p.ctx, f)
	} else {
		now.Content, err = io.ReadAll(io.LimitReader(f, p.o.MaxFile+1))
		now.State.SHA256, now.State.Size = change.Sum(now.Content), int64(len(now.Content))
	}
	if p.ctx.Err() != nil {
		return p.ctx.Err()
	}
	if err != nil || now.State.Kind == change.Regular && now.State.Size > p.o.MaxFile {
		unknown(now, errors.Join(err, errors.New("it is being changed")))
	}
	return nil
}

// unknown marks now as unknown: it equals no state and can't be changed.
func unknown(now *plan.Now, err error) {
	now.Content, now.Unknown, now.Block = nil, true, wire.Denied
	now.State.Kind, now.State.SHA256 = change.Special, "unknown"
	if errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.ETXTBSY) {
		now.Block = wire.Locked
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		now.Why = f.Message
		return
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	now.Why = fault.OneLine("The file can't be read: " + strings.ReplaceAll(err.Error(), "\n", "; ") + ".")
}
