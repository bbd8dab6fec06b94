package shipping

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"hash"

	"github.com/xcsh-ls/xcsh-ls/team"
)

// Point is a place in a body: its offset, and the checksum of all bytes before it.
type Point struct {
	Len int64
	Sum team.Sum
}

// Running is the checksum of a body that grows. The zero value is that of an empty one.
type Running struct {
	hash hash.Hash
	n    int64
}

// Write adds bytes.
func (r *Running) Write(b []byte) {
	if r.hash == nil {
		r.hash = sha256.New()
	}
	_, _ = r.hash.Write(b) // never fails
	r.n += int64(len(b))
}

// Point returns the end of the bytes so far.
func (r *Running) Point() Point {
	p := Point{Len: r.n, Sum: team.EmptySum}
	if r.hash != nil {
		r.hash.Sum(p.Sum[:0])
	}
	return p
}

// Clone returns an independent copy.
func (r *Running) Clone() Running {
	if r.hash == nil {
		return Running{}
	}
	c, err := r.hash.(hash.Cloner).Clone() //nolint:errcheck // SHA-256 is one
	if err != nil {
		panic(err) // cannot be: SHA-256 clones
	}
	return Running{hash: c, n: r.n}
}

// Marshal returns the state of the checksum, from which [Resume] continues.
func (r *Running) Marshal() []byte {
	h := r.hash
	if h == nil {
		h = sha256.New()
	}
	b, err := h.(encoding.BinaryMarshaler).MarshalBinary() //nolint:errcheck // SHA-256 is one
	if err != nil {
		panic(err) // cannot be: SHA-256 has a state
	}
	return b
}

// Resume returns the running checksum with the given state. ok is false if the state is not one that leads to p.
func Resume(state []byte, p Point) (r Running, ok bool) {
	h := sha256.New()
	if h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state) != nil || len(state) < 8 { //nolint:errcheck // SHA-256 is one
		return Running{}, false
	}
	if binary.BigEndian.Uint64(state[len(state)-8:]) != uint64(p.Len) { // the last field is the number of bytes
		return Running{}, false
	}
	r = Running{hash: h, n: p.Len}
	return r, r.Point() == p
}
