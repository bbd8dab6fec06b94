package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
)

// visit is one start of a server, in which one command is measured.
type visit struct {
	r      *Runner
	p      Program
	s      Store
	path   string // of the session: the store's, or a copy of it
	dir    string // of this program and store
	server *child.Server
	leaf   string // of the live session
}

// visit starts a server for a command and brings it into the state in which the command is measured.
func (r *Runner) visit(ctx context.Context, o operation, p Program, s Store, t Temperature) (v *visit, err error) {
	v = &visit{r: r, p: p, s: s, path: s.Path, dir: r.dir(p, s)}
	folder := s.Cwd
	if o.changes || o.newest {
		if v.path, err = r.copied(p, s); err != nil {
			return nil, err
		}
	}
	if o.changes { // the script lists the folder
		if folder, err = made(filepath.Join(v.dir, "folder")); err != nil {
			return nil, err
		}
	}
	if t != Cold {
		if err := r.prepare(ctx, o, p, s, v.path, folder); err != nil {
			return nil, err
		}
	}
	if v.server, err = r.start(ctx, o, p, s, folder, t == Cold); err != nil {
		return nil, err
	}
	if t == Live {
		err = v.live(o)
	}
	if err == nil && o.again {
		_, err = v.server.Call(o.command, o.arguments(v))
	}
	if err == nil && o.before != nil {
		err = o.before(v)
	}
	if err != nil {
		v.server.Kill()
	}
	return v, err
}

// live makes the session the live one, or lists all sessions.
func (v *visit) live(o operation) error {
	if o.lists {
		_, err := v.call("xcsh.list", everything())
		return err
	}
	a, err := v.call("xcsh.resume", map[string]any{"target": v.path})
	if err != nil {
		return err
	}
	var resumed struct{ Session json.RawMessage }
	if err := json.Unmarshal(a.Result, &resumed); err != nil {
		return err
	}
	if v.leaf, err = leafOf(child.Answer{Result: resumed.Session}); err != nil {
		return err
	}
	if o.prompts {
		_, err = v.call("xcsh.setModel", map[string]any{"model": "offline/demo"})
	}
	return err
}

// leafOf returns the leaf of a session's state.
func leafOf(state child.Answer) (string, error) {
	var s struct{ LeafID string }
	err := json.Unmarshal(state.Result, &s)
	return s.LeafID, err
}

// call runs a command that must succeed.
func (v *visit) call(command string, args map[string]any) (child.Answer, error) {
	a, err := v.server.Call(command, args)
	if err == nil && a.Kind != "" {
		err = fmt.Errorf("%s: %s: %s", command, a.Kind, a.Text)
	}
	return a, err
}

// prepare fills the cache directory of a program with what it keeps of a session, or of all.
func (r *Runner) prepare(ctx context.Context, o operation, p Program, s Store, path, folder string) error {
	key := r.dir(p, s, "agent") + "\x00" + path
	if r.prepared[key] {
		return nil
	}
	server, err := r.start(ctx, operation{lists: o.lists}, p, s, folder, false)
	if err != nil {
		return err
	}
	v := &visit{r: r, p: p, s: s, path: path, server: server}
	err = v.live(operation{lists: o.lists})
	if err == nil && !o.lists {
		_, err = v.call("xcsh.info", map[string]any{"source": path})
	}
	if err != nil {
		server.Kill()
		return err
	}
	r.prepared[key] = true
	return server.Close()
}

// copied returns a copy of the store's session among the program's own sessions, which may be changed. It is made once.
func (r *Runner) copied(p Program, s Store) (string, error) {
	dir, err := made(r.dir(p, s, "agent", "sessions", filepath.Base(filepath.Dir(s.Path))))
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, filepath.Base(s.Path))
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return path, err
	}
	return path, copyFile(path, s.Path)
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	info, err := in.Stat()
	if err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime()) // answers have it
}

func made(dir string) (string, error) { return dir, os.MkdirAll(dir, 0o700) }
