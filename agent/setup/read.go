package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

const (
	maxConfig  = 1 << 20   // bytes of a configuration file
	maxText    = 64 << 10  // bytes of a text for the system prompt; more of it is cut
	maxBody    = 256 << 10 // bytes of a skill or template
	maxLevels  = 64        // directories from the folder upward
	maxDepth   = 8         // directories within each other below a directory of skills or templates
	maxFiles   = 1000      // files that are read
	maxTotal   = 16 << 20  // bytes of all of them
	maxEntries = 5000      // entries of directories
	maxListed  = 500       // rows of each list of a result
	maxWhy     = 300       // bytes of a reason that a library gives
)

// budget bounds the work of one call.
type budget struct {
	files, entries int
	bytes          int64
	spent          bool // something was left unread
}

func newBudget() budget { return budget{files: maxFiles, entries: maxEntries, bytes: maxTotal} }

// place is where a file is: that of the user's own at path, or of the project at path in dir.
type place struct {
	dir, path string
	config    bool // not for the model: the user's own may hold credentials
	advice    bool // instructions, whose problems say that the model does not get them
}

func ofUser(path string) place         { return place{path: path} }
func ofProject(dir, path string) place { return place{dir: dir, path: path} }
func (p place) full() string           { return filepath.Join(p.dir, filepath.FromSlash(p.path)) }

func (p place) join(name string) place {
	return place{p.dir, filepath.Join(p.path, name), p.config, p.advice}
}
func (p place) asConfig() place           { p.config = true; return p }
func (p place) base(suffix string) string { return strings.TrimSuffix(filepath.Base(p.path), suffix) }

func (p place) scope() Scope {
	if p.dir == "" {
		return User
	}
	return Project
}

// read returns up to limit bytes of a file, as valid text. ok is false for a missing file and for one that
// must not be used, which is a problem.
func (l *looking) read(p place, limit int64) (in intake.File, ok bool) {
	if l.ctx.Err() != nil {
		return in, false
	}
	if l.budget.files <= 0 || l.budget.bytes <= 0 {
		l.budget.spent = true
		return in, false
	}
	in, err := l.open(p, limit)
	if missing(err) {
		return in, false
	}
	l.budget.files--
	switch {
	case err != nil && p.advice:
		l.problem(p.full(), "The instructions in "+p.full()+" are not sent to the model: "+reason(err)+".")
		return in, false
	case err != nil:
		l.unused(p.full(), reason(err))
		return in, false
	}
	l.budget.bytes -= int64(len(in.Content))
	l.source(p.full())
	return readable(in, limit), true
}

// readable returns a file as valid text of at most limit bytes.
func readable(in intake.File, limit int64) intake.File {
	if in.Cut {
		in.Content = wholeRunes(in.Content)
	}
	in.Content = bytes.ToValidUTF8(bytes.TrimPrefix(in.Content, []byte("\xEF\xBB\xBF")), []byte("\uFFFD"))
	if int64(len(in.Content)) > limit {
		in.Content, in.Cut = wholeRunes(in.Content[:limit]), true
	}
	return in
}

