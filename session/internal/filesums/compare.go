package filesums

import (
	"errors"
	"hash/crc32"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// looks is how many samples [Sums.Look] compares.
const looks = 48

// readSize is how many bytes are read at once: as many as stay in the cache of a processor until they are summed up.
const readSize = 256 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrStopped means that a comparison was stopped before its end.
var ErrStopped = errors.New("filesums: the comparison was stopped")

// Look compares the first bytes of some chunks, spread over all of f, the last one included. It fails with [ErrOtherBytes]
// if they differ. That nothing differs means little.
func (c Sums) Look(f io.ReaderAt) error {
	b := make([]byte, sampleSize)
	last := len(c.Chunks) - 1
	for k := range min(len(c.Chunks), looks) {
		n := last - k*last/max(min(len(c.Chunks), looks)-1, 1)
		off, end := c.span(n)
		part := b[:min(sampleSize, end-off)]
		if err := readFull(f, part, off); err != nil {
			return err
		}
		if chunkOf(part).Sample != c.Chunks[n].Sample {
			return ErrOtherBytes
		}
	}
	return nil
}

// File is a file to compare.
type File interface {
	io.ReaderAt
	io.Closer
}

// Comparison compares a file with sums, on all processors. It is safe for concurrent use.
type Comparison struct {
	sums  Sums
	open  func() (File, error)
	next  atomic.Int64
	found atomic.Pointer[error]
	done  chan struct{}
}

// Compare begins to compare a file with the sums. Each worker opens the file and closes it.
func (c Sums) Compare(open func() (File, error)) *Comparison {
	x := &Comparison{sums: c, open: open, done: make(chan struct{})}
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(c.Chunks)) {
		work.Go(func() {
			if err := x.some(); err != nil {
				x.Fail(err)
			}
		})
	}
	go func() {
		work.Wait()
		close(x.done)
	}()
	return x
}

// some compares chunks until there are no more or a worker has failed.
func (x *Comparison) some() error {
	f, err := x.open()
	if err != nil {
		return err
	}
	b := make([]byte, readSize)
	for err == nil && x.found.Load() == nil {
		n := int(x.next.Add(1) - 1)
		if n >= len(x.sums.Chunks) {
			break
		}
		err = x.chunk(f, n, b)
		runtime.Gosched() // an answer that is being made comes first
	}
	return errors.Join(err, f.Close())
}

// chunk compares chunk n of a file, which it reads to b in parts.
func (x *Comparison) chunk(f io.ReaderAt, n int, b []byte) error {
	sum := uint32(0)
	for off, end := x.sums.span(n); off < end; {
		part := b[:min(int64(len(b)), end-off)]
		if err := readFull(f, part, off); err != nil {
			return err
		}
		sum = crc32.Update(sum, castagnoli, part)
		off += int64(len(part))
	}
	if sum != x.sums.Chunks[n].Sum {
		return ErrOtherBytes
	}
	return nil
}

// Fail ends the comparison with an error, unless it has one.
func (x *Comparison) Fail(err error) { x.found.CompareAndSwap(nil, &err) }

// Stop ends the comparison. The workers have closed their files when it returns.
func (x *Comparison) Stop() {
	x.Fail(ErrStopped)
	<-x.done
}

// Done returns a channel that is closed at the end of the comparison.
func (x *Comparison) Done() <-chan struct{} { return x.done }

// Ended reports whether the comparison is at its end.
func (x *Comparison) Ended() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

// Failed reports whether it is known that the comparison will fail, or has failed.
func (x *Comparison) Failed() bool { return x.found.Load() != nil }

// Err waits for the end of the comparison. It returns nil if all bytes are the same, [ErrOtherBytes] if some are
// not, and the error of reading or of Fail.
func (x *Comparison) Err() error {
	<-x.done
	if err := x.found.Load(); err != nil {
		return *err
	}
	return nil
}
