package share

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// handler is a file of the person's that shares pages. Without a path there is none.
type handler struct {
	path   string
	module bool // for bun or Node.js, else a program
}

func (h handler) name() string { return filepath.Base(h.path) }

// failed says that the handler did not do it, and what to do without it.
func (h handler) failed(kind fault.Kind, format string, args ...any) error {
	args = append([]any{h.path}, args...)
	return fault.New(kind, "%s "+format+"; without that file the session is shared as a gist.", args...).With("path", h.path)
}

// handler finds the person's handler. One that is there and cannot be used is an error.
func (s Sharer) handler() (handler, error) {
	for _, name := range []string{"share.ts", "share.js", "share.mjs"} {
		h := handler{path: filepath.Join(s.AgentDir, name), module: true}
		if there, _, err := s.look(h); there || err != nil {
			return h, err
		}
	}
	for _, name := range executables() {
		h := handler{path: filepath.Join(s.AgentDir, name)}
		there, mode, err := s.look(h)
		if there && mode&0o111 == 0 && runtime.GOOS != "windows" {
			err = h.failed(fault.IO, "is not executable")
		}
		if there || err != nil {
			return h, err
		}
	}
	return handler{}, nil
}

// executables are the names of a handler that is a program.
func executables() []string {
	if runtime.GOOS == "windows" {
		return []string{"share.exe", "share.cmd", "share.bat"}
	}
	return []string{"share"}
}

// look reports whether the handler is there. A directory of its name is something else.
func (s Sharer) look(h handler) (bool, fs.FileMode, error) {
	info, err := s.Fs.Stat(h.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, 0, nil
	case err != nil:
		return false, 0, h.failed(fault.IO, "cannot be read: %w", err)
	}
	return !info.IsDir(), info.Mode(), nil
}

// reply is what a handler answered, as a module's runner writes it.
type reply struct {
	URL     string
	Message string

	Wrong  string // what it answered instead
	Failed string // the step at which it failed: load, export or run
	Error  string // why
}

// custom shares a page with the person's handler.
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

// check is the error that a reply stands for, nil for an answer.
func (h handler) check(r reply) error {
	switch {
	case r.Failed == "load":
		return h.failed(fault.IO, "could not be loaded: %s", sentence(r.Error))
	case r.Failed == "export":
		return h.failed(fault.IO, "has no default export that is a function")
	case r.Failed != "":
		return h.failed(fault.IO, "failed: %s", sentence(r.Error))
	case r.Wrong != "":
		return h.failed(fault.IO, "answered with %s, and not with an address, an object with url or message, or nothing", r.Wrong)
	}
	return nil
}

// execute shares a page with a program, which says on its standard output where it is.
func (s Sharer) execute(ctx context.Context, h handler, p Page) (reply, error) {
	out, err := s.run(ctx, p.cwd(), h.path, p.Path)
	switch {
	case err != nil:
		return reply{}, err
	case out.failed != nil:
		return reply{}, h.failed(fault.IO, "failed: %s", out.why())
	case out.cut:
		return reply{}, h.failed(fault.IO, "printed more than an answer")
	}
	text := strings.TrimSpace(out.stdout)
	if !strings.HasPrefix(text, "{") {
		// What it says on the way may come before the address.
		return reply{URL: text[strings.LastIndexByte(text, '\n')+1:]}, nil
	}
	var answer struct{ URL, Message string }
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return reply{}, h.failed(fault.IO, "printed what is neither an address nor a JSON object with the texts url or message")
	}
	return reply{URL: answer.URL, Message: answer.Message}, nil
}

func (p Page) cwd() string {
	if p.Cwd != "" {
		return p.Cwd
	}
	return filepath.Dir(p.Path)
}
