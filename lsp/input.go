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

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// No editor has a message that asks for a text. So the person is given a file to write it in: the
// editor opens it, and the answer is there when it is saved. The files are on the real disk, below
// Backend.InputDir, because that is where an editor looks for them.

// maxInput bounds an answer, in bytes.
const maxInput = 16 << 20

// Leftovers of servers that crashed are removed: of a process that is gone after an hour, for the
// process may be one of another machine; of any after a week, for the number may be another's.
const (
	inputLeftAfter = time.Hour
	inputOldAfter  = 7 * 24 * time.Hour
)

// inputs are the files that are being written. It is safe for concurrent use.
type inputs struct {
	mu     sync.Mutex
	dir    string            // "" for one of its own below the temporary directory for each file; guarded by mu
	byName map[string]*input // by file name, which is like no other; guarded by mu
}

// input is one file that is being written.
type input struct {
	fs      afero.Fs
	path    string
	content []byte // as the file was made
	own     string // a directory made for this file alone, "" for none

	changed chan struct{} // holds one when something was told

	mu     sync.Mutex
	saved  bool // the client said so; guarded by mu
	closed bool // the client closed the document and did not open it again; guarded by mu
}

func newInputs() *inputs { return &inputs{byName: map[string]*input{}} }

// setDir says where files are made.
func (in *inputs) setDir(dir string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.dir = dir
}

// tell notes what the client said of a document. It reports whether that is a file of ours, which
// is no document to anybody else.
func (in *inputs) tell(path string, note func(*input)) bool {
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

func (in *inputs) opened(path string) bool { return in.tell(path, func(f *input) { f.closed = false }) }
func (in *inputs) edited(path string) bool { return in.tell(path, func(*input) {}) }
func (in *inputs) closed(path string) bool { return in.tell(path, func(f *input) { f.closed = true }) }

func (in *inputs) saved(path string) bool { return in.tell(path, func(f *input) { f.saved = true }) }

// documentSaved is textDocument/didSave.
func (s *server) documentSaved(p *didCloseParams) error {
	if path, ok := filePath(p.TextDocument.URI); ok {
		s.documents.inputs.saved(path)
	}
	return nil
}

// Input gives the person a file to write in and returns what it says once it is saved. A client
// that does not open it is asked to say when it is written. The file is removed in any case.
func (ui clientUI) Input(ctx context.Context, r commands.InputRequest) (text string, ok bool, err error) {
	ui.s.clearInputs()
	in, err := ui.s.newInput(r)
	if err != nil {
		return "", false, err
	}
	defer ui.s.endInput(in)
	watch := in.watch(ui.s.log)
	defer watch.close()
	if !ui.s.showDocument(ctx, uri.File(in.path), false) {
		if err := ctx.Err(); err != nil {
			return "", false, err
		}
		return ui.inputByQuestion(ctx, in, r)
	}
	progress := ui.Progress(ctx, "Waiting for "+filepath.ToSlash(in.path)+" to be saved")
	defer progress.End("")
	saved, err := in.wait(ctx, watch, ui.s.opts.Clock, ui.s.log)
	if err == nil {
		text, err = in.answer(saved)
	}
	return text, err == nil, err
}

// inputByQuestion lets the person say when the file is written.
func (ui clientUI) inputByQuestion(ctx context.Context, in *input, r commands.InputRequest) (text string, ok bool, err error) {
	i, err := ui.Ask(ctx, commands.Question{
		Text:    fmt.Sprintf("%s Write it into %s, save, then choose Continue.", r.Title, filepath.ToSlash(in.path)),
		Choices: []string{"Continue", "Cancel"},
	})
	if err != nil || i < 0 {
		return "", false, err
	}
	if i == 0 {
		text, err = in.answer(true)
	}
	return text, err == nil, err
}

// newInput makes a file: where the server keeps such, else in a directory of its own.
func (s *server) newInput(r commands.InputRequest) (*input, error) {
	list, content := s.documents.inputs, inputContent(r)
	if dir := list.directory(); dir != "" {
		in, err := list.create(dir, inputName(r.Title), content)
		if err == nil {
			return in, nil
		}
		s.log.Info("the temporary directory is used for an input", zap.String("instead of", dir), zap.Error(err))
	}
	dir, err := afero.TempDir(afero.NewOsFs(), "", "xcsh-ls-")
	if err != nil {
		return nil, inputFault("create", os.TempDir(), err)
	}
	in, err := list.create(dir, inputName(r.Title), content)
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

// create makes a file in dir, which only the person may read.
func (in *inputs) create(dir, name string, content []byte) (*input, error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	name = fmt.Sprintf("%s-%d-%s.md", name, os.Getpid(), hex.EncodeToString(random[:]))
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
	if in.own != "" { // with what the editor left in it
		err = in.fs.RemoveAll(in.own)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.log.Warn("the file of an input was not removed", zap.String("path", in.path), zap.Error(err))
	}
}

func inputFault(verb, path string, err error) error {
	return fault.New(fault.IO, "Cannot %s %s: %w.", verb, path, err).With("path", path)
}

// writeAbove is what the line begins with below which nothing counts, behind the question.
const writeAbove = "Write above this line and save."

// inputContent is a new file: the text to begin with and the line below it.
func inputContent(r commands.InputRequest) []byte {
	words := []string{r.Title, r.Hint, writeAbove, "Save nothing above it to cancel."}
	if r.Hint == "" {
		words = append(words[:1], words[2:]...)
	}
	return fmt.Appendf(nil, "%s\n<!-- %s -->\n", r.Initial, strings.ReplaceAll(strings.Join(words, " "), "-->", "→"))
}

// answer reads what the person wrote. A file that is gone says nothing, nor does one that is as it
// was made, unless it was saved so.
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

// inputText is the text of a file without the line below it and without blank lines around it.
// Where the line was deleted all of it is the text.
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

// inputName makes the beginning of a file's name of a title.
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

// inputFile is the form of the files' names, and of those that editors put beside them; the number
// is that of the process.
var inputFile = regexp.MustCompile(`^[.#]*[a-z0-9-]+-([0-9]+)-[0-9a-f]{16}\.md.*$`)

// clearInputs removes what servers that crashed left behind.
func (s *server) clearInputs() {
	dir, fs, now := s.documents.inputs.directory(), afero.NewOsFs(), s.opts.Clock.Now()
	if dir == "" {
		return
	}
	infos, err := afero.ReadDir(fs, dir)
	if err != nil {
		return // there is none yet, or making a file will tell
	}
	for _, info := range infos {
		name := inputFile.FindStringSubmatch(info.Name())
		if name == nil || !info.Mode().IsRegular() {
			continue
		}
		pid, err := strconv.Atoi(name[1])
		gone := err != nil || pid != os.Getpid() && !s.opts.Alive(pid)
		age := now.Sub(info.ModTime())
		if age > inputOldAfter && pid != os.Getpid() || gone && age > inputLeftAfter {
			_ = fs.Remove(filepath.Join(dir, info.Name())) // the next one tries again
		}
	}
}
