package replicate

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team/connect"
)

// The states of a connection.
const (
	Off     = "off"     // the user shares nothing, or paused it
	OK      = "ok"      // or not tried yet
	Offline = "offline" // the store cannot be reached
	Refused = "refused" // login, rights, TLS, version, or another store than the user agreed to
)

// Status is the state of the connection and of the queue.
type Status struct {
	State  string
	Server string // host and database; "" before the store is needed
	User   string // the name of the user in the store; "" before the first connection
	TLS    string // verified, socket, local or insecure; "" before the store is needed

	UnsentSessions int
	UnsentBytes    int64     // as far as it is known
	Since          time.Time // of the first change that is not sent; zero with nothing to send
	Problem        error     // a *fault.Error; nil without one
}

// Status returns the state from memory.
func (r *Replicator) Status() Status {
	left, since := r.pub.Unsent()
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.conn
	s := Status{State: OK, User: c.hello.Display, UnsentSessions: left.Sessions, UnsentBytes: left.Bytes, Since: since, Problem: r.problem}
	if c.store != nil {
		s.Server, s.TLS = server(c.address), security(c.address)
	}
	for _, err := range []error{left.Err, c.err} {
		if err != nil {
			s.Problem = err
		}
	}
	switch {
	case !r.shares:
		s.State, s.UnsentSessions, s.UnsentBytes, s.Since = Off, 0, 0, time.Time{}
	case s.Problem == nil:
	case isOffline(s.Problem):
		s.State = Offline
	case fault.Is(s.Problem, fault.Refused), fault.Is(s.Problem, fault.Denied):
		s.State = Refused
	}
	return s
}

// server returns the host and the database of an address, without a user and a password.
func server(a connect.Address) string {
	name := strings.Join(a.Hosts, ",")
	if name == "" {
		name = "localhost"
	}
	if u, err := url.Parse(a.Conn); err == nil && len(u.Path) > 1 {
		name += u.Path
	}
	return name
}

// security returns how the server proves who it is.
func security(a connect.Address) string {
	kind := "socket"
	for _, host := range a.Hosts {
		switch {
		case !connect.IsLocal(host) && a.SSLMode != "verify-full":
			return "insecure"
		case !connect.IsLocal(host):
			kind = "verified"
		case host != "" && !strings.HasPrefix(host, "/") && kind == "socket":
			kind = "local"
		}
	}
	return kind
}

// ringLocked makes notify compare the state with the last event.
func (r *Replicator) ringLocked() {
	close(r.bell)
	r.bell = make(chan struct{})
}

// notify passes on changes of the state, at most once a second.
func (r *Replicator) notify(ctx context.Context) {
	last := ""
	for {
		changed := r.pub.Changed()
		r.mu.Lock()
		bell := r.bell
		r.mu.Unlock()
		s := r.Status()
		if e := (Event{Kind: StateChanged, State: s.State, Unsent: s.UnsentSessions}); e.key() != last {
			last = e.key()
			r.c.Event(e)
			if !r.pause(ctx, stateTime, nil) {
				return
			}
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-bell:
		}
	}
}
