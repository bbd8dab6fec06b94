// Package filesums keeps checksums of the bytes of a file, so that a later reader knows whether they are the same.
package filesums

import (
	"errors"
	"io"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
)

// chunkSize is how many bytes have one checksum.
const chunkSize = 1 << 20

// sampleSize is how many bytes at the beginning of a chunk have a checksum of their own, for [Sums.Look].
const sampleSize = 512

// Sums are checksums of the bytes of a file from an offset on, in chunks of a megabyte, the last one partial. So
// those of a copy behind another header are the same.
type Sums struct {
	From   int64 // where the first chunk begins
	Size   int64 // where the last one ends
	Chunks []Chunk
}

// Chunk has the CRC-32C of a chunk.
type Chunk struct {
	Sum    uint32
	Sample uint32 // of the first 512 bytes
}

// chunkOf returns the checksums of a chunk's bytes.
func chunkOf(b []byte) Chunk {
	return Chunk{indexfile.Checksum(b), indexfile.Checksum(b[:min(len(b), sampleSize)])}
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

// Agrees reports whether no checksum says that c and o are of different bytes, as far as both have them.
func (c *Sums) Agrees(o Sums) bool {
	n := min(len(c.Chunks), len(o.Chunks))
	if c.Size != o.Size {
		n = max(0, n-1) // the last one may be partial
	}
	return c.From == o.From && slices.Equal(c.Chunks[:n], o.Chunks[:n])
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
	s.done.Chunks = append(s.done.Chunks, chunkOf(s.part))
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

// Continue returns a reader of f from Size to end, which continues the sums. It reads the part of the last chunk that
// they cover, and fails with [ErrOtherBytes] if that has other bytes.
func (c Sums) Continue(f io.ReaderAt, end int64) (*Reader, error) {
	whole := int((c.Size - c.From) / chunkSize)
	s := &Reader{
		ReadSeeker: io.NewSectionReader(f, c.Size, end-c.Size), pos: c.Size,
		done: Sums{From: c.From, Size: c.Size, Chunks: slices.Clone(c.Chunks[:whole])},
	}
	if whole == len(c.Chunks) {
		return s, nil
	}
	off, _ := c.span(whole)
	s.part = make([]byte, c.Size-off, chunkSize)
	if err := readFull(f, s.part, off); err != nil {
		return nil, err
	}
	if chunkOf(s.part) != c.Chunks[whole] {
		return nil, ErrOtherBytes
	}
	return s, nil
}

// Grown returns the checksums of the file up to size, which is not smaller. It reads what is new and the chunk
// where that begins.
func (c Sums) Grown(f io.ReaderAt, size int64) (Sums, error) {
	s, err := c.Continue(f, size)
	if err != nil {
		return Sums{}, err
	}
	if _, err := io.Copy(io.Discard, readerOnly{s}); err != nil {
		return Sums{}, err
	}
	if s.pos != size {
		return Sums{}, io.ErrUnexpectedEOF
	}
	return s.End(), nil
}

// readerOnly hides all methods but Read, so that every byte passes it.
type readerOnly struct{ io.Reader }

// readFull fills b with the bytes of f from an offset on.
func readFull(f io.ReaderAt, b []byte, off int64) error {
	n, err := f.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
