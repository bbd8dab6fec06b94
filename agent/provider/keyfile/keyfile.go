// Package keyfile stores API keys in an auth.json, where the terminal programs keep them too.
//
// A change replaces the key of one provider and keeps every other byte. The logins in the file belong to
// the program that made them, and are never changed.
package keyfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/peerfile"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Store is an auth.json. It is safe for concurrent use, also by other programs.
type Store struct {
	Fs   afero.Fs
	File string // its path

	// Usable returns an error if the file must not be used now; nil: it may be.
	Usable func() error
}

const (
	maxFile = 16 << 20 // bytes; the same as for reading
	maxKey  = 8 << 10  // bytes

	// stale is the age from which a lock is abandoned: pi holds it during a request to a service.
	stale = 30 * time.Second
)

// Path returns the path of the file.
func (s Store) Path() string { return s.File }

// Set stores the key of a provider, with dollar signs in the form in which pi and we read them. It returns a Denied error if the file has a login for the provider.
// After any error the file is unchanged. No error contains the key.
func (s Store) Set(ctx context.Context, provider, key string) error {
	if err := CheckProvider(provider); err != nil {
		return err
	}
	if err := CheckKey(key); err != nil {
		return err
	}
	return s.change(ctx, "stored", provider, func(content []byte) ([]byte, error) {
		entry, err := ownEntry(content, provider)
		if err != nil {
			return nil, err
		}
		if entry == nil {
			entry = new(rawjson.Object).String("type", "api_key").Bytes()
		}
		if entry, err = peerfile.SetMembers(entry, peerfile.Member{Name: "key", Value: rawjson.Quote(strings.ReplaceAll(key, "$", "$$"))}); err != nil {
			return nil, err
		}
		return peerfile.SetMembers(content, peerfile.Member{Name: provider, Value: entry})
	})
}

// Remove removes the key of a provider. It returns a NotFound error if there is none, and a Denied error
// for a login.
func (s Store) Remove(ctx context.Context, provider string) error {
	if err := CheckProvider(provider); err != nil {
		return err
	}
	return s.change(ctx, "removed", provider, func(content []byte) ([]byte, error) {
		entry, err := ownEntry(content, provider)
		if err == nil && entry == nil {
			err = fault.New(fault.NotFound, "There is no key for %s in %s.", provider, s.File).With("field", "provider")
		}
		if err != nil {
			return nil, err
		}
		return peerfile.DeleteMember(content, provider)
	})
}

// change edits the file. done says what did not happen if that fails.
func (s Store) change(ctx context.Context, done, provider string, edit func(content []byte) ([]byte, error)) error {
	if s.Usable != nil {
		if err := s.Usable(); err != nil {
			return err
		}
	}
	file := peerfile.File{Fs: s.Fs, Path: s.File, Max: maxFile, Lock: peerfile.Dir, Stale: stale, Mode: 0o600, Own: true}
	err := file.Change(ctx, edit)
	if _, known := errors.AsType[*fault.Error](err); err == nil || known {
		return err
	}
	if ctx.Err() != nil {
		return fault.New(fault.Cancelled, "The key for %s was not %s.", provider, done)
	}
	return fault.New(fault.IO, "The key for %s was not %s in %s: %s.", provider, done, s.File, peerfile.Reason(err)).With("path", s.File)
}

// errForm is the error for a file that is not an auth.json. It contains nothing of the file.
var errForm = errors.New("it is not a JSON object with entries of providers; correct or remove it")

// ownEntry returns the entry of a provider, nil if there is none. An entry that is not a key is a Denied
// error.
func ownEntry(content []byte, provider string) ([]byte, error) {
	if len(bytes.TrimSpace(content)) == 0 {
		return nil, nil
	}
	var file map[string]json.RawMessage
	if json.Unmarshal(content, &file) != nil || file == nil {
		return nil, errForm
	}
	raw, ok := file[provider]
	if !ok {
		return nil, nil
	}
	var entry struct{ Type string }
	if json.Unmarshal(raw, &entry) != nil || entry.Type != "api_key" {
		return nil, fault.New(fault.Denied, "%s has a login of a terminal program, which is kept. Log out there first.", provider).With("field", "provider")
	}
	return raw, nil
}

var providerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// CheckProvider returns an InvalidArgument error for a name that cannot be that of a provider.
func CheckProvider(name string) error {
	if !providerName.MatchString(name) {
		return fault.New(fault.InvalidArgument, "%q is not a provider. Run xcsh.providers to list them.", clip(name)).With("field", "provider")
	}
	return nil
}

func clip(name string) string {
	const most = 100
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "…"
	}
	return name
}

// CheckKey returns an InvalidArgument error for a text that cannot be a key: it is sent in a header, and
// terminal programs run a key that begins with "!" and replace one that begins with "$".
func CheckKey(key string) error {
	why := ""
	switch {
	case key == "":
		why = "is empty"
	case len(key) > maxKey:
		why = "is too long"
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		why = "contains a space, a line break or another character that is not ASCII"
	case key[0] == '!' || key[0] == '$':
		why = "begins with " + key[:1] + ", which terminal programs do not read as a key"
	default:
		return nil
	}
	return fault.New(fault.InvalidArgument, "The API key %s. Copy it again from the page of the service.", why).With("field", "key")
}
