package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// unwritable says why the session file at path can be neither written nor made, nil when it
// can or when the system does not tell. It changes nothing; a session in memory, "", needs no
// file. The error is kind readOnly.
func unwritable(path string) error {
	if path == "" {
		return nil
	}
	at := path
	_, err := os.Stat(at)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at {
		at = filepath.Dir(at)
		_, err = os.Stat(at)
	}
	if err == nil {
		err = mayWrite(at)
	}
	if err == nil {
		return nil
	}
	if at == path {
		return fault.New(fault.ReadOnly, "Cannot write %s: %w.", path, cause(err)).With("path", path)
	}
	dir := filepath.Dir(path)
	return fault.New(fault.ReadOnly, "Cannot save sessions in %s: %w.", dir, cause(err)).With("path", dir)
}

// cause is what the system said, without the path that the sentence names already.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// elsewhere adds to an error about the place of a session what a person does about it.
func elsewhere(err error) error {
	if !fault.Is(err, fault.ReadOnly) && !fault.Is(err, fault.IO) {
		return err
	}
	return fault.New(fault.KindOf(err),
		"%w Name a directory that can be written with --agent-dir, or keep the session in memory with --no-session.", err)
}

// warnUnwritable tells the person once when no session of the first folder can be saved: else
// that would be known only behind the first answer of a model.
func warnUnwritable(ctx context.Context, env *commands.Env) {
	folders := env.Folders()
	if len(folders) == 0 {
		return
	}
	dir, err := env.Finder.DirFor(folders[0])
	if err == nil {
		err = unwritable(filepath.Join(dir, "session.jsonl"))
	}
	if fault.Is(err, fault.ReadOnly) || fault.Is(err, fault.IO) {
		env.UI.Notify(ctx, commands.LevelWarning,
			err.Error()+" Sessions can be read only, until the server is started with an agentDir that can be written.")
	}
}
