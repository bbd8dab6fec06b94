package replicate

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/pull"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// Pull brings a session into a file for the folder cwd; see [pull.Puller.Pull]. It needs no consent. n is the number of bytes that were
// read from the store.
func (r *Replicator) Pull(ctx context.Context, sid team.SID, cwd string, progress pull.Progress) (path string, n int64, err error) {
	store, _, err := r.Connected(ctx)
	if err != nil {
		return "", 0, err
	}
	counted := &counting{Store: store}
	p, err := r.puller(counted)
	if err != nil {
		return "", 0, err
	}
	if path, err = p.Pull(ctx, sid, cwd, progress); err == nil {
		r.continues(path)
	}
	return path, counted.n.Load(), err
}

// continues notes that a session that was pulled is sent like one that begins now: it is in the store already, and with the scope
// "new" its beginning would be before the user's consent. Without a consent for the project it is not sent.
func (r *Replicator) continues(path string) {
	f, ok := r.read(path)
	if !ok {
		return
	}
	d, err := r.consent.Read()
	if err == nil && d.Sessions[f.id] == "" {
		err = r.consent.Change(consent.SetSession(f.id, consent.New))
	}
	if err != nil {
		r.c.Log.Warn("new lines of a pulled session may stay here", zap.String("path", path), zap.Error(err))
	}
}

// counting counts the bytes that are read.
type counting struct {
	team.Store
	n atomic.Int64
}

func (c *counting) Read(ctx context.Context, sid team.SID, gen int, from int64, most int, each func(team.Segment) error) error {
	return c.Store.Read(ctx, sid, gen, from, most, func(s team.Segment) error {
		c.n.Add(int64(len(s.Bytes)))
		return each(s)
	})
}

// puller returns a Puller over a store.
func (r *Replicator) puller(store team.Store) (*pull.Puller, error) {
	rules, err := shipping.NewRules(shipping.CurrentRules, r.c.Secrets...)
	if err != nil {
		return nil, err
	}
	return pull.New(pull.Config{
		Store: store, Sessions: r.c.Sessions, Library: r.c.Library, Rules: rules, LockDir: filepath.Join(r.c.Dir, "pulls"),
		After: func(d time.Duration) (<-chan time.Time, func() bool) {
			return r.c.Clock.After(d), func() bool { return true }
		},
	}), nil
}

// Follow passes a session to got, as the bytes of a file for the folder cwd: its head, with begin set, then the lines, and more as they
// arrive, until ctx ends. If the session is replaced, it begins again. got must not keep the bytes. The errors are those of
// [pull.Following.Follow].
func (r *Replicator) Follow(ctx context.Context, sid team.SID, cwd string, got func(b []byte, begin bool) error) error {
	following, err := r.follower(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(r.life, func() { cancel(nil) })
	defer stop()
	begin := func() error {
		head, err := r.headFor(ctx, sid, cwd)
		if err == nil {
			err = got(head, true)
		}
		return err
	}
	if err := begin(); err != nil {
		return err
	}
	err = following.Follow(ctx, sid, func(b []byte) {
		if ctx.Err() != nil {
			return
		}
		var err error
		if b == nil {
			err = begin()
		} else {
			err = got(b, false)
		}
		if err != nil {
			cancel(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return err
}

// follower returns the Following of the connection, which all calls share.
func (r *Replicator) follower(ctx context.Context) (*pull.Following, error) {
	store, _, err := r.Connected(ctx)
	if err != nil {
		return nil, err
	}
	p, err := r.puller(store)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn.following == nil {
		r.conn.following = pull.NewFollowing(p, false)
	}
	return r.conn.following, nil
}

// headFor returns the head of a session as that of a file for the folder cwd.
func (r *Replicator) headFor(ctx context.Context, sid team.SID, cwd string) ([]byte, error) {
	store, _, err := r.Connected(ctx)
	if err != nil {
		return nil, err
	}
	h, err := store.Head(ctx, sid)
	if err != nil {
		return nil, err
	}
	head, err := shipping.ParseHead(h.Bytes)
	if err != nil {
		return nil, fault.New(fault.Damaged, "The head of the session %s in the team store is damaged, so it is not shown.", sid)
	}
	return head.Localized(shipping.Local{Cwd: cwd}).Raw, nil
}
