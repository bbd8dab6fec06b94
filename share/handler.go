package share

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// handler is a file of the user that shares pages. Without a path there is none.
type handler struct {
	path   string
	module bool // for bun or Node.js, otherwise a program
}

func (h handler) name() string { return filepath.Base(h.path) }

// failed returns the error of a handler that failed, with the way to share without it.
func (h handler) failed(kind fault.Kind, format string, args ...any) error {
	args = append([]any{h.path}, args...)
	return fault.New(kind, "%s "+format+"; without that file the session is shared as a gist.", args...).With("path", h.path)
}

// handler finds the user's handler: that of the first agent directory that has one. An unusable one is
// an error, as the page was meant for it and not for that of another program.
func (s Sharer) handler() (handler, error) {
	for _, dir := range s.AgentDirs {
		if h, err := s.handlerIn(dir); h.path != "" || err != nil {
			return h, err
		}
	}
	return handler{}, nil
}

// handlerIn finds the handler of an agent directory.
func (s Sharer) handlerIn(dir string) (handler, error) {
	for _, name := range []string{"share.ts", "share.js", "share.mjs"} {
		h := handler{path: filepath.Join(dir, name), module: true}
		if there, _, err := s.stat(h); there || err != nil {
			return s.checked(h, err)
		}
	}
	for _, name := range executables() {
		h := handler{path: filepath.Join(dir, name)}
		there, mode, err := s.stat(h)
		if there && mode&0o111 == 0 && runtime.GOOS != "windows" {
			err = h.failed(fault.IO, "is not executable")
		}
		if there || err != nil {
			return s.checked(h, err)
		}
	}
	return handler{}, nil
}

// checked is the result of handler for a handler that exists.
func (s Sharer) checked(h handler, err error) (handler, error) {
	if err == nil && s.Check != nil {
		err = s.Check(filepath.Dir(h.path))
	}
	return h, err
}

// executables are the names of a handler that is a program.
func executables() []string {
	if runtime.GOOS == "windows" {
		return []string{"share.exe", "share.cmd", "share.bat"}
	}
	return []string{"share"}
}

// stat reports whether the handler exists. A directory of its name does not count.
func (s Sharer) stat(h handler) (bool, fs.FileMode, error) {
	info, err := s.Fs.Stat(h.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, 0, nil
	case err != nil:
		return false, 0, h.failed(fault.IO, "cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return false, 0, h.failed(fault.IO, "is a pipe, a socket or a device")
	}
	return !info.IsDir(), info.Mode(), nil
}

// reply is the answer of a handler, as a module's runner writes it.
type reply struct {
	URL     string
	Message string

	Wrong  string // description of an invalid answer
	Failed string // the step at which it failed: load, export or run
	Error  string // the reason
}

// custom shares a page with the user's handler.
func (s Sharer) custom(ctx context.Context, h handler, p Page) (Result, error) {
	ask := s.execute
	if h.module {
		ask = s.runModule
	}
	r, err := ask(ctx, h, p)
	if err != nil {
		return Result{}, err
	}
	if err := h.check(r); err != nil {
		return Result{}, err
	}
	result := Result{Via: Custom, URL: strings.TrimSpace(r.URL), Message: strings.TrimSpace(r.Message)}
	if result.URL == "" && result.Message == "" {
		result.Message = Shared
	}
	return result, nil
}

// check is the error in a reply, nil for an answer.
func (h handler) check(r reply) error {
	switch {
	case r.Failed == "load":
		return h.failed(fault.IO, "could not be loaded: %s", sentence(r.Error))
	case r.Failed == "export":
		return h.failed(fault.IO, "has no default export that is a function")
	case r.Failed != "":
		return h.failed(fault.IO, "failed: %s", sentence(r.Error))
	case r.Wrong != "":
		return h.failed(fault.IO, "returned %s instead of an address, an object with url or message, or nothing", r.Wrong)
	}
	return nil
}

// execute shares a page with a program, which prints the address of the page.
func (s Sharer) execute(ctx context.Context, h handler, p Page) (reply, error) {
	out, err := s.run(ctx, p.cwd(), h.path, p.Path)
	switch {
	case err != nil:
		return reply{}, err
	case out.failed != nil:
		return reply{}, h.failed(fault.IO, "failed: %s", out.why())
	case out.cut:
		return reply{}, h.failed(fault.IO, "printed too much output")
	}
	text := strings.TrimSpace(out.stdout)
	if !strings.HasPrefix(text, "{") {
		// Other output may come before the address.
		return reply{URL: text[strings.LastIndexByte(text, '\n')+1:]}, nil
	}
	var answer struct{ URL, Message string }
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return reply{}, h.failed(fault.IO, "printed neither an address nor a JSON object with the strings url or message")
	}
	return reply{URL: answer.URL, Message: answer.Message}, nil
}

func (p Page) cwd() string {
	if p.Cwd != "" {
		return p.Cwd
	}
	return filepath.Dir(p.Path)
}