// wholeRunes returns a text without the beginning of a character at its end.
func wholeRunes[T string | []byte](text T) T {
	for range utf8.UTFMax - 1 {
		if r, size := utf8.DecodeLastRuneInString(string(text[max(len(text)-utf8.UTFMax, 0):])); r != utf8.RuneError || size != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text
}

// whole is read for a file of which a part is of no use.
func (l *looking) whole(p place, limit int64) (text string, ok bool) {
	in, ok := l.read(p, limit)
	if ok && in.Cut {
		l.unused(p.full(), fmt.Sprintf("it is longer than %d bytes", limit))
		return "", false
	}
	return string(in.Content), ok
}

// open reads a file and checks that it may be used.
func (l *looking) open(p place, limit int64) (intake.File, error) {
	if p.dir == "" {
		in, err := intake.Read(l.Fs, p.path, limit)
		if err == nil && !p.config && l.denied(p.path, in.Info) {
			err = &intake.Refused{Path: p.path, Why: "it is a credentials file"}
		}
		return in, err
	}
	in, err := intake.ReadBelow(l.Fs, p.dir, filepath.FromSlash(p.path), limit)
	if err != nil {
		return in, err
	}
	switch {
	case l.denied(p.full(), in.Info):
		return in, &intake.Refused{Path: p.full(), Why: "it is a credentials file"}
	case !p.config && !l.likeItself(p):
		return in, &intake.Refused{Path: p.full(), Why: "it is a symbolic link to a file of another kind"}
	case intake.Planted(l.Fs, l.cwd, p.dir, in.Info):
		return in, &intake.Refused{Path: p.full(), Why: "another user owns it or can write to it"}
	}
	return in, nil
}

func (l *looking) denied(path string, info fs.FileInfo) bool {
	return l.private.Denies(path) || l.private.DeniesInfo(info)
}

// likeItself reports whether a file of the project is what its name says after its links are followed: a link
// may give a text another name, and must not send a file of another kind.
func (l *looking) likeItself(p place) bool {
	to := sensitive.Resolve(l.Fs, p.full())
	texts := []string{".md", ".mdc", ".markdown"}
	return filepath.Base(to) == filepath.Base(p.full()) || slices.Contains(texts, strings.ToLower(filepath.Ext(to)))
}

// errNotDir is the error for something that is not a directory.
var errNotDir = errors.New("it is not a directory")

// list returns the entries of a directory, sorted by name: their names, and whether they are directories
// once links are followed. A missing directory has none.
func (l *looking) list(p place) (entries []entry) {
	if l.ctx.Err() != nil {
		return nil
	}
	dir := p.full()
	f, err := intake.OpenFile(l.Fs, dir, os.O_RDONLY, func(_ string, info fs.FileInfo) error {
		if !info.IsDir() {
			return errNotDir
		}
		return nil
	})
	if err != nil {
		if !missing(err) {
			l.problem(dir, "The directory "+dir+" was not read: "+reason(err)+".")
		}
		return nil
	}
	defer f.Close()
	infos, _ := f.Readdir(l.budget.entries + 1) // fewer after an error
	if len(infos) > l.budget.entries {
		infos, l.budget.spent = infos[:l.budget.entries], true
	}
	l.budget.entries -= len(infos)
	for _, info := range infos {
		e := entry{name: info.Name(), dir: info.IsDir(), info: info}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := l.Fs.Stat(filepath.Join(dir, e.name))
			e.dir = err == nil && to.IsDir()
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return entries
}

// entry is an entry of a directory.
type entry struct {
	name string
	dir  bool
	info fs.FileInfo
}

// missing reports whether an error means that there is no such file or directory.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) || errors.Is(err, syscall.ENOTDIR)
}

// exists reports whether there is anything at a place.
func (l *looking) exists(p place) bool {
	_, err := l.Fs.Stat(p.full())
	return err == nil
}

func (l *looking) source(path string) {
	if len(l.r.Sources) < maxFiles {
		l.r.Sources = append(l.r.Sources, path)
	}
}

func (l *looking) problem(path, text string) {
	p := Problem{Path: path, Text: text}
	if len(l.r.Problems) < maxListed && !slices.Contains(l.r.Problems, p) {
		l.r.Problems = append(l.r.Problems, p)
	}
}

// unused reports a file that is not used.
func (l *looking) unused(path, why string) { l.problem(path, path+" is not used: "+why+".") }

// partly reports an entry of a file that is not used.
func (l *looking) partly(path, what, why string) {
	l.problem(path, path+": "+what+" is not used: "+why+".")
}

func (l *looking) leaveOut(kind Kind, name, path, why string) {
	l.leave(LeftOut{Kind: kind, Name: name, Path: path, Why: why})
}

func (l *looking) leave(o LeftOut) {
	if len(l.r.LeftOut) < maxListed && !slices.Contains(l.r.LeftOut, o) {
		l.r.LeftOut = append(l.r.LeftOut, o)
	}
}

// shadowed leaves out something whose name is in use.
func (l *looking) shadowed(kind Kind, name, path, by string) {
	l.leaveOut(kind, name, path, "The one of the same name in "+by+" takes precedence.")
}

// reason returns the reason of an error, on one line.
func reason(err error) string {
	text := err.Error()
	if refused, ok := errors.AsType[*intake.Refused](err); ok {
		text = refused.Why
	} else if path, ok := errors.AsType[*fs.PathError](err); ok {
		text = path.Err.Error()
	}
	return line(text, maxWhy)
}

// line returns at most n bytes of a text on one line.
func line(text string, n int) string {
	text = strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
	if len(text) > n {
		text = strings.ToValidUTF8(text[:n], "") + "…"
	}
	return text
}
