package commands_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Every ReadOnly command works on a read-only file system, whatever program wrote the files and however
// they are damaged. It does not even try to write, and its result matches its schema.
// Proves: X-048, O-001, AB-090
func TestReadOnlyCommandsOnEveryFixture(t *testing.T) {
	t.Parallel()
	files := afero.NewMemMapFs()
	paths := fixtures(t, files)
	for _, path := range paths {
		write(t, files, strings.TrimSuffix(path, ".jsonl")+"/0.bash.log", "a long output")
	}
	write(t, files, file1, talk(id1)...)
	before := tree(t, files)
	var refused []string
	env := newEnv(readOnlyFs{files, &refused}, func(c *agent.Config) { c.TerminalID = "t1" })
	results := resultSchemas(t)
	checked := 0
	for _, spec := range commands.Default.Specs() {
		if !spec.Flags.Has(commands.ReadOnly) {
			continue
		}
		checked++
		sources := paths
		if _, ok := fields(spec.Args)["source"]; !ok {
			sources = []string{""}
		}
		for _, path := range sources {
			a := argumentsFor(spec)
			if path != "" {
				a["source"] = path
			}
			raw, err := run(t.Context(), env, spec.Name, a)
			require.Empty(t, refused, "%s %s tried to write", spec.Name, path)
			if fault.Is(err, fault.Damaged) {
				continue // some fixtures are damaged
			}
			if spec.Name == "xcsh.team.follow" {
				requireKind(t, fault.Refused, err) // there is no team store
				continue
			}
			if spec.Name == "xcsh.change" {
				requireKind(t, fault.NotFound, err) // the session changed no file
				continue
			}
			require.NoError(t, err, "%s %s", spec.Name, path)
			validate(t, results[spec.Name], raw, spec.Name+" "+path)
		}
	}
	require.Greater(t, checked, 10)
	require.Equal(t, before, tree(t, files))
}

// A read-only store can still be read. Commands that must write return an error with the path.
func TestAStoreThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	env := newEnv(afero.NewReadOnlyFs(fs))
	do(t, env, "xcsh.resume", args{"target": id1})
	require.Equal(t, "bbbbbbbb", do(t, env, "xcsh.tree", nil)["leafId"])
	do(t, env, "xcsh.branch", args{"entryId": nil})
	for name, a := range map[string]args{
		"xcsh.export": {"path": "/w/x.html"},
		"xcsh.fork":   nil,
		"xcsh.rename": {"title": "x"},
		"xcsh.resume": {"target": "/w/new.jsonl", "create": true},
		"xcsh.label":  {"entryId": "aaaaaaaa", "label": "x"},
	} {
		if name == "xcsh.export" {
			require.NoError(t, fs.MkdirAll("/w", 0o700))
		}
		_, err := run(t.Context(), env, name, a)
		require.Error(t, err, name)
		var f *fault.Error
		require.ErrorAs(t, err, &f, name)
		require.Contains(t, []fault.Kind{fault.ReadOnly, fault.IO}, f.Kind, name)
		require.NotEmpty(t, f.Data["path"], name)
	}
	require.Equal(t, id1, do(t, env, "xcsh.state", nil)["sessionId"])
}

// resultSchemas returns the schema of every command's result, as a client gets it.
func resultSchemas(t *testing.T) map[string]*jsonschema.Resolved {
	t.Helper()
	all := map[string]*jsonschema.Resolved{}
	for _, m := range manifest(t) {
		resolved, err := m.Result.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
		require.NoError(t, err, m.Name)
		all[m.Name] = resolved
	}
	return all
}

// manifest returns the list of commands, as a client gets it.
func manifest(t *testing.T) []commands.ManifestEntry {
	t.Helper()
	raw, err := json.Marshal(commands.Default.Manifest())
	require.NoError(t, err)
	var entries []commands.ManifestEntry
	require.NoError(t, json.Unmarshal(raw, &entries))
	return entries
}

func validate(t *testing.T, schema *jsonschema.Resolved, raw json.RawMessage, what string) {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(raw, &value), what)
	require.NoError(t, schema.Validate(value), what)
}

