package contents

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
)

// The tables of a compressor are larger than most contents, so they are used again.
var (
	packers   sync.Pool // of *flate.Writer
	unpackers sync.Pool // of unpacker
)

// unpacker is what [flate.NewReader] returns.
type unpacker interface {
	io.Reader
	flate.Resetter
}

// The sizes for which buffers are made at first, as multiples of what goes in. Text becomes a third to a fifth.
const (
	packedTo   = 3 // a part of the content
	unpackedTo = 4 // times the packed size
)

// pack compresses a content.
func pack(content []byte) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(content)/packedTo + 64)
	w, ok := packers.Get().(*flate.Writer)
	if !ok {
		var err error
		if w, err = flate.NewWriter(&b, flate.BestSpeed); err != nil {
			return nil, err
		}
	}
	defer func() {
		w.Reset(io.Discard) // keeps no content in memory
		packers.Put(w)
	}()
	w.Reset(&b)
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}

// unpack decompresses a content of at most a number of bytes, and verifies its name.
func unpack(packed []byte, sha string, limit int64) ([]byte, error) {
	r, ok := unpackers.Get().(unpacker)
	if !ok {
		if r, ok = flate.NewReader(bytes.NewReader(nil)).(unpacker); !ok {
			return nil, errors.ErrUnsupported // it is one, by its documentation
		}
	}
	if err := r.Reset(bytes.NewReader(packed), nil); err != nil {
		return nil, damaged(sha)
	}
	defer func() {
		if r.Reset(bytes.NewReader(nil), nil) == nil { // keeps no content in memory
			unpackers.Put(r)
		}
	}()
	var b bytes.Buffer
	b.Grow(int(min(limit, unpackedTo*int64(len(packed)))) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(r, limit))
	content := b.Bytes()
	if err != nil || change.Sum(content) != sha {
		return nil, damaged(sha)
	}
	return content, nil
}
