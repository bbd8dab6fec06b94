package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// unwritable returns a readOnly error if the session file at path can be neither written nor created, and nil if
// it can or if the system doesn't report it. It changes nothing. A session in memory, "", needs no file.
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

// cause returns the system's error without the path, which the message already names.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// elsewhere adds to an error about the session directory what the user can do about it.
func elsewhere(err error) error {
	if !fault.Is(err, fault.ReadOnly) && !fault.Is(err, fault.IO) {
		return err
	}
	return fault.New(fault.KindOf(err),
		"%w Pass a writable directory with --agent-dir, or --no-session to keep the session in memory.", err)
}

// warnUnwritable warns the user once if no session of the first folder can be saved. Otherwise the user
// would notice only after the model's first answer.
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
			err.Error()+" Sessions can be read but not saved. Set agentDir to a writable directory and restart the server.")
	}
}
