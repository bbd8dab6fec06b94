package lsp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/spf13/afero"
	"go.lsp.dev/uri"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// The protocol has no request for a long text. So the user writes it into a file that the editor opens,
// and saves it. The files are on the real disk, below Backend.InputDir, because editors open files
// there.

// maxInput bounds an answer, in bytes.
const maxInput = 16 << 20

// Files of crashed servers are removed: after an hour if the process does not exist, because it may run
// on another machine, and after a week in any case, because another process may have its number.
const (
	inputOrphanedAfter = time.Hour
	inputOldAfter      = 7 * 24 * time.Hour
)

// inputs are the open input files. It is safe for concurrent use.
type inputs struct {
	mu     sync.Mutex
	dir    string            // "" for a temporary directory per file; guarded by mu
	byName map[string]*input // by file name, which is unique; guarded by mu
}

// input is one file that the user writes.
type input struct {
	fs      afero.Fs
	path    string
	content []byte // of the new file
	own     string // a directory for this file only, or ""

	changed chan struct{} // holds a value after a notification

	names func(ctx context.Context) ([]engine.Command, error) // see commands.InputRequest; nil: none

	mu     sync.Mutex
	saved  bool   // the client reported that; guarded by mu
	closed bool   // the client closed the document and has not reopened it; guarded by mu
	text   string // of the document, as the client reported it; guarded by mu
}

func newInputs() *inputs { return &inputs{byName: map[string]*input{}} }

// setDir sets the directory of new files.
func (in *inputs) setDir(dir string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.dir = dir
}

// update records a notification about a document. It reports whether that is an input file, which is
// not one of [Documents].
func (in *inputs) update(path string, note func(*input)) bool {
	in.mu.Lock()
	f := in.byName[filepath.Base(path)]
	in.mu.Unlock()
	if f == nil {
		return false
	}
	f.mu.Lock()
	note(f)
	f.mu.Unlock()
	select {
	case f.changed <- struct{}{}:
	default:
	}
	return true
}

func (in *inputs) opened(path, text string) bool {
	return in.update(path, func(f *input) { f.closed, f.text = false, text })
}

func (in *inputs) edited(path string, changes []contentChange, enc textdoc.Encoding) bool {
	return in.update(path, func(f *input) {
		for _, c := range changes {
			f.text = c.apply(f.text, enc)
		}
	})
}

func (in *inputs) closed(path string) bool {
	return in.update(path, func(f *input) { f.closed = true })
}

func (in *inputs) saved(path string) bool { return in.update(path, func(f *input) { f.saved = true }) }

// documentSaved handles textDocument/didSave.
func (s *server) documentSaved(p *didCloseParams) error {
	if path, ok := textdoc.Path(p.TextDocument.URI); ok {
		s.documents.inputs.saved(path)
	}
	s.documents.didSave(p.TextDocument.URI)
	s.pending.documentMoved(p.TextDocument.URI)
	return nil
}

// Input asks the user for a text. It opens a file in the editor and returns the text once the user has
// saved it. If the client does not open the file, a message asks the user to. Input removes the file
// in any case.
func (ui clientUI) Input(ctx context.Context, r commands.InputRequest) (text string, ok bool, err error) {
	ui.s.clearInputs()
	in, err := ui.s.newInput(r)
	if err != nil {
		return "", false, err
	}
	in.names = r.Names
	defer ui.s.endInput(in)
	watch := in.watch(ui.s.log)
	defer watch.close()
	if !ui.s.showDocument(ctx, uri.File(in.path), false) {
		if err := ctx.Err(); err != nil {
			return "", false, err
		}
		return ui.inputByQuestion(ctx, in, watch, r)
	}
	return ui.awaitInput(ctx, in, watch)
}

// awaitInput waits until the file is saved.
func (ui clientUI) awaitInput(ctx context.Context, in *input, watch inputWatch) (text string, ok bool, err error) {
	progress := ui.Progress(ctx, "Waiting for "+filepath.ToSlash(in.path)+" to be saved")
	defer progress.End("")
	saved, err := in.wait(ctx, watch, ui.s.opts.Clock, ui.s.log)
	if err == nil {
		text, err = in.answer(saved)
	}
	return text, err == nil, err
}

// inputByQuestion names the file in a question. Some editors show nothing else while a question is open, so the user may write
// the file after the answer.
func (ui clientUI) inputByQuestion(ctx context.Context, in *input, watch inputWatch, r commands.InputRequest) (text string, ok bool, err error) {
	where := fmt.Sprintf("%s Write it into %s and save it", inputLabel(r.Title), filepath.ToSlash(in.path))
	i, err := ui.Ask(ctx, commands.Question{Text: where + ", before or after you choose Continue.", Choices: []string{"Continue", "Cancel"}})
	switch {
	case err != nil || i < 0:
		return "", false, err
	case i > 0:
		return "", true, nil
	case in.untouched():
		ui.Notify(ctx, commands.LevelInfo, where+". To cancel, save it without a text.")
		return ui.awaitInput(ctx, in, watch)
	}
	text, err = in.answer(true)
	return text, err == nil, err
}

// untouched reports whether the user has neither changed nor saved the file.
func (in *input) untouched() bool {
	saved, _ := in.status()
	content, err := afero.ReadFile(in.fs, in.path)
	return err == nil && !saved && bytes.Equal(content, in.content)
}

// newInput creates the file of an input.
func (s *server) newInput(r commands.InputRequest) (*input, error) {
	return s.newInputFile(r.Title, ".md", inputContent(r))
}

