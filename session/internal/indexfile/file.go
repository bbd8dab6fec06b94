package indexfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"

	"github.com/spf13/afero"
)

const (
	magic    = "xcsh-ls index 3\n"
	headFrom = int64(len(magic) + 8)

	// maxHead is the largest head, in bytes. Larger facts are those of a file with many unusual lines.
	maxHead = 16 << 20
)

// ErrDamaged means that a file or a part of it is damaged.
var ErrDamaged = errors.New("indexfile: damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of b.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// File is an open file. It is safe for concurrent use.
type File struct {
	Facts []byte

	sections []section
	mu       sync.Mutex // afero's in-memory files keep a position even for ReadAt
	file     readerAt
}

type readerAt interface {
	io.ReaderAt
	io.Closer
}

// section is one section of a file.
type section struct {
	at, size, block int64 // in the file; in bytes; of a block, in bytes
	sums            []uint32
}

// read reads the head of a file.
func read(f afero.File) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	start := make([]byte, min(info.Size(), 64<<10))
	if _, err := f.ReadAt(start, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if int64(len(start)) < headFrom || string(start[:len(magic)]) != magic {
		return nil, ErrDamaged
	}
	size := int64(binary.LittleEndian.Uint32(start[len(magic):]))
	sum := binary.LittleEndian.Uint32(start[len(magic)+4:])
	if size > maxHead || headFrom+size > info.Size() {
		return nil, ErrDamaged
	}
	head := start[headFrom:]
	if int64(len(head)) < size {
		head = make([]byte, size)
		if _, err := f.ReadAt(head, headFrom); err != nil {
			return nil, ErrDamaged
		}
	}
	if head = head[:size]; Checksum(head) != sum {
		return nil, ErrDamaged
	}
	x := &File{file: f}
	return x, x.parse(head, info.Size())
}

// copy reads the file into memory and closes it.
func (x *File) copy(f afero.File) error {
	content, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	x.file = memoryFile{bytes.NewReader(content)}
	return nil
}

// memoryFile is the content of a file.
type memoryFile struct{ io.ReaderAt }

func (memoryFile) Close() error { return nil }

// parse reads the head of a file of the given size.
func (x *File) parse(head []byte, fileSize int64) error {
	d := Decoder{Rest: head}
	at := headFrom + int64(len(head))
	for range d.Count() {
		s := section{at: at, size: d.Int(), block: d.Int()}
		if s.size < 0 || s.block <= 0 || s.size > fileSize-at {
			return ErrDamaged
		}
		s.sums = make([]uint32, d.Count())
		for i := range s.sums {
			s.sums[i] = d.Sum()
		}
		if int64(len(s.sums)) != blocks(s.size, s.block) {
			return ErrDamaged
		}
		x.sections = append(x.sections, s)
		at += s.size
	}
	if d.Bad || at != fileSize {
		return ErrDamaged
	}
	x.Facts = d.Rest
	return nil
}

func blocks(size, block int64) int64 { return (size + block - 1) / block }

// Sections returns the number of sections.
func (x *File) Sections() int { return len(x.sections) }

// Size returns the size of a section in bytes.
func (x *File) Size(section int) int64 { return x.sections[section].size }

// BlockSize returns the size of a section's blocks in bytes; the last one may be shorter.
func (x *File) BlockSize(section int) int64 { return x.sections[section].block }

// Sum returns the checksum of a block.
func (x *File) Sum(section, n int) uint32 { return x.sections[section].sums[n] }

// Block reads a block. It fails if the block is damaged.
func (x *File) Block(section, n int) ([]byte, error) { return x.BlockInto(section, n, nil) }

// BlockInto reads a block into buf if that has room for it, else into new memory. It fails if the block is
// damaged.
func (x *File) BlockInto(section, n int, buf []byte) ([]byte, error) {
	s := &x.sections[section]
	off := int64(n) * s.block
	size := min(s.block, s.size-off)
	if int64(cap(buf)) < size {
		buf = make([]byte, size)
	}
	b := buf[:size]
	x.mu.Lock()
	_, err := x.file.ReadAt(b, s.at+off)
	x.mu.Unlock()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if Checksum(b) != s.sums[n] {
		return nil, ErrDamaged
	}
	return b, nil
}

// Close closes the file.
func (x *File) Close() error { return x.file.Close() }
