package catalog_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/keyvalue"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// acme is a model of a service that is in no catalogue.
var acme = provider.Model{Provider: "acme", ID: "m", API: provider.OpenAICompletions, BaseURL: "https://acme.example"}

func TestTemplatesInKeys(t *testing.T) {
	t.Parallel()
	env := map[string]string{"X": "x", "ACME_API_KEY": "env"}
	for value, want := range map[string]string{
		`"$X"`: "x", `"${X}"`: "x", `"a${X}b"`: "axb", `"a$$b"`: "a$b", `"$!a"`: "!a", `"X"`: "x", `"literal"`: "literal",
		`"$UNSET"`: "env", `"a${UNSET}b"`: "env", `""`: "env", `"$X","env":{"X":"own"}`: "own", `"$Y-$X","env":{"Y":"y"}`: "y-x", `"$X","env":{"X":""}`: "x",
	} {
		c := open(t, files{"/own/auth.json": `{"broken":7,"acme":{"type":"api_key","key":` + value + `}}`}, env)
		key, err := c.Key(t.Context(), acme)
		require.NoError(t, err, value)
		require.Equal(t, want, key, value)
	}
	for _, name := range []string{"models.json", "models.yml", "models.yaml"} {
		for value, want := range map[string]string{"$X": "x", "a${X}b": "axb", "$$": "$", "X": "x", "$UNSET": "env"} {
			c := open(t, files{"/own/" + name: `{"providers": {"acme": {"baseUrl": "https://acme.example", "apiKey": "` + value + `"}}}`}, env)
			key, err := c.Key(t.Context(), acme)
			require.NoError(t, err, "%s %s", name, value)
			require.Equal(t, want, key, "%s %s", name, value)
		}
	}
	c := open(t, files{"/own/auth.json": `{"a":{"type":"api_key","key":"x-$ONE-${TWO}"},"b":{"type":"api_key","key":"!echo $THREE"}}`, "/pi/models.yml": "providers: {c: {apiKey: X}}"}, env)
	require.Equal(t, []string{"ONE", "TWO", "X"}, c.KeyVariables(), "they are hidden from the commands of models")
}

// A file that settings name sends no variable that is not for keys, in whatever form, and no part of one.
func TestTemplatesOfADirectoryThatTheUserDidNotChoose(t *testing.T) {
	t.Parallel()
	env := map[string]string{"GITHUB_TOKEN": "secret", "HF_TOKEN": "key"}
	for _, value := range []string{"x$GITHUB_TOKEN", "${HF_TOKEN}${GITHUB_TOKEN}", "GITHUB_TOKEN"} {
		c := open(t, files{"/own/models.yml": "providers: {acme: {apiKey: '" + value + "'}}"}, env)
		c.Owned = func(string) bool { return false }
		key, err := c.Key(t.Context(), acme)
		require.True(t, fault.Is(err, fault.Denied), "%v", err)
		require.Empty(t, key)
		require.NotContains(t, err.Error(), "secret")
	}
	c := open(t, files{"/own/auth.json": `{"acme":{"type":"api_key","key":"a$HF_TOKEN-$Z","env":{"Z":"z"}}}`}, env)
	c.Owned = func(string) bool { return false }
	key, err := c.Key(t.Context(), acme)
	require.NoError(t, err)
	require.Equal(t, "akey-z", key)
}