// Proves: AB-088
func TestManifestNamesEveryCommandWithItsSchemas(t *testing.T) {
	t.Parallel()
	entries := manifest(t)
	specs := commands.Default.Specs()
	require.Len(t, entries, len(specs))
	for i, m := range entries {
		require.Equal(t, specs[i].Name, m.Name)
		require.NotEmpty(t, m.Title, m.Name)
		require.Equal(t, specs[i].Input, m.Input)
		for what, schema := range map[string]*jsonschema.Schema{"args": m.Args, "result": m.Result} {
			if m.Name == "xcsh.commandsList" && what == "result" {
				require.Contains(t, schema.Types, "array")
				schema = schema.Items
			}
			require.Equal(t, "object", schema.Type, "%s of %s", what, m.Name)
			_, err := schema.Resolve(nil)
			require.NoError(t, err, "%s of %s", what, m.Name)
		}
		require.Contains(t, m.Args.Properties, "cwd", m.Name)
	}
}

// The results of the commands that change something match their schemas, too, and the commands accept
// the arguments that their schemas allow.
func TestResultsMatchTheirSchemas(t *testing.T) {
	t.Parallel()
	results := resultSchemas(t)
	given := map[string]*jsonschema.Resolved{}
	for _, m := range manifest(t) {
		resolved, err := m.Args.Resolve(nil)
		require.NoError(t, err)
		given[m.Name] = resolved
	}
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	write(t, fs, "/w/damaged.jsonl", append(talk("0190000000000002"), "junk {")...)
	env := newEnv(fs)
	for _, call := range []struct {
		name string
		args args
	}{
		{"xcsh.state", args{}},
		{"xcsh.context", args{"leafId": nil}},
		{"xcsh.tree", args{}},
		{"xcsh.resume", args{"target": "/w/damaged.jsonl", "scope": "all", "onOtherProject": "ask"}},
		{"xcsh.resume", args{"target": "new.jsonl", "create": true}},
		{"xcsh.continue", args{"cwd": "file:///w"}},
		{"xcsh.branch", args{"entryId": "bbbbbbbb", "summary": "so far"}},
		{"xcsh.branch", args{"entryId": "aaaaaaaa"}},
		{"xcsh.branch", args{"entryId": nil}},
		{"xcsh.label", args{"entryId": "bbbbbbbb", "label": "x"}},
		{"xcsh.label", args{"entryId": "bbbbbbbb", "label": nil}},
		{"xcsh.rename", args{"title": "x"}},
		{"xcsh.fork", args{"entryId": "aaaaaaaa", "position": "before"}},
		{"xcsh.resume", args{"target": id1}},
		{"xcsh.fork", args{}},
		{"xcsh.export", args{"path": "x.jsonl", "format": "jsonl", "overwrite": true, "open": true}},
		{"xcsh.list", args{"scope": "all", "query": "one", "limit": 1, "cursor": "0", "includeEmpty": true}},
		{"xcsh.recent", args{"limit": 2}},
		{"xcsh.resolve", args{"target": "0190", "scope": "folder"}},
		{"xcsh.entries", args{"since": "bbbbbbbb"}},
		{"xcsh.dump", args{"source": id1}},
		{"xcsh.doctor", args{"source": "/w/damaged.jsonl"}},
		{"xcsh.new", args{"title": "x", "parentSession": "y"}},
	} {
		raw, err := json.Marshal(call.args)
		require.NoError(t, err)
		validate(t, given[call.name], raw, "arguments of "+call.name)
		if call.args["path"] == "x.jsonl" {
			require.NoError(t, fs.MkdirAll("/w", 0o700))
		}
		result, err := run(t.Context(), env, call.name, call.args)
		require.NoError(t, err, "%s %v", call.name, call.args)
		validate(t, results[call.name], result, call.name)
	}
}

// Empty lists in results are lists, not null, so that clients need no check.
func TestEmptyListsAreNotNull(t *testing.T) {
	t.Parallel()
	env := newEnv(afero.NewMemMapFs())
	for name, keys := range map[string][]string{
		"xcsh.list": {"sessions", "problems"}, "xcsh.recent": {"sessions"}, "xcsh.entries": {"entries"}, "xcsh.tree": {"nodes"},
		"xcsh.context": {"problems"}, "xcsh.doctor": {"problems"}, "xcsh.continue": {"repairs"},
	} {
		result := do(t, env, name, nil)
		for _, key := range keys {
			require.Equal(t, []any{}, result[key], "%s of %s", key, name)
		}
	}
	require.Equal(t, []any{}, do(t, env, "xcsh.resolve", args{"target": "x"})["matches"])
	built, ok := do(t, env, "xcsh.context", nil)["context"].(map[string]any)
	require.True(t, ok)
	require.Equal(t, []any{}, built["messages"])
	require.Equal(t, []any{}, built["injectedTtsrRules"])
	require.Equal(t, map[string]any{}, built["models"])
}
