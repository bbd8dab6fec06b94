package preference

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/peerfile"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

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
		return peerfile.SetMembers(content, member("defaultProvider", ref.Provider), member("defaultModel", ref.ID))
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
			return peerfile.SetMembers(content, member("defaultThinkingLevel", string(level)))
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
	if err := s.peer(f).Change(ctx, func(content []byte) ([]byte, error) { return edit(f, content) }); err != nil {
		return fault.New(fault.IO, "The default of new sessions in %s was not changed: %s.", f.path, peerfile.Reason(err))
	}
	return nil
}

// peer returns a settings file as one that its program changes too.
func (s *Store) peer(f file) peerfile.File {
	peer := peerfile.File{Fs: s.Fs, Path: f.path, Max: maxFile, Lock: peerfile.OwnedDir}
	switch {
	case f.json:
		peer.Lock = peerfile.Dir
	case f.unlocked:
		peer.Lock = peerfile.NoLock
	}
	if !f.json {
		peer.Missing = func() error { return s.missing(f) }
	}
	return peer
}

// missing returns an error for a missing file if the program would then not take over the settings of its older
// versions.
func (s *Store) missing(f file) error {
	old := filepath.Join(filepath.Dir(f.path), "settings.json")
	if exists(s.Fs, old) {
		return fmt.Errorf("start the terminal program once, so that it takes over %s", old)
	}
	return nil
}

// member is a member of pi's settings.
func member(name, value string) peerfile.Member {
	return peerfile.Member{Name: name, Value: rawjson.Quote(value)}
}
