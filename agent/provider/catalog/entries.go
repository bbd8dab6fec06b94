package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/agentdb"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/keyvalue"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// AuthFile is the name of the file with keys in an agent directory.
const AuthFile = "auth.json"

// maxFile bounds the files of an agent directory, in bytes.
const maxFile = 16 << 20

// entry is a key as one of its places has it.
type entry struct {
	place   provider.KeySource
	value   string
	path    string            // of the file; "" for the environment
	env     map[string]string // takes precedence over the environment
	owned   bool              // the user chose the file's directory
	literal bool              // value is the key itself
}

// entries returns the keys of a provider, in the order of precedence. It reads each place when it gets there: few need the databases.
//
// The order is that of pi, auth.json before models.json before the environment, and that of xcsh and omp, models.yml before
// agent.db before the environment.
func (c *Catalog) entries(ctx context.Context, name string, user userFile) iter.Seq[entry] {
	return func(yield func(entry) bool) {
		dirs := c.dirs()
		for _, dir := range dirs {
			path := filepath.Join(dir, AuthFile)
			if e := c.storedKeys(path)[name].entry(name); e.value != "" {
				e.path, e.owned = path, c.owned(dir)
				if !yield(e) {
					return
				}
			}
		}
		if p := user.Providers[name]; p.APIKey != "" && !yield(entry{place: provider.ModelsFileKey, value: p.APIKey, path: p.path, owned: p.owned}) {
			return
		}
		for _, dir := range dirs {
			for _, credential := range c.credentials(ctx, dir) {
				if key := keyOf(credential, name); key != "" && !yield(entry{place: provider.DatabaseKey, value: key, path: agentdb.PathIn(dir), literal: true}) {
					return
				}
			}
		}
		for _, variable := range variablesOf(name) {
			if key := c.Getenv(variable); key != "" && !yield(entry{place: provider.EnvironmentKey, value: key, literal: true}) {
				return
			}
		}
	}
}

// storedKey is the entry of a provider in an auth.json.
type storedKey struct {
	Type   string            `json:"type"`
	Key    string            `json:"key"`
	Env    map[string]string `json:"env"`
	Access string            `json:"access"` // of a login
}

const loginType = "oauth"

func (k storedKey) entry(name string) entry {
	switch k.Type {
	case "api_key":
		return entry{place: provider.AuthFileKey, value: k.Key, env: k.Env}
	case loginType:
		return entry{place: provider.AuthFileKey, value: ordinaryKey(name, k.Access), literal: true}
	}
	return entry{}
}

// ordinaryKey returns the token of a login that is an ordinary API key, "" for any other: OpenRouter's login makes a key
// for the user, with no conditions for the program that uses it.
func ordinaryKey(name, token string) string {
	if name == "openrouter" && strings.HasPrefix(token, "sk-or-") {
		return token
	}
	return ""
}

// keyOf returns the key of a credential that is of the provider called name.
func keyOf(credential agentdb.Credential, name string) string {
	switch {
	case credential.Provider != name:
		return ""
	case credential.Login:
		return ordinaryKey(name, credential.Access())
	}
	return credential.Key
}

// storedKeys reads an auth.json. One that cannot be read has no keys.
func (c *Catalog) storedKeys(path string) map[string]storedKey {
	raw, err := intake.ReadAll(c.Fs, path, maxFile)
	if err != nil {
		return nil
	}
	var file map[string]json.RawMessage
	if json.Unmarshal(withoutMark(raw), &file) != nil {
		return nil
	}
	keys := map[string]storedKey{}
	for name, raw := range file {
		var k storedKey
		if json.Unmarshal(raw, &k) == nil { // one that is damaged does not hide the others
			keys[name] = k
		}
	}
	return keys
}

// credentials reads the agent.db of a directory. One that cannot be read has none, which is reported.
func (c *Catalog) credentials(ctx context.Context, dir string) []agentdb.Credential {
	path := agentdb.PathIn(dir)
	c.databaseOnce.Do(func() { c.database = &agentdb.Reader{Fs: c.Fs} })
	list, err := c.database.Read(ctx, path)
	if err != nil && ctx.Err() == nil {
		c.reportOnce(fmt.Sprintf("The keys in %s were not read: %s.", c.short(path), err))
	}
	return list
}

