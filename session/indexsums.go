package session

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
)

// chunkSize is how many bytes of a session file have one checksum in an index file.
const chunkSize = 1 << 20

// chunkSums are checksums of the bytes of a file in chunks, the last one partial. The first chunk begins
// behind the header: the bytes before it are read in any case, and omp replaces its title slot there. So the
// chunks of a copy with another header are the same.
type chunkSums struct {
	from int64 // where the first chunk begins
	size int64 // where the last one ends
	sums []uint32
}

// span returns the range of chunk n.
func (c *chunkSums) span(n int) span {
	off := c.from + int64(n)*chunkSize
	return span{off, min(off+chunkSize, c.size)}
}

// valid reports whether there are as many checksums as chunks.
func (c *chunkSums) valid() bool {
	return c.from > 0 && c.from <= c.size && int64(len(c.sums)) == (c.size-c.from+chunkSize-1)/chunkSize
}

// shifted returns the sums of a copy in which the bytes are further behind.
func (c chunkSums) shifted(further int64) chunkSums {
	c.from, c.size = c.from+further, c.size+further
	return c
}

// summing reads a file and sums up what it reads from an offset on. What is read again is not summed again.
type summing struct {
	io.ReadSeeker
	pos  int64
	part []byte // the last chunk, as far as it was read
	done chunkSums
}

// newSumming returns a reader of f, which is read from its start. It sums up nothing if the header does not
// end within the first chunk.
func newSumming(f io.ReadSeeker) (*summing, error) {
	s := &summing{ReadSeeker: f}
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(f, head)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		var d Document
		d.indexBytes(head[:n])
		s.done.from = d.headerAt.end
		s.done.size = d.headerAt.end
		_, err = f.Seek(0, io.SeekStart)
	}
	return s, err
}

func (s *summing) Read(b []byte) (n int, err error) {
	n, err = s.ReadSeeker.Read(b)
	end := s.pos + int64(n)
	if s.pos > s.done.size {
		s.done.from = 0 // a part was left out
	}
	if s.done.from > 0 && end > s.done.size {
		s.add(b[max(0, s.done.size-s.pos):n])
	}
	s.pos = end
	return n, err
}

func (s *summing) Seek(offset int64, whence int) (pos int64, err error) {
	s.pos, err = s.ReadSeeker.Seek(offset, whence)
	return s.pos, err
}

func (s *summing) add(b []byte) {
	s.done.size += int64(len(b))
	for len(b) > 0 {
		n := min(len(b), chunkSize-len(s.part))
		s.part = append(s.part, b[:n]...)
		if b = b[n:]; len(s.part) == chunkSize {
			s.endChunk()
		}
	}
}

func (s *summing) endChunk() {
	s.done.sums = append(s.done.sums, indexfile.Checksum(s.part))
	s.part = s.part[:0]
}

// end returns the checksums of all that was read.
func (s *summing) end() chunkSums {
	if len(s.part) > 0 {
		s.endChunk()
	}
	return s.done
}

// sumsOf returns the checksums of content from an offset on.
func sumsOf(content []byte, from int64) chunkSums {
	s := summing{done: chunkSums{from: from, size: from}}
	s.add(content[from:])
	return s.end()
}

// errOtherBytes means that a file has other bytes than those that were summed up.
var errOtherBytes = errors.New("session: other bytes")

// compare reads as much of the file at path as the sums cover, with all processors, and fails if it has other
// bytes.
func (c chunkSums) compare(fsys afero.Fs, path string) error {
	var (
		next  atomic.Int64
		found atomic.Pointer[error]
		work  sync.WaitGroup
	)
	for range min(runtime.GOMAXPROCS(0), len(c.sums)) {
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
func (c chunkSums) compareSome(fsys afero.Fs, path string, next *atomic.Int64, found *atomic.Pointer[error]) error {
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	b := make([]byte, chunkSize)
	for err == nil && found.Load() == nil {
		n := int(next.Add(1) - 1)
		if n >= len(c.sums) {
			break
		}
		var sum uint32
		if sum, err = c.sumAt(f, n, b); err == nil && sum != c.sums[n] {
			err = errOtherBytes
		}
	}
	return errors.Join(err, f.Close())
}

// sumAt returns the checksum of chunk n in a file. b has room for it.
func (c chunkSums) sumAt(f io.ReaderAt, n int, b []byte) (uint32, error) {
	at := c.span(n)
	b = b[:at.end-at.off]
	if _, err := io.ReadFull(io.NewSectionReader(f, at.off, at.end-at.off), b); err != nil {
		return 0, err
	}
	return indexfile.Checksum(b), nil
}

// grown returns the checksums of the file up to size, which is not smaller. It reads what is new and the chunk
// where that begins.
func (c chunkSums) grown(f io.ReaderAt, size int64) (chunkSums, error) {
	whole := int((c.size - c.from) / chunkSize)
	g := chunkSums{from: c.from, size: size, sums: slices.Clone(c.sums[:whole])}
	b := make([]byte, chunkSize)
	for n := whole; g.span(n).off < size; n++ {
		sum, err := g.sumAt(f, n, b)
		if err != nil {
			return chunkSums{}, err
		}
		g.sums = append(g.sums, sum)
	}
	return g, nil
}

// unchanged reports whether a file with stamp now is the one with stamp was, which had rested.
func unchanged(was, now disk.Stamp, rested bool) bool {
	return rested && was.Inode != 0 && was.Ctime != 0 && was == now
}
