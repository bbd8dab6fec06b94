package pull

import (
	"context"
	"errors"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// Pull brings a session of the store into a file for the project's folder cwd, and returns its path. The file is in the directory
// where the session's own program keeps the sessions of the folder, or in ours. Its header names the folder; the rest is the
// store's, byte for byte. A session of an older format is converted first, also in the store.
//
// If a file of the folder has the session already, it gets the lines that are missing, and its path is returned. If it
// continued differently, the session becomes a fork beside it.
//
// It returns a NotFound error for a session that is missing or hidden, a Damaged error if the store's bytes are not those that were sent
// (then nothing stays behind), a NoSpace error before anything is written, a Busy error while another process pulls or writes the
// session, a Cancelled or an Offline error, after which another call continues, or the error of the storage.
func (p *Puller) Pull(ctx context.Context, sid team.SID, cwd string, progress Progress) (path string, err error) {
	err = retried(sid, func() error {
		r, err := p.look(ctx, sid)
		if err == nil {
			path, err = p.pull(ctx, r, cwd, progress)
		}
		return err
	})
	return path, err
}

// alone takes the lock of the hidden file of a session. Several sessions may have the same.
func (p *Puller) alone(r remote, t target) (release func() error, err error) {
	if p.LockDir == "" {
		return func() error { return nil }, nil
	}
	lock, err := p.Sessions.Locks.OpenSession(p.LockDir, hidden(t.dir, t.name), "")
	if fault.Is(err, fault.Busy) {
		return nil, fault.New(fault.Busy, "The session %s is being pulled already. Wait until that ends.", r.sid)
	}
	return lock.Release, err
}

func (p *Puller) pull(ctx context.Context, r remote, cwd string, progress Progress) (path string, err error) {
	t, err := p.target(ctx, r, cwd)
	if err != nil {
		return "", err
	}
	release, err := p.alone(r, t)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, release()) }()
	path, differs, err := p.continued(ctx, r, t, progress)
	if path != "" || err != nil {
		return path, err
	}
	if differs {
		if t, err = t.forked(r); err != nil {
			return "", err
		}
		path, err := p.here(ctx, cwd, t.head.Header().ID, t.dir)
		if path != "" || err != nil { // the fork of an earlier pull may have been continued
			return path, err
		}
	}
	return p.create(ctx, r, t, progress)
}

// continued looks for a file that has the session, and appends what is missing. path is "" if there is none, or if it differs.
func (p *Puller) continued(ctx context.Context, r remote, t target, progress Progress) (path string, differs bool, err error) {
	path, err = p.here(ctx, t.cwd, r.at.Header().ID, t.dir)
	if path == "" || err != nil {
		return "", false, err
	}
	_, err = p.rest(ctx, r, path, progress)
	if fault.Is(err, fault.Conflict) {
		return "", true, nil
	}
	if err != nil {
		return "", false, err
	}
	p.clean(t)
	return path, false, nil
}

// create pulls a session into a new file.
func (p *Puller) create(ctx context.Context, r remote, t target, progress Progress) (string, error) {
	var err error
	if r.old() {
		if t.head, err = p.versionNow(ctx, r, t.head); err != nil {
			return "", err
		}
	}
	temp, err := p.download(ctx, r, t, progress)
	if err != nil {
		return "", err
	}
	if r.old() {
		if temp, err = p.convert(ctx, r, t, temp); err != nil {
			return "", err
		}
	}
	path, err := p.place(temp, t.dir, t.name)
	if err == nil {
		p.clean(t)
	}
	return path, err
}

// clean removes the hidden files of a session that is here: the unconverted one, and those of a pull that was killed, one of which may
// be a second name of the session. A file that stays behind costs space only, and the next pull removes it.
func (p *Puller) clean(t target) {
	_ = p.fs.Remove(hidden(t.dir, t.name))
	_ = p.fs.Remove(hidden(t.dir, t.name+current))
}

// download writes the complete session to its hidden file, and returns the path. After an error the file keeps what came, unless the
// store is damaged.
func (p *Puller) download(ctx context.Context, r remote, t target, progress Progress) (temp string, err error) {
	u, err := p.begin(ctx, r, t.dir, t.name, t.head.Raw)
	if err != nil {
		return "", err
	}
	f := &fetch{p: p, r: r, sum: u.sum, write: u.write, step: func(done int64) error {
		progress.step(done, max(done, r.tip.Len))
		return nil
	}}
	if err = p.space(t.dir, r.tip.Len-f.at()); err == nil {
		progress.step(f.at(), r.tip.Len)
		err = f.run(ctx)
	}
	if closeErr := u.close(err == nil); err == nil {
		err = closeErr
	}
	if fault.Is(err, fault.Damaged) {
		u.remove()
	}
	return u.path, err
}

// space checks that a directory has room for n bytes.
func (p *Puller) space(dir string, n int64) error {
	free, ok := p.Free(dir)
	if !ok || n <= free {
		return nil
	}
	const mega = 1 << 20
	return fault.New(fault.NoSpace, "The session needs %d MB in %s, and %d MB are free; nothing was written. Make room and pull it again.",
		(n+mega-1)/mega, dir, free/mega).With("path", dir)
}
