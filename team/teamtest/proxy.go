package teamtest

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Breakage is what a [Fault] does to a connection.
type Breakage int

// The breakages.
const (
	Cut       Breakage = iota // both directions are closed
	HalfClose                 // the direction of the fault ends, the other one stays open
	Swallow                   // bytes of the direction disappear, and the connection stays open
)

// Fault breaks one connection, once.
type Fault struct {
	Down  bool  // counts the bytes from the server; otherwise those to it
	After int64 // the number of bytes that still pass, over all connections since the fault was armed
	Does  Breakage
}

// Proxy passes TCP connections to a server on this machine, and breaks them. It is safe for concurrent
// use.
type Proxy struct {
	Port int

	target   string
	listener net.Listener
	all      sync.WaitGroup

	mu     sync.Mutex
	fault  *Fault            // nil when none is armed; guarded by mu
	passed [2]int64          // up and down, since the last call of Arm; guarded by mu
	delay  time.Duration     // before each chunk; guarded by mu
	conns  map[net.Conn]bool // guarded by mu
	record *Recording        // nil without one; guarded by mu
}

// Recording is what has passed a [Proxy].
type Recording struct {
	Connections int
	Up, Down    []byte // to and from the server, in the order of their arrival over all connections
}

// NewProxy returns a proxy in front of a port of 127.0.0.1. It ends with the test.
func NewProxy(t testing.TB, port int) *Proxy {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address, ok := l.Addr().(*net.TCPAddr)
	require.True(t, ok)
	target := net.TCPAddr{IP: address.IP, Port: port}
	p := &Proxy{Port: address.Port, target: target.String(), listener: l, conns: map[net.Conn]bool{}}
	p.all.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Arm sets the fault for the next bytes, or none, and counts from here.
func (p *Proxy) Arm(f *Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.passed = f, [2]int64{}
}

// Delay makes every chunk wait, in both directions.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Passed returns the numbers of bytes to and from the server since [Proxy.Arm].
func (p *Proxy) Passed() (up, down int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed[0], p.passed[1]
}

// Record keeps what passes from now on, and drops what was kept before.
func (p *Proxy) Record() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.record = &Recording{}
}

// Recorded returns a copy of what has passed since [Proxy.Record], which must have been called.
func (p *Proxy) Recorded() Recording {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Recording{Connections: p.record.Connections, Up: bytes.Clone(p.record.Up), Down: bytes.Clone(p.record.Down)}
}

// Fired reports whether the armed fault has broken a connection.
func (p *Proxy) Fired() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault == nil
}

// accept passes connections until the listener is closed.
func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() { p.serve(client) })
	}
}

// serve passes one connection.
func (p *Proxy) serve(client net.Conn) {
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.conns[client], p.conns[server] = true, true
	if p.record != nil {
		p.record.Connections++
	}
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.pass(server, client, 0) })
	both.Go(func() { p.pass(client, server, 1) })
	both.Wait()
	_, _ = client.Close(), server.Close()
	p.mu.Lock()
	delete(p.conns, client)
	delete(p.conns, server)
	p.mu.Unlock()
}

// pass copies one direction until it ends or breaks.
func (p *Proxy) pass(to, from net.Conn, direction int) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			send, does, broken := p.admit(n, direction)
			p.keep(buffer[:send], direction)
			if _, err := to.Write(buffer[:send]); err != nil {
				return
			}
			if broken {
				breakConn(to, from, does)
				return
			}
		}
		if err != nil {
			closeWrite(to)
			return
		}
	}
}

// admit returns how many of n bytes pass, and whether the connection breaks behind them.
func (p *Proxy) admit(n, direction int) (send int, does Breakage, broken bool) {
	p.mu.Lock()
	delay := p.delay
	send = n
	if f := p.fault; f != nil && f.Down == (direction == 1) && p.passed[direction]+int64(n) > f.After {
		send, does, broken = int(max(0, f.After-p.passed[direction])), f.Does, true
		p.fault = nil
	}
	p.passed[direction] += int64(send)
	p.mu.Unlock()
	if delay > 0 {
		<-time.After(delay)
	}
	return send, does, broken
}

// keep adds bytes of a direction to the recording.
func (p *Proxy) keep(b []byte, direction int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.record == nil:
	case direction == 0:
		p.record.Up = append(p.record.Up, b...)
	default:
		p.record.Down = append(p.record.Down, b...)
	}
}

// breakConn breaks the direction between two sides.
func breakConn(to, from net.Conn, does Breakage) {
	switch does {
	case Swallow:
		_, _ = io.Copy(io.Discard, from) // until the other side gives up
	case HalfClose:
		closeWrite(to)
	case Cut:
		_, _ = to.Close(), from.Close()
	}
}

// closeWrite ends the stream to a side, which can still send.
func closeWrite(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.CloseWrite() // the error is that it is closed
	}
}

// close ends all connections.
func (p *Proxy) close() {
	_ = p.listener.Close() // it has no state
	p.mu.Lock()
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.all.Wait()
}
