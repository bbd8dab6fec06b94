package hosting

import (
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// FieldFork is the field of the error of [Continuable].
const FieldFork = "fork"

// Home is where a program keeps the sessions of a folder.
type Home struct {
	Dir    string                 // of the session files; "" for a program that keeps none
	Cwd    string                 // the folder
	Same   func(a, b string) bool // whether two folders are one; nil compares their names
	Exists func(dir string) bool  // nil: all do
}

// Continuable returns an ArgumentNeeded error with the field [FieldFork] if the program cannot continue the session in its file, so
// that the user has to decide about a copy in the program's form, for the folder.
func Continuable(log *session.Log, p engine.Program, home Home) error {
	form, native := p.Native()
	if !native {
		return nil
	}
	elsewhere := !opensAnyFile(p) && log.OnDisk() && filepath.Dir(log.Path()) != home.Dir
	return log.View(func(d *session.Document, _ session.Leaf) error {
		if err := home.foreign(d.Header().Cwd, p); err != nil {
			return err
		}
		problem := d.Unreadable(form)
		if problem == "" && elsewhere {
			problem = "It finds sessions only in a directory of its own."
		}
		if problem == "" {
			return nil
		}
		return needsFork(p, "%s cannot continue this session in its file. %s Fork it into a session of %s?", p.Name, problem, p.Name)
	})
}

// foreign returns an error for a session of another folder: a native program works in the folder that the session names,
// whichever it is started in.
func (h Home) foreign(cwd string, p engine.Program) error {
	same := h.Same
	if same == nil {
		same = func(a, b string) bool { return filepath.Clean(a) == filepath.Clean(b) }
	}
	switch {
	case same(cwd, h.Cwd):
		return nil
	case h.Exists != nil && !h.Exists(cwd):
		return needsFork(p, "The folder %s of this session is gone. Fork it into this one?", visible.Line(cwd))
	default:
		return needsFork(p, "This session is one of the folder %s, in which %s would work. Fork it into this one?", visible.Line(cwd), p.Name)
	}
}

func needsFork(p engine.Program, format string, args ...any) error {
	return fault.New(fault.ArgumentNeeded, format, args...).With("field", FieldFork).With("input", "text").With("engine", p.Name)
}

// makesFile reports whether a native program makes the file of a session with a given id. Others get one with nothing but the
// header.
func makesFile(p engine.Program) bool { return p.Protocol == engine.PiRPC }

// opensAnyFile reports whether a native program takes the path of a session file. Others find a session by its id, in a directory of
// their own.
func opensAnyFile(p engine.Program) bool { return p.Protocol != engine.ACP }