// expand resolves an entry. found is false if the entry has no key. Of a command whose output is not known, key is "" unless run is
// set.
//
// Differs: xcsh, pi and omp send any variable that a file names. Here one that does not hold the
// key of a model is sent only if the user chose the directory, and commands are run only then. [Catalog.Report] is called for a key
// that leaves the machine without encryption.
func (c *Catalog) expand(ctx context.Context, e entry, m provider.Model, run bool) (key string, found bool, err error) {
	if e.literal {
		return e.value, e.value != "", nil
	}
	value := keyvalue.Parse(e.value)
	if keyvalue.IsCommand(e.value) {
		key, err = c.printed(ctx, value.Command, e, m, run)
		return key, err == nil, err
	}
	getenv := func(name string) string {
		if set := e.env[name]; set != "" {
			return set
		}
		return c.Getenv(name)
	}
	names := value.Variables()
	if bare := value.Bare(); bare != "" && getenv(bare) != "" {
		names, value = []string{bare}, keyvalue.Parse("$"+bare)
	}
	key, ok := value.Expand(getenv)
	if !ok || key == "" {
		return "", false, nil
	}
	for _, name := range names {
		if !e.owned && e.env[name] == "" && !holdsModelKey(name) {
			return "", false, fault.New(fault.Denied, "The variable %s is not sent to %s: its name does not look like an API key's, and the file that refers to it is in an agent directory from the settings. "+
				"Pass the agent directory with --agent-dir, or use a variable whose name ends in _API_KEY.", name, m.Provider).With("provider", m.Provider)
		}
	}
	return key, true, nil
}

// printed returns the key that a command prints. Without run, it is "" unless the command has printed it before.
func (c *Catalog) printed(ctx context.Context, command string, e entry, m provider.Model, run bool) (key string, err error) {
	failed := func(how string) error {
		return fault.New(fault.Provider, "The command that %s's key comes from (%s) %s.", m.Provider, c.short(e.path), how).
			With("reason", provider.NeedsKey).With("provider", m.Provider).With("providerName", nameOf(m.Provider)).With("store", e.path)
	}
	switch {
	case c.Commands == nil:
		return "", failed("was not run because the setting keys.commands is off")
	case !e.owned:
		return "", failed("was not run because the file is in an agent directory from the settings; pass the directory with --agent-dir")
	}
	if run {
		key, err = c.Commands.Output(ctx, command)
	} else {
		var known bool
		if key, known, err = c.Commands.Known(command); !known {
			return "", nil
		}
	}
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return "", err
	case err != nil:
		return "", failed("failed: " + err.Error())
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }):
		return "", failed("failed: it printed something other than a key")
	}
	return key, nil
}

// KeyVariables returns the names of the environment variables that the user's files name for keys.
// It reads the files at each call.
func (c *Catalog) KeyVariables() []string {
	var names []string
	note := func(raw string) {
		if keyvalue.IsCommand(raw) {
			return
		}
		value := keyvalue.Parse(raw)
		names = append(names, value.Variables()...)
		if bare := value.Bare(); bare != "" && c.Getenv(bare) != "" {
			names = append(names, bare)
		}
	}
	for _, dir := range c.dirs() {
		for _, key := range c.storedKeys(filepath.Join(dir, AuthFile)) {
			note(key.Key)
		}
	}
	for _, p := range c.userFile().Providers {
		note(p.APIKey)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// short returns a path for users: "~" is their home directory.
func (c *Catalog) short(path string) string {
	if rel, err := filepath.Rel(c.Home, path); c.Home != "" && err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(filepath.Join("~", rel))
	}
	return path
}

// reportOnce reports a sentence unless it was reported before.
func (c *Catalog) reportOnce(text string) {
	if c.Report == nil {
		return
	}
	if _, again := c.reported.LoadOrStore(text, true); !again {
		c.Report(text)
	}
}
