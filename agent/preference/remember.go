package preference

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// errChanged is the error for a file that another program changed meanwhile. It never leaves the package.
var errChanged = errors.New("another program changed the file")

// RememberModel makes a model the one of a role in the sessions that program will begin; "" is the
// default role. pi has only that one. The error is a sentence that names the file, which is then
// unchanged.
func (s *Store) RememberModel(ctx context.Context, program session.Dialect, role string, ref provider.Ref) error {
	if role == "" {
		role = "default"
	}
	return s.change(ctx, program, func(f file, content []byte) ([]byte, error) {
		if !f.json {
			old, _ := parseYAML(content)
			return setRole(content, role, ref.String()+suffix(old.Roles[role]))
		}
		if role != "default" {
			return nil, errors.New("pi has no model roles")
		}
		return setMembers(content, member{"defaultProvider", ref.Provider}, member{"defaultModel", ref.ID})
	})
}

// suffix returns the thinking level behind the model of a role, with its colon: it belongs to the role.
func suffix(model string) string {
	if at := strings.LastIndexByte(model, ':'); at >= 0 && level(model[at+1:]) != "" {
		return model[at:]
	}
	return ""
}

// RememberThinking makes a thinking level that of the sessions that program will begin.
func (s *Store) RememberThinking(ctx context.Context, program session.Dialect, level provider.Level) error {
	return s.change(ctx, program, func(f file, content []byte) ([]byte, error) {
		if f.json {
			return setMembers(content, member{"defaultThinkingLevel", string(level)})
		}
		return setTop(content, "defaultThinkingLevel", string(level))
	})
}

// change replaces the settings file by what edit makes of it. A file that another program changes
// meanwhile is read again.
func (s *Store) change(ctx context.Context, program session.Dialect, edit func(f file, content []byte) ([]byte, error)) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	f, ok := s.file(program)
	if !ok {
		return nil // no such program here, or a directory that may not be used
	}
	const attempts = 3
	err := errChanged
	for n := 0; n < attempts && errors.Is(err, errChanged); n++ {
		err = s.changeOnce(ctx, f, edit)
	}
	if err != nil {
		return fault.New(fault.IO, "The default of new sessions in %s was not changed: %s.", f.path, reason(err))
	}
	return nil
}

func (s *Store) changeOnce(ctx context.Context, f file, edit func(f file, content []byte) ([]byte, error)) error {
	release, err := s.lock(ctx, f)
	if err != nil {
		return err
	}
	defer release()
	content, mode, err := s.read(f)
	if err != nil {
		return err
	}
	mark := ""
	if bytes.HasPrefix(content, []byte(byteOrderMark)) {
		mark = byteOrderMark
	}
	edited, err := edit(f, withoutMark(content))
	if err != nil {
		return err
	}
	edited = append([]byte(mark), edited...)
	if bytes.Equal(edited, content) {
		return nil
	}
	return durable.Replace(s.Fs, f.path, edited, mode, func() error {
		now, _, err := s.read(f)
		if err == nil && !bytes.Equal(now, content) {
			err = errChanged
		}
		return err
	})
}

// read returns the content of a settings file and its mode. A missing file is empty, unless the program
// would then not take over the settings of its older versions.
func (s *Store) read(f file) (content []byte, mode fs.FileMode, err error) {
	info, err := lstat(s.Fs, f.path)
	if errors.Is(err, fs.ErrNotExist) {
		old := filepath.Join(filepath.Dir(f.path), "settings.json")
		if !f.json && exists(s.Fs, old) {
			return nil, 0, fmt.Errorf("start the terminal program once, so that it takes over %s", old)
		}
		return nil, 0o600, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil, 0, errors.New("it is a link")
	}
	content, err = intake.ReadAll(s.Fs, f.path, maxFile)
	return content, info.Mode().Perm(), err
}

func lstat(fsys afero.Fs, path string) (os.FileInfo, error) {
	if l, ok := fsys.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(path)
		return info, err
	}
	return fsys.Stat(path)
}

// newline returns the line ending of a file.
func newline(content []byte) string {
	if first, _, found := strings.Cut(string(content), "\n"); found && strings.HasSuffix(first, "\r") {
		return "\r\n"
	}
	return "\n"
}
