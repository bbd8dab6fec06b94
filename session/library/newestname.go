package library

import (
	"bytes"
	"io"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// A title that pi gave is in the newest session_info entry, which can be anywhere in a file.
// Where only the beginning of a file is read, it is also searched for in the last nameReach
// bytes, which hold everything since the rename unless the conversation has become much
// longer. They are read in blocks of nameBlock bytes, from the end.
const (
	nameReach = 8 << 20
	nameBlock = 128 << 10
)

var infoWord = []byte(`"` + string(session.TypeSessionInfo) + `"`)

// newestTitle returns the title of the file at path, whose beginning is s. If pi removed the
// title, s gets the first prompt instead.
func (s *survey) newestTitle(fsys afero.Fs, path string) string {
	if line := lastNameIn(fsys, path); line != nil && !s.hasSlot {
		s.addName(line)
	}
	title, _ := s.givenTitle()
	if title == "" && s.prompt == "" && s.header.Title != "" {
		if again, err := readHeadUntil(fsys, path, false); err == nil {
			s.prompt = again.prompt
		}
	}
	return title
}

// lastNameIn returns the last session_info line of the file at path, if it is in reach of the
// end. A file that cannot be read has none: its beginning was read.
func lastNameIn(fsys afero.Fs, path string) []byte {
	f, err := fsys.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil
	}
	return newestInfo(f, size)
}

// newestInfo returns the last session_info line in reach of the end of a file, nil for none.
func newestInfo(f io.ReaderAt, size int64) []byte {
	memory, _ := scratches.Get().(*scratch) // the pool holds nothing else
	defer scratches.Put(memory)
	buf, kept := memory.Store, 0 // its first bytes are the end of a line that begins further back
	for end := size; end > max(0, size-nameReach); {
		n := int(min(nameBlock, end))
		end -= int64(n)
		whole := buf
		if n+kept > len(buf) {
			whole = make([]byte, 2*(n+kept))
		}
		copy(whole[n:n+kept], buf[:kept])
		buf = whole
		block := buf[:n+kept]
		if got, _ := f.ReadAt(block[:n], end); got < n {
			return nil // the file became shorter, or cannot be read
		}
		kept = 0
		if end > 0 {
			kept = bytes.IndexByte(block, '\n') + 1
		}
		if end > 0 && kept == 0 {
			kept = len(block)
			continue
		}
		if line := lastInfo(block[kept:]); line != nil {
			return bytes.Clone(line)
		}
	}
	return nil
}

// lastInfo returns the last session_info line of some lines. The word in a conversation is
// none.
func lastInfo(lines []byte) []byte {
	if !bytes.Contains(lines, infoWord) {
		return nil // searching forwards is much faster, and most files have none
	}
	for {
		i := bytes.LastIndex(lines, infoWord)
		if i < 0 {
			return nil
		}
		begin := bytes.LastIndexByte(lines[:i], '\n') + 1
		line := lines[begin:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		env, _, state := rawjson.ScanEnvelope(line)
		if bytes.Equal(env.Type, infoWord) && state == rawjson.Complete {
			return line
		}
		lines = lines[:begin]
	}
}
