package wire

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/puddle/v2"
)

// Pool keeps connections for calls. It is safe for concurrent use.
type Pool struct {
	pool     *puddle.Pool[*Conn]
	idle     time.Duration
	expiring atomic.Bool // whether a timer will call expire
}

// doubt is how long a connection can be idle without being asked whether it still works.
const doubt = time.Second

// closing is how long a server has to read that a connection ends.
const closing = time.Second

// NewPool returns a pool of at most some connections, which closes those that are idle for a time.
func NewPool(connect func(context.Context) (*Conn, error), most int32, idle time.Duration) (*Pool, error) {
	pool, err := puddle.NewPool(&puddle.Config[*Conn]{
		Constructor: connect,
		Destructor: func(c *Conn) {
			ctx, cancel := context.WithTimeout(context.Background(), closing)
			defer cancel()
			_ = c.Close(ctx) // nothing was written
		},
		MaxSize: most,
	})
	return &Pool{pool: pool, idle: idle}, err
}

// Close closes all connections. It waits for those that are used.
func (p *Pool) Close() { p.pool.Close() }

// Do calls f with a connection.
func (p *Pool) Do(ctx context.Context, f func(*Conn) error) error {
	r, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	defer p.release(r)
	return f(r.Value())
}

// acquire returns a connection. The server or the network may have ended one that was idle.
func (p *Pool) acquire(ctx context.Context) (*puddle.Resource[*Conn], error) {
	for {
		r, err := p.pool.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		if r.IdleDuration() < doubt {
			return r, nil
		}
		if err = r.Value().pg.Ping(ctx); err == nil {
			return r, nil
		}
		r.Destroy()
		if ctx.Err() != nil {
			return nil, errors.Join(ctx.Err(), err)
		}
	}
}

// release returns a connection to the pool, and closes it when it was idle for long enough.
func (p *Pool) release(r *puddle.Resource[*Conn]) {
	if !r.Value().usable() {
		r.Destroy()
		return
	}
	r.Release()
	p.expireLater()
}

func (p *Pool) expireLater() {
	if p.expiring.CompareAndSwap(false, true) {
		time.AfterFunc(p.idle, p.expire)
	}
}

// expire closes the connections that were idle for long enough.
func (p *Pool) expire() {
	p.expiring.Store(false)
	for _, r := range p.pool.AcquireAllIdle() {
		if r.IdleDuration() >= p.idle {
			r.Destroy()
		} else {
			r.ReleaseUnused()
			p.expireLater()
		}
	}
}
