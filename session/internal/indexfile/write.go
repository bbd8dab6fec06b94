package indexfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
)

// Section is a section to write.
type Section struct {
	Size, Block int64

	// Fill writes block n to b, which has its length. It is called twice for each block.
	Fill func(n int, b []byte)
}

// Write writes a file, as a whole or not at all. It is not synced: checksums find what a crash leaves.
func (d Dir) Write(name string, facts []byte, sections ...Section) error {
	head := headOf(facts, sections)
	if len(head) > maxHead {
		return errors.New("indexfile: too many facts")
	}
	if err := d.Fs.MkdirAll(d.Path, dirMode); err != nil {
		return err
	}
	f, err := afero.TempFile(d.Fs, d.Path, name+".*"+tmpEnd)
	if err != nil {
		return err
	}
	err = write(f, head, sections)
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.Fs.Chmod(f.Name(), fileMode)
	}
	if err == nil {
		err = durable.Rename(d.Fs, f.Name(), filepath.Join(d.Path, name))
	}
	if err != nil {
		_ = d.Fs.Remove(f.Name())
		return err
	}
	d.trim(name)
	return nil
}

func headOf(facts []byte, sections []Section) []byte {
	var e Encoder
	e.Uint(uint64(len(sections)))
	for _, s := range sections {
		e.Int(s.Size)
		e.Int(s.Block)
		e.Uint(uint64(blocks(s.Size, s.Block)))
		_ = s.each(func(b []byte) error { // it cannot fail
			e.Sum(Checksum(b))
			return nil
		})
	}
	return append(e.Bytes, facts...)
}

// each calls f with each block in order. A block is valid only during the call.
func (s Section) each(f func(b []byte) error) error {
	buf := make([]byte, min(s.Block, s.Size))
	for n := range blocks(s.Size, s.Block) {
		b := buf[:min(s.Block, s.Size-n*s.Block)]
		s.Fill(int(n), b)
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}

func write(f afero.File, head []byte, sections []Section) error {
	w := bufio.NewWriterSize(f, 256<<10)
	start := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(head)))
	start = binary.LittleEndian.AppendUint32(start, Checksum(head))
	for _, b := range [][]byte{start, head} {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	for _, s := range sections {
		err := s.each(func(b []byte) error {
			_, err := w.Write(b)
			return err
		})
		if err != nil {
			return err
		}
	}
	return w.Flush()
}
