package hosting

import (
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// FieldFork is the field of the error of [Continuable].
const FieldFork = "fork"

// Continuable returns an ArgumentNeeded error with the field [FieldFork] if the program cannot continue the session in its file, so
// that the user has to decide about a copy in the program's form. dir is where the program keeps its sessions of the folder.
func Continuable(log *session.Log, p engine.Program, dir string) error {
	form, native := p.Native()
	if !native {
		return nil
	}
	elsewhere := !opensAnyFile(p) && log.OnDisk() && filepath.Dir(log.Path()) != dir
	return log.View(func(d *session.Document, _ session.Leaf) error {
		problem := d.Unreadable(form)
		if problem == "" && elsewhere {
			problem = "It finds sessions only in a directory of its own."
		}
		if problem == "" {
			return nil
		}
		return fault.New(fault.ArgumentNeeded, "%s cannot continue this session in its file. %s Fork it into a session of %s?", p.Name, problem, p.Name).
			With("field", FieldFork).With("input", "text").With("engine", p.Name)
	})
}

// makesFile reports whether a native program makes the file of a session with a given id. Others get one with nothing but the
// header.
func makesFile(p engine.Program) bool { return p.Protocol == engine.PiRPC }

// opensAnyFile reports whether a native program takes the path of a session file. Others find a session by its id, in a directory of
// their own.
func opensAnyFile(p engine.Program) bool { return p.Protocol != engine.ACP }
