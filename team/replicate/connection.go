package replicate

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/connect"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/identity"
	"github.com/xcsh-ls/xcsh-ls/team/pull"
)

// connection is the store and what it said about itself.
type connection struct {
	store   team.Store // nil before the first need
	address connect.Address
	device  team.Device
	hello   team.Hello
	at      time.Time     // of hello; zero without one
	err     error         // of the last attempt
	trying  chan struct{} // is closed when the running attempt ends; nil without one

	following *pull.Following // nil before the first use
}

// Connected returns the store after Hello. It connects at the first need, and asks the store again which one it is after a minute or
// a broken connection. An attempt that takes longer than ctx goes on for the next caller. The error is that of Config.Open or
// of [team.Store.Hello], or cancelled.
func (r *Replicator) Connected(ctx context.Context) (team.Store, team.Hello, error) {
	fresh := r.fresh()
	r.mu.Lock()
	c := r.conn
	switch {
	case r.closed:
		r.mu.Unlock()
		return nil, team.Hello{}, errClosed()
	case fresh:
		r.mu.Unlock()
		return c.store, c.hello, nil
	case c.trying == nil:
		c.trying = make(chan struct{})
		r.conn.trying = c.trying
		r.running.Go(func() { r.connect(r.life) })
	}
	r.mu.Unlock()
	select {
	case <-c.trying:
	case <-ctx.Done():
		return nil, team.Hello{}, cancelled(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn.err != nil {
		return nil, team.Hello{}, r.conn.err
	}
	return r.conn.store, r.conn.hello, nil
}

func errClosed() error {
	return fault.New(fault.Cancelled, "The connection to the team store was closed.")
}

func cancelled(ctx context.Context) error {
	return fault.New(fault.Cancelled, "The call to the team store was cancelled: %w.", ctx.Err())
}

// fresh reports whether the last answer of the store about itself still counts.
func (r *Replicator) fresh() bool {
	left, _ := r.pub.Unsent() // its error may mean that the connection broke, and leads to another server now
	now := r.c.Clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.conn
	return !c.at.IsZero() && c.err == nil && now.Sub(c.at) < helloTime && !fault.Is(left.Err, fault.Offline)
}

// connect makes an attempt, which is the only one.
func (r *Replicator) connect(ctx context.Context) {
	device, hello, err := r.hello(ctx)
	if err == nil {
		err = r.meet(hello)
	}
	now := r.c.Clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.conn.trying)
	r.conn.trying, r.conn.err = nil, err
	if err == nil {
		r.conn.device, r.conn.hello, r.conn.at = device, hello, now
	}
	r.ringLocked()
}

// hello opens the store if necessary, and says hello to it.
func (r *Replicator) hello(ctx context.Context) (device team.Device, hello team.Hello, err error) {
	store, _, err := r.opened()
	if err != nil {
		return device, hello, err
	}
	here, err := identity.Devices{Fs: r.c.Fs, Dir: r.c.Dir, Locks: r.c.Locks, Random: rand.Reader}.Open(r.c.Device)
	if err != nil {
		return device, hello, err
	}
	device.Label = here.Label
	if err := device.ID.UnmarshalText([]byte(here.ID)); err != nil {
		return device, hello, fault.New(fault.Internal, "The id of this device is no UUID: %w.", err)
	}
	hello, err = store.Hello(ctx, device)
	return device, hello, err
}

// opened returns the store without connecting to it. Concurrent calls may open it twice; one of the two is closed.
func (r *Replicator) opened() (team.Store, connect.Address, error) {
	r.mu.Lock()
	c := r.conn
	r.mu.Unlock()
	if c.store != nil {
		return c.store, c.address, nil
	}
	store, address, err := r.c.Open()
	if err != nil {
		return nil, connect.Address{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn.store != nil || r.closed {
		_ = store.Close() // it has no connection yet
		if r.closed {
			return nil, connect.Address{}, errClosed()
		}
		return r.conn.store, r.conn.address, nil
	}
	r.conn.store, r.conn.address = store, address
	return store, address, nil
}

// meet compares the store with the one that the user agreed to. With a new epoch all files are compared again. The epoch is recorded
// last, so that a process that is killed leaves the work to the next one.
func (r *Replicator) meet(hello team.Hello) error {
	d, err := r.consent.Read()
	if err != nil || len(d.Projects) == 0 { // an error permits nothing, and is reported by each file
		return nil
	}
	id := hello.StoreID.String()
	switch {
	case d.StoreID != "" && d.StoreID != id, d.StoreID == id && d.Epoch == hello.Epoch, hello.Replica:
		return nil
	case d.StoreID == id:
		r.c.Log.Info("the team store has another epoch; all sessions are compared again", zap.Int("epoch", hello.Epoch))
		if err := r.compareAll(); err != nil {
			return err
		}
	}
	return r.consent.Change(consent.SetStoreID(id, hello.Epoch))
}

// compareAll forgets what was agreed with the store about all files, and looks at all of them again.
func (r *Replicator) compareAll() error {
	if err := r.states.ForgetAll(); err != nil {
		return err
	}
	r.pub.Compare()
	r.lookAgain()
	return nil
}

// sending is the store for everything that sends: the one that the user agreed to.
func (r *Replicator) sending() (team.Store, int, error) {
	store, err := r.agreed(r.life)
	if err != nil {
		return nil, 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return store, r.conn.hello.User, nil
}

// agreed returns the store if it is the one that the user agreed to. The error is of kind refused for another one.
func (r *Replicator) agreed(ctx context.Context) (team.Store, error) {
	store, hello, err := r.Connected(ctx)
	if err != nil {
		return nil, err
	}
	d, err := r.consent.Read()
	if err != nil {
		return nil, err
	}
	if d.StoreID != "" && d.StoreID != hello.StoreID.String() {
		r.mu.Lock()
		defer r.mu.Unlock()
		return nil, fault.New(fault.Refused, "The team store at %s is another one than the one that you agreed to. Nothing is sent until you share the project again.", server(r.conn.address))
	}
	return store, nil
}

// project is [identity.Of] with the user's settings, of which those in team.json come first.
func (r *Replicator) project(cwd string, d consent.Decisions) (identity.Project, error) {
	alias := maps.Clone(r.c.Alias)
	if alias == nil {
		alias = map[string]string{}
	}
	maps.Copy(alias, d.Alias)
	return identity.Of(r.c.Git, cwd, identity.Options{Hosts: r.c.Hosts, Alias: alias, Names: d.Names})
}

// Key returns the key of the project of a folder, "" without one. It reads files and connects to nothing.
func (r *Replicator) Key(cwd string) string {
	d, err := r.consent.Read()
	if err != nil {
		return ""
	}
	p, _ := r.project(cwd, d) // an error means that it has no key
	return p.Key
}

// isOffline reports whether an error means that the store cannot be reached.
func isOffline(err error) bool {
	return fault.Is(err, fault.Offline) || errors.Is(err, context.DeadlineExceeded)
}