// newInputFile creates a file in the directory of input files, or else in a new temporary directory.
func (s *server) newInputFile(title, extension string, content []byte) (*input, error) {
	list := s.documents.inputs
	if dir := list.directory(); dir != "" {
		in, err := list.create(dir, inputName(title), extension, content)
		if err == nil {
			return in, nil
		}
		s.log.Info("the temporary directory is used for an input", zap.String("instead of", dir), zap.Error(err))
	}
	dir, err := afero.TempDir(afero.NewOsFs(), "", "xcsh-ls-")
	if err != nil {
		return nil, inputFault("create", os.TempDir(), err)
	}
	in, err := list.create(dir, inputName(title), extension, content)
	if err != nil {
		return nil, inputFault("create", dir, errors.Join(err, afero.NewOsFs().Remove(dir)))
	}
	in.own = dir
	return in, nil
}

func (in *inputs) directory() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.dir
}

// create creates a file in dir that only the user can read.
func (in *inputs) create(dir, name, extension string, content []byte) (*input, error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	name = fmt.Sprintf("%s-%d-%s%s", name, os.Getpid(), hex.EncodeToString(random[:]), extension)
	f := &input{fs: afero.NewOsFs(), path: filepath.Join(dir, name), content: content, changed: make(chan struct{}, 1)}
	if err := f.fs.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := f.fs.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, errors.Join(err, f.fs.Remove(f.path))
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.byName[name] = f
	return f, nil
}

// endInput removes a file.
func (s *server) endInput(in *input) {
	list := s.documents.inputs
	list.mu.Lock()
	delete(list.byName, filepath.Base(in.path))
	list.mu.Unlock()
	err := in.fs.Remove(in.path)
	if in.own != "" { // including backup files of the editor
		err = in.fs.RemoveAll(in.own)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.log.Warn("the file of an input was not removed", zap.String("path", in.path), zap.Error(err))
	}
}

func inputFault(verb, path string, err error) error {
	return fault.New(fault.IO, "Cannot %s %s: %w.", verb, path, err).With("path", path)
}

// writeAbove marks the line below which the text is ignored.
const writeAbove = "Write above this line and save."

// inputContent returns the content of a new file: the initial text and the marker line below it.
func inputContent(r commands.InputRequest) []byte {
	words := []string{inputLabel(r.Title), r.Hint, writeAbove, "Save nothing above it to cancel."}
	if r.Hint == "" {
		words = append(words[:1], words[2:]...)
	}
	return fmt.Appendf(nil, "%s\n<!-- %s -->\n", r.Initial, strings.ReplaceAll(strings.Join(words, " "), "-->", "→"))
}

// inputLabel returns a title as it precedes instructions: with a colon, unless it is a sentence.
func inputLabel(title string) string {
	if title == "" || strings.ContainsAny(title[len(title)-1:], ".?!:") {
		return title
	}
	return title + ":"
}

// answer returns the user's text. It is "" if the file is gone or is unchanged and was not saved.
func (in *input) answer(saved bool) (string, error) {
	f, err := in.fs.Open(in.path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", inputFault("read", in.path, err)
	}
	content, err := io.ReadAll(io.LimitReader(f, maxInput+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", inputFault("read", in.path, err)
	}
	if len(content) > maxInput {
		return "", fault.New(fault.InvalidArgument, "%s has more than %d MiB.", in.path, maxInput>>20).With("path", in.path)
	}
	if !saved && bytes.Equal(content, in.content) {
		return "", nil
	}
	return inputText(string(content)), nil
}

// inputText returns the text above the marker line without blank lines around it. If the marker line
// was deleted, it returns the entire text.
func inputText(content string) string {
	content = strings.ToValidUTF8(strings.TrimPrefix(content, "\ufeff"), "\ufffd")
	lines := strings.Split(strings.ReplaceAll(content, "\r\n", "\n"), "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "<!--") && strings.Contains(line, writeAbove) {
			lines = lines[:i]
			break
		}
	}
	blank := func(line string) bool { return strings.TrimSpace(line) == "" }
	for len(lines) > 0 && blank(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n")
}

// inputName returns the beginning of a file name for a title.
func inputName(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	name := strings.Join(words, "-")
	if name == "" {
		return "input"
	}
	return strings.TrimSuffix(name[:min(len(name), 40)], "-")
}

// inputFile matches the names of input files, and of the files that editors create beside them. The
// number is the process id.
var inputFile = regexp.MustCompile(`^[.#]*[a-z0-9-]+-([0-9]+)-[0-9a-f]{16}\.(?:md|diff).*$`)

// clearInputs removes the files of crashed servers.
func (s *server) clearInputs() {
	dir, fs, now := s.documents.inputs.directory(), afero.NewOsFs(), s.opts.Clock.Now()
	if dir == "" {
		return
	}
	infos, err := afero.ReadDir(fs, dir)
	if err != nil {
		return // it does not exist yet, or creating a file will fail
	}
	for _, info := range infos {
		name := inputFile.FindStringSubmatch(info.Name())
		if name == nil || !info.Mode().IsRegular() {
			continue
		}
		pid, err := strconv.Atoi(name[1])
		gone := err != nil || pid != os.Getpid() && !s.opts.Alive(pid)
		age := now.Sub(info.ModTime())
		if age > inputOldAfter && pid != os.Getpid() || gone && age > inputOrphanedAfter {
			_ = fs.Remove(filepath.Join(dir, info.Name())) // the next one tries again
		}
	}
}