// disk returns a catalog over files of the disk below a directory, the user's home.
func disk(t *testing.T, f files, env map[string]string) (c *catalog.Catalog, home string, reports *[]string) {
	t.Helper()
	home, reports = t.TempDir(), new([]string)
	for path, content := range f {
		path = filepath.Join(home, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	c = open(t, nil, env)
	c.Fs, c.Home = afero.NewOsFs(), home
	c.AgentDirs = []string{filepath.Join(home, ".xcsh/agent"), filepath.Join(home, ".pi/agent"), filepath.Join(home, ".omp/agent")}
	c.Report = func(text string) { *reports = append(*reports, text) }
	return c, home, reports
}

func TestCommandsThatPrintKeys(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	const auth = ".pi/agent/auth.json"
	c, home, _ := disk(t, files{
		auth: `{"acme":{"type":"api_key","key":"!printf x >> runs; echo sk-printed; echo sk-hidden >&2"},"anthropic":{"type":"api_key","key":"!echo sk-secret; exit 1"},
			"groq":{"type":"api_key","key":"!echo two words; echo two lines"}}`,
		".omp/agent/models.yml": "providers: {acme: {apiKey: '!echo of-the-models-file'}, xai: {apiKey: '!echo sk-yml'}}",
	}, map[string]string{"ANTHROPIC_API_KEY": "env"})
	key, err := c.Key(t.Context(), acme)
	require.EqualError(t, err, "The command that acme's key comes from (~/.pi/agent/auth.json) was not run because the setting keys.commands is off.")
	require.Empty(t, key)

	c.Commands = &keyvalue.Commands{Dir: home}
	require.NoError(t, c.CheckKey(acme))
	place := sourceOf(t, c, "anthropic").KeySource
	require.Equal(t, provider.AuthFileKey, place)
	_, err = os.Stat(filepath.Join(home, "runs"))
	require.ErrorIs(t, err, os.ErrNotExist, "neither checking nor listing runs a command")
	for range 3 {
		key, err = c.Key(t.Context(), acme)
		require.NoError(t, err)
		require.Equal(t, "sk-printed", key, "auth.json precedes models.yml")
	}
	ran, err := os.ReadFile(filepath.Join(home, "runs"))
	require.NoError(t, err)
	require.Equal(t, "x", string(ran))
	key, err = c.Key(t.Context(), provider.Model{Provider: "xai", API: provider.OpenAICompletions, BaseURL: "https://x.example"})
	require.NoError(t, err)
	require.Equal(t, "sk-yml", key)

	claude := find(t, c, "anthropic/claude-opus-4-5")
	require.NoError(t, c.CheckKey(claude), "it has not failed yet")
	_, err = c.Key(t.Context(), claude)
	require.EqualError(t, err, "The command that anthropic's key comes from (~/.pi/agent/auth.json) failed: exit status 1.", "another key is not used instead")
	f, ok := errors.AsType[*fault.Error](err)
	require.True(t, ok)
	require.Equal(t, fault.Provider, f.Kind)
	require.Equal(t, provider.NeedsKey, provider.NeedOf(err))
	require.Equal(t, map[string]any{
		"reason": provider.NeedsKey, "provider": "anthropic", "providerName": "Anthropic", "store": filepath.Join(home, auth),
	}, f.Data, "no output")
	require.Equal(t, err, c.CheckKey(claude))
	_, err = c.Key(t.Context(), provider.Model{Provider: "groq", API: provider.OpenAICompletions, BaseURL: "https://g.example"})
	require.EqualError(t, err, "The command that groq's key comes from (~/.pi/agent/auth.json) failed: it printed something other than a key.")

	c.Owned = func(string) bool { return false }
	_, err = c.Key(t.Context(), acme)
	require.ErrorContains(t, err, "was not run because the file is in an agent directory from the settings")
	c.Owned, c.Usable = nil, func(dir string) bool { return filepath.Base(filepath.Dir(dir)) == ".xcsh" }
	_, err = c.Key(t.Context(), acme)
	require.EqualError(t, err, "acme needs an API key.", "a directory that may not be used is not read")
}

func sourceOf(t *testing.T, c *catalog.Catalog, id string) provider.Source {
	t.Helper()
	for _, s := range c.Sources(t.Context()) {
		if s.ID == id {
			return s
		}
	}
	t.Fatalf("no source %s", id)
	return provider.Source{}
}

// omp makes the database of oh-my-pi in a directory.
func omp(t *testing.T, dir, rows string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	db, err := sql.Open("sqlite", filepath.Join(dir, "agent.db"))
	require.NoError(t, err)
	for _, statement := range []string{
		"PRAGMA journal_mode = wal",
		"CREATE TABLE auth_schema_version (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL)", "INSERT INTO auth_schema_version VALUES (1, 7)",
		"CREATE TABLE auth_credentials (id INTEGER PRIMARY KEY AUTOINCREMENT, provider TEXT NOT NULL, credential_type TEXT NOT NULL, data TEXT NOT NULL, disabled_cause TEXT DEFAULT NULL)",
		"INSERT INTO auth_credentials (provider, credential_type, data, disabled_cause) VALUES " + rows,
	} {
		_, err = db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
}

// The keys of agent.db come behind those of the other files, and before the environment. They are what they are: no
// command, no variable.
func TestKeysOfADatabase(t *testing.T) {
	t.Parallel()
	c, home, reports := disk(t, files{".omp/agent/models.yml": "providers: {groq: {apiKey: of-the-file}}"},
		map[string]string{"ACME_API_KEY": "env", "GROQ_API_KEY": "env", "XAI_API_KEY": "env", "GITHUB_TOKEN": "secret"})
	c.Commands = &keyvalue.Commands{Dir: home}
	omp(t, filepath.Join(home, ".omp/agent"), `('acme', 'api_key', '{"key":"of-the-database"}', NULL), ('acme', 'api_key', '{"key":"second"}', NULL),
		('groq', 'api_key', '{"key":"of-the-database"}', NULL), ('xai', 'api_key', '{"key":"off"}', 'rejected'),
		('a', 'api_key', '{"key":"!echo x"}', NULL), ('b', 'api_key', '{"key":"$GITHUB_TOKEN"}', NULL), ('c', 'api_key', '{"key":"GITHUB_TOKEN"}', NULL)`)
	for id, want := range map[string]string{
		"acme": "of-the-database", "groq": "of-the-file", "xai": "env", "a": "!echo x", "b": "$GITHUB_TOKEN", "c": "GITHUB_TOKEN",
	} {
		m := acme
		m.Provider = id
		key, err := c.Key(t.Context(), m)
		require.NoError(t, err)
		require.Equal(t, want, key, id)
	}
	require.Equal(t, provider.DatabaseKey, sourceOf(t, open2(c, "acme"), "acme").KeySource)
	require.Empty(t, *reports)

	require.NoError(t, os.WriteFile(filepath.Join(home, ".omp/agent/agent.db"), []byte("rubbish with sk-secret"), 0o600))
	for range 3 {
		key, err := c.Key(t.Context(), acme)
		require.NoError(t, err)
		require.Equal(t, "env", key)
	}
	require.Equal(t, []string{"The keys in ~/.omp/agent/agent.db were not read: it is damaged, or not a database."}, *reports)
}

// open2 adds a model of a provider to the user's models.
func open2(c *catalog.Catalog, id string) *catalog.Catalog {
	path := filepath.Join(c.AgentDirs[0], "models.json")
	_ = os.MkdirAll(c.AgentDirs[0], 0o700) // the test fails without it
	_ = os.WriteFile(path, fmt.Appendf(nil, `{"providers":{%q:{"baseUrl":"https://acme.example","api":"openai-completions","models":[{"id":"m"}]}}}`, id), 0o600)
	return c
}

// A login of a subscription belongs to the program that made it. The error names the ways to go on.
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	stored := `"access":"sk-ant-` + `oat01-secret","refresh":"sk-ant-` + `ort01-secret","expires":1900000000000`
	c, home, _ := disk(t, files{".pi/agent/auth.json": `{"anthropic":{"type":"oauth",` + stored + `},"openrouter":{"type":"oauth","access":"sk-or-v1-ordinary","refresh":"","expires":0}}`}, nil)
	claude := find(t, c, "anthropic/claude-opus-4-5")
	_, err := c.Key(t.Context(), claude)
	require.EqualError(t, err, `anthropic is signed in with a subscription in pi, which only pi may use. Give an API key instead: set ANTHROPIC_API_KEY, `+
		`or put {"anthropic": {"type": "api_key", "key": "…"}} into ~/.xcsh/agent/auth.json; let pi answer with xcsh.setEngine; or choose another model with xcsh.setModel.`)
	f, ok := errors.AsType[*fault.Error](err)
	require.True(t, ok)
	require.Equal(t, fault.Provider, f.Kind)
	require.Equal(t, map[string]any{
		"reason": provider.NeedsKey, "provider": "anthropic", "providerName": "Anthropic", "variable": "ANTHROPIC_API_KEY", "program": "pi",
		"store": filepath.Join(home, ".pi/agent/auth.json"), "login": "anthropic is signed in with a subscription in pi, which only pi may use.",
	}, f.Data)
	require.Equal(t, err, c.CheckKey(claude))
	key, err := c.Key(t.Context(), provider.Model{Provider: "openrouter", API: provider.OpenAICompletions, BaseURL: "https://openrouter.ai/api/v1"})
	require.NoError(t, err)
	require.Equal(t, "sk-or-v1-ordinary", key, "that login makes an ordinary key")

	c, home, _ = disk(t, nil, nil)
	omp(t, filepath.Join(home, ".omp/agent"), `('anthropic', 'oauth', '{`+stored+`}', NULL), ('openrouter', 'api_key', '{"key":"sk-or-v1-db","source":"login"}', NULL)`)
	_, err = c.Key(t.Context(), claude)
	require.ErrorContains(t, err, "anthropic is signed in with a subscription in omp, which only omp may use.")
	require.ErrorContains(t, err, "let omp answer with xcsh.setEngine")
	require.NotContains(t, fmt.Sprintf("%#v", err), "secret")
	key, err = c.Key(t.Context(), provider.Model{Provider: "openrouter", API: provider.OpenAICompletions, BaseURL: "https://openrouter.ai/api/v1"})
	require.NoError(t, err)
	require.Equal(t, "sk-or-v1-db", key)
}

// The file is the one with which the real program was run.
func TestModelsOfOhMyPi(t *testing.T) {
	t.Parallel()
	const content = `providers:
  mock:
    baseUrl: http://127.0.0.1:18901/v1
    api: openai-completions
    apiKey: none
    models:
      - id: mock-large
        name: Mock
        contextWindow: 200000
        maxTokens: 8000
        input: [text, image]
`
	for _, name := range []string{"models.yml", "models.yaml"} {
		c := open(t, files{"/pi/" + name: content, "/pi/models.json": `{"providers":{"mock":{"models":[{"id":"old"}]},"other":{"baseUrl":"http://o","api":"openai-completions","auth":"none","models":[{"id":"m"}]}}}`}, nil)
		m := find(t, c, "mock/mock-large")
		require.Equal(t, provider.Model{
			ID: "mock-large", Name: "Mock", Provider: "mock", API: provider.OpenAICompletions, BaseURL: "http://127.0.0.1:18901/v1",
			Input: []string{"text", "image"}, ContextWindow: 200000, MaxTokens: 8000,
		}, m)
		key, err := c.Key(t.Context(), m)
		require.NoError(t, err)
		require.Equal(t, "none", key)
		key, err = c.Key(t.Context(), find(t, c, "other/m"))
		require.NoError(t, err)
		require.Empty(t, key, "it needs none")
	}
	c := open(t, files{"/pi/models.yml": content, "/pi/models.yaml": "providers: {late: {baseUrl: 'http://l', api: openai-completions, models: [{id: m}]}}"}, nil)
	_, ok := c.Find(t.Context(), provider.Ref{Provider: "late", ID: "m"})
	require.False(t, ok, "models.yaml counts only without models.yml")
}

// An error in a file costs one sentence with its line, without a value of the file, and the last good content counts.
func TestErrorsInFilesWithModels(t *testing.T) {
	t.Parallel()
	const path = "/home/u/.omp/agent/models.yml"
	good := "providers:\n  acme: {baseUrl: 'https://a', api: openai-completions, apiKey: sk-secret, models: [{id: m}]}\n"
	bomb := "x: &a [l,l,l,l,l,l,l,l,l,l]\n"
	for i, last := 0, "a"; i < 9; i++ {
		name := fmt.Sprintf("b%d", i)
		bomb += fmt.Sprintf("y%d: &%s [*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s]\n", i, name, last, last, last, last, last, last, last, last, last)
		last = name
	}
	for name, content := range map[string]string{
		"line 3: ": good + "\t- [",
		"line 2: the provider \"acme\" is left out because models.contextWindow has the wrong type": "providers:\n  acme: {apiKey: sk-secret, models: [{id: m, contextWindow: sk-secret}]}\n",
		"line 3: the provider \"acme\" is left out because apiKey has the wrong type":               "providers:\n  acme:\n    apiKey: [sk-secret]\n",
		"line 2: the provider \"acme\" is left out because it is not an object":                     "providers:\n  acme: sk-secret\n",
		"line 2: the provider \"acme\" is left out because it has a wrong form":                     "providers:\n  acme: {1: {sk-secret: 2}}\n",
		"it is not a mapping with providers":                                                        "- sk-secret\n",
		"it is not valid YAML":                                                                      "providers: *sk-secret\n",
		"it has too many brackets":                                                                  "providers: " + fmt.Sprintf("%0100d", 0) + strings.Repeat("[", 100),
		"":                                                                                          bomb + "providers: {acme: {models: *b8}}\n",
	} {
		c := open(t, files{path: good}, nil)
		var reports []string
		c.Home, c.AgentDirs, c.Report = "/home/u", []string{"/home/u/.omp/agent"}, func(text string) { reports = append(reports, text) }
		find(t, c, "acme/m")
		require.Empty(t, reports)
		require.NoError(t, afero.WriteFile(c.Fs, path, []byte(content), 0o600))
		for range 3 {
			_ = c.All(t.Context())
		}
		require.Len(t, reports, 1, "%v", reports)
		require.Contains(t, reports[0], "~/.omp/agent/models.yml was not used: "+name)
		require.NotContains(t, reports[0], "sk-secret")
		require.NotContains(t, reports[0], "\n")
		if _, ok := c.Find(t.Context(), acme.Ref()); name == "line 3: " {
			require.True(t, ok, "the last good content counts")
		}
	}
	for content, want := range map[string]string{
		"{\n\"providers\": {,": "line 2: it is not valid JSON", "[]": "it is not an object with providers",
		"{\n\"providers\": {\n\"acme\": {\n\"models\": [{\"id\": 7}]}}}": "line 4: the provider \"acme\" is left out because models.id has the wrong type",
	} {
		c := open(t, files{"/own/models.json": content}, nil)
		var reports []string
		c.Report = func(text string) { reports = append(reports, text) }
		_ = c.All(t.Context())
		require.Equal(t, []string{"/own/models.json was not used: " + want + "."}, reports)
	}
}

// A cancelled request is no failure of a command.
func TestACancelledCommand(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command is that of a Unix shell")
	}
	c, home, _ := disk(t, files{".pi/agent/auth.json": `{"acme":{"type":"api_key","key":"!until [ -e go ]; do sleep 0.01; done; echo k"}}`}, nil)
	c.Commands = &keyvalue.Commands{Dir: home}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Key(ctx, acme)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, os.WriteFile(filepath.Join(home, "go"), nil, 0o600))
	key, err := c.Key(t.Context(), acme)
	require.NoError(t, err)
	require.Equal(t, "k", key)
}
