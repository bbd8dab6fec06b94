package session

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"time"
)

// snowflakeEpoch is the zero of the time in a session id, in unix milliseconds
// (2015-01-01T00:00:00Z).
const snowflakeEpoch = 1420070400000

// ids makes session and entry ids. It is safe for concurrent use.
type ids struct {
	now func() time.Time

	mu     sync.Mutex
	random io.Reader // guarded by mu
	seq    uint32    // guarded by mu; 22 bits, starts anywhere
}

// newIDs returns a source of ids. random is crypto/rand's reader when nil.
func newIDs(now func() time.Time, random io.Reader) *ids {
	if random == nil {
		random = rand.Reader
	}
	g := &ids{now: now, random: random}
	var b [4]byte
	if _, err := io.ReadFull(random, b[:]); err == nil {
		g.seq = binary.BigEndian.Uint32(b[:]) & (1<<22 - 1)
	}
	return g
}

// session returns a new session id: 16 hex digits, 42 bits of milliseconds and 22 bits of
// sequence, as xcsh makes them. Later ids compare greater as text.
func (g *ids) session() string {
	g.mu.Lock()
	g.seq = (g.seq + 1) & (1<<22 - 1)
	seq := g.seq
	g.mu.Unlock()
	ms := uint64(max(0, g.now().UnixMilli()-snowflakeEpoch))
	return fmt.Sprintf("%016x", ms<<22|uint64(seq))
}

// entry returns a new entry id: 8 hex digits that are not in use, or a session id after a
// hundred collisions.
func (g *ids) entry(taken func(string) bool) string {
	for range 100 {
		var b [4]byte
		g.mu.Lock()
		_, err := io.ReadFull(g.random, b[:])
		g.mu.Unlock()
		if err != nil {
			break
		}
		if id := hex.EncodeToString(b[:]); !taken(id) {
			return id
		}
	}
	return g.session()
}
