// Package filesums keeps checksums of the bytes of a file, so that a later reader knows whether they are the same.
package filesums

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
)

// chunkSize is how many bytes have one checksum.
const chunkSize = 1 << 20

// Sums are checksums of the bytes of a file from an offset on, in chunks of a megabyte, the last one partial. So
// those of a copy behind another header are the same.
type Sums struct {
	From   int64    // where the first chunk begins
	Size   int64    // where the last one ends
	Chunks []uint32 // CRC-32C
}

// span returns where chunk n begins and ends.
func (c *Sums) span(n int) (off, end int64) {
	off = c.From + int64(n)*chunkSize
	return off, min(off+chunkSize, c.Size)
}

// Valid reports whether there are as many checksums as chunks.
func (c *Sums) Valid() bool {
	return c.From > 0 && c.From <= c.Size && int64(len(c.Chunks)) == (c.Size-c.From+chunkSize-1)/chunkSize
}

// Shifted returns the sums of a copy in which the bytes are further behind.
func (c Sums) Shifted(further int64) Sums {
	c.From, c.Size = c.From+further, c.Size+further
	return c
}

// Reader reads a file and sums up what it reads from an offset on. What is read again is not summed again.
type Reader struct {
	io.ReadSeeker
	pos  int64
	part []byte // the last chunk, as far as it was read
	done Sums
}

// NewReader returns a reader of f, which is read from its start, that sums up the bytes from an offset on. If that is
// 0, it sums up nothing.
func NewReader(f io.ReadSeeker, from int64) *Reader {
	return &Reader{ReadSeeker: f, done: Sums{From: from, Size: from}}
}

// Read reads and sums up.
func (s *Reader) Read(b []byte) (n int, err error) {
	n, err = s.ReadSeeker.Read(b)
	end := s.pos + int64(n)
	if s.pos > s.done.Size {
		s.done.From = 0 // a part was left out
	}
	if s.done.From > 0 && end > s.done.Size {
		s.add(b[max(0, s.done.Size-s.pos):n])
	}
	s.pos = end
	return n, err
}

// Seek moves in the file.
func (s *Reader) Seek(offset int64, whence int) (pos int64, err error) {
	s.pos, err = s.ReadSeeker.Seek(offset, whence)
	return s.pos, err
}

func (s *Reader) add(b []byte) {
	s.done.Size += int64(len(b))
	for len(b) > 0 {
		n := min(len(b), chunkSize-len(s.part))
		s.part = append(s.part, b[:n]...)
		if b = b[n:]; len(s.part) == chunkSize {
			s.endChunk()
		}
	}
}

func (s *Reader) endChunk() {
	s.done.Chunks = append(s.done.Chunks, indexfile.Checksum(s.part))
	s.part = s.part[:0]
}

// End returns the checksums of all that was read.
func (s *Reader) End() Sums {
	if len(s.part) > 0 {
		s.endChunk()
	}
	return s.done
}

// Of returns the checksums of content from an offset on.
func Of(content []byte, from int64) Sums {
	s := NewReader(nil, from)
	s.add(content[from:])
	return s.End()
}

// ErrOtherBytes means that a file has other bytes than those that were summed up.
var ErrOtherBytes = errors.New("filesums: other bytes")

// Compare reads as much of the file at path as the sums cover, with all processors, and fails if it has other
// bytes.
func (c Sums) Compare(fsys afero.Fs, path string) error {
	var (
		next  atomic.Int64
		found atomic.Pointer[error]
		work  sync.WaitGroup
	)
	for range min(runtime.GOMAXPROCS(0), len(c.Chunks)) {
		work.Go(func() {
			if err := c.compareSome(fsys, path, &next, &found); err != nil {
				found.CompareAndSwap(nil, &err)
			}
		})
	}
	work.Wait()
	if err := found.Load(); err != nil {
		return *err
	}
	return nil
}

// compareSome compares chunks until there are no more or a worker has failed.
func (c Sums) compareSome(fsys afero.Fs, path string, next *atomic.Int64, found *atomic.Pointer[error]) error {
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	b := make([]byte, chunkSize)
	for err == nil && found.Load() == nil {
		n := int(next.Add(1) - 1)
		if n >= len(c.Chunks) {
			break
		}
		var sum uint32
		if sum, err = c.sumAt(f, n, b); err == nil && sum != c.Chunks[n] {
			err = ErrOtherBytes
		}
	}
	return errors.Join(err, f.Close())
}

// sumAt returns the checksum of chunk n in a file. b has room for it.
func (c Sums) sumAt(f io.ReaderAt, n int, b []byte) (uint32, error) {
	off, end := c.span(n)
	b = b[:end-off]
	if _, err := io.ReadFull(io.NewSectionReader(f, off, end-off), b); err != nil {
		return 0, err
	}
	return indexfile.Checksum(b), nil
}

// Grown returns the checksums of the file up to size, which is not smaller. It reads what is new and the chunk
// where that begins.
func (c Sums) Grown(f io.ReaderAt, size int64) (Sums, error) {
	whole := int((c.Size - c.From) / chunkSize)
	g := Sums{From: c.From, Size: size, Chunks: slices.Clone(c.Chunks[:whole])}
	b := make([]byte, chunkSize)
	for n := whole; g.From+int64(n)*chunkSize < size; n++ {
		sum, err := g.sumAt(f, n, b)
		if err != nil {
			return Sums{}, err
		}
		g.Chunks = append(g.Chunks, sum)
	}
	return g, nil
}
