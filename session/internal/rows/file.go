package rows

import (
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/afero"
)

// The first line of a file.
const (
	magicName = "xcsh-ls list "
	magic     = magicName + "3\n"
)

// maxFile is the largest file that is read or written, in bytes: some hundred thousand rows.
var maxFile = 128 << 20

// File is the stored rows as they were when it was opened. Except for Close and Save its methods may be
// called concurrently.
type File struct {
	fs     afero.Fs
	path   string
	base   *block // nil: there is no usable file
	later  []*block
	over   map[string]map[uint64]Row // the rows of later, by directory
	size   int64                     // bytes of the file that were read
	whole  int64                     // length of the base with the magic
	broken bool                      // something behind the base cannot be read
	mu     sync.Mutex                // afero's file in memory cannot be read concurrently
	file   afero.File                // holds the texts of the base; guarded by mu
	buf    []byte                    // guarded by mu
}

// Open opens the file at path. An unusable file has no rows. It must be closed.
func Open(fsys afero.Fs, path string) *File {
	f := &File{fs: fsys, path: path}
	info, err := fsys.Stat(path) // first: opening a pipe might block forever
	if err != nil || !info.Mode().IsRegular() || info.Size() > int64(maxFile) {
		return f
	}
	f.file, err = fsys.Open(path)
	if err != nil {
		f.file = nil
		return f
	}
	f.size = info.Size()
	if !f.readBase() {
		f.base = nil
		f.Close()
		return f
	}
	f.readLater()
	return f
}

// Close closes the file. Texts that are not in memory cannot be read any more.
func (f *File) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil {
		_ = f.file.Close() // it was only read
		f.file = nil
	}
}

func (f *File) readBase() bool {
	head := make([]byte, len(magic)+blockHead)
	if !readAt(f.file, head, 0) || string(head[:len(magic)]) != magic {
		return false
	}
	s, ok := parseHead(head[len(magic):], f.size-int64(len(head)))
	if !ok {
		return false
	}
	raw := make([]byte, blockHead+s.names+s.rows)
	if !readAt(f.file, raw, int64(len(magic))) {
		return false
	}
	f.base, ok = parseBlock(raw, s)
	if ok {
		f.base.textAt = int64(len(magic) + len(raw))
		f.whole = f.base.textAt + s.texts
	}
	return ok
}

// readLater reads the blocks behind the base, which are short, with their texts.
func (f *File) readLater() {
	raw := make([]byte, f.size-f.whole)
	f.over = map[string]map[uint64]Row{}
	if f.broken = !readAt(f.file, raw, f.whole); f.broken {
		return
	}
	for len(raw) > 0 {
		s, ok := parseHead(raw, int64(len(raw)-blockHead))
		var b *block
		if ok {
			b, ok = parseBlock(raw[:blockHead+s.names+s.rows], s)
		}
		if f.broken = !ok; f.broken {
			return
		}
		raw = raw[blockHead+s.names+s.rows:]
		b.loaded, b.texts, raw = true, string(raw[:s.texts]), raw[s.texts:]
		f.add(b)
	}
}

func (f *File) add(b *block) {
	f.later = append(f.later, b)
	for dir, in := range b.dirs {
		rows := f.over[dir]
		if rows == nil {
			rows = map[uint64]Row{}
			f.over[dir] = rows
		}
		for i := in.from; i < in.from+in.n; i++ {
			rows[b.hashAt(i)] = Row{b, i}
		}
	}
}

// Dirs returns the directories of all rows, in no order.
func (f *File) Dirs() []string {
	if f.base == nil {
		return nil
	}
	dirs := slices.Clone(f.base.paths)
	for dir := range f.over {
		if _, based := f.base.dirs[dir]; !based {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Dir is the rows of one directory.
type Dir struct {
	f    *File
	in   span
	over map[uint64]Row
}

// Dir returns the rows of the directory, which is named as in [Facts].
func (f *File) Dir(path string) Dir {
	if f.base == nil {
		return Dir{}
	}
	return Dir{f, f.base.dirs[path], f.over[path]}
}

// Find returns the row of the file with the name. Another name may have the same hash; the
// stamp and the text tell them apart.
func (d Dir) Find(name string) Row {
	if d.f == nil {
		return Row{}
	}
	hash := Hash(name)
	if r, ok := d.over[hash]; ok {
		return r
	}
	return d.f.base.find(d.in, hash)
}

// all returns every row of the directory.
func (d Dir) all() []Row {
	rows := make([]Row, 0, d.in.n+len(d.over))
	for i := d.in.from; i < d.in.from+d.in.n; i++ {
		if _, later := d.over[d.f.base.hashAt(i)]; !later {
			rows = append(rows, Row{d.f.base, i})
		}
	}
	for _, r := range d.over {
		rows = append(rows, r)
	}
	return rows
}

// Preload prepares for reading the texts of n rows: it reads all at once if they are many.
func (f *File) Preload(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.base == nil || f.file == nil || f.base.loaded || n < len(f.base.rows)/rowSize/8 {
		return
	}
	var texts strings.Builder // the texts of rows are parts of it, so that none needs memory of its own
	size := f.whole - f.base.textAt
	texts.Grow(int(size))
	got, err := io.CopyBuffer(&texts, io.NewSectionReader(f.file, f.base.textAt, size), make([]byte, min(size+1, 64<<10)))
	if err == nil && got == size {
		f.base.loaded, f.base.texts = true, texts.String()
	}
}

// Text returns a row's text. ok is false if it cannot be read or is not the stored one.
func (f *File) Text(r Row) (text string, ok bool) {
	from, length, sum := r.place()
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.b.loaded {
		if from+length > int64(len(r.b.texts)) {
			return "", false
		}
		text = r.b.texts[from : from+length]
		f.buf = append(f.buf[:0], text...)
		return text, crc32.Checksum(f.buf, castagnoli) == sum
	}
	if f.file == nil || r.b != f.base || r.b.textAt+from+length > f.whole {
		return "", false
	}
	f.buf = slices.Grow(f.buf[:0], int(length))[:length]
	if !readAt(f.file, f.buf, r.b.textAt+from) || crc32.Checksum(f.buf, castagnoli) != sum {
		return "", false
	}
	return string(f.buf), true
}

// readAt fills b.
func readAt(r io.ReaderAt, b []byte, at int64) bool {
	n, err := r.ReadAt(b, at)
	return n == len(b) && (err == nil || err == io.EOF)
}

// Outdated reports whether the file at path is of an older version. One of a newer version is left
// to that version.
func Outdated(fsys afero.Fs, path string) bool {
	file, err := fsys.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, len(magic)+8)
	n, _ := io.ReadFull(file, head) // a shorter one is no such file
	version, ok := versionOf(string(head[:n]))
	current, _ := versionOf(magic)
	return ok && version < current
}

// versionOf reads the version off the beginning of a file.
func versionOf(head string) (version int, ok bool) {
	line, _, ok := strings.Cut(head, "\n")
	number, named := strings.CutPrefix(line, magicName)
	version, err := strconv.Atoi(number)
	return version, ok && named && err == nil
}

// IsUnfinished reports whether name is that of a file which a writer of the file called base did
// not finish.
func IsUnfinished(base, name string) bool {
	temp, _ := filepath.Match(base+".*.tmp", name)
	return temp
}
