package commands_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Every command that only reads works on a store that cannot be written, whatever
// program wrote the files and whatever is wrong with them, and leaves every byte. What
// it answers has the shape that its schema promises.
func TestReadOnlyCommandsOnEveryFixture(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	paths := fixtures(t, fs)
	require.NoError(t, fs.MkdirAll("/out", 0o700))
	for _, path := range paths {
		write(t, fs, strings.TrimSuffix(path, ".jsonl")+"/0.bash.log", "a long output")
	}
	before := tree(t, fs)
	env := newEnv(lockedFs{fs})
	results := resultSchemas(t)
	for _, spec := range commands.Default.Specs() {
		if !spec.Flags.Has(commands.ReadOnly) {
			continue
		}
		names := fields(spec.Args)
		sources := paths
		if _, ok := names["source"]; !ok {
			sources = []string{""}
		}
		for _, path := range sources {
			a := args{}
			if path != "" {
				a["source"] = path
			}
			if _, ok := names["target"]; ok {
				a["target"] = paths[0]
			}
			if _, ok := names["path"]; ok {
				a["path"] = "/out/" + strings.ReplaceAll(strings.TrimPrefix(path, "/home/u/."), "/", "-") + ".html"
			}
			if _, ok := names["scope"]; ok {
				a["scope"] = "all"
			}
			if _, ok := names["id"]; ok {
				a["id"] = "0"
			}
			raw, err := run(t.Context(), env, spec.Name, a)
			if fault.Is(err, fault.Damaged) {
				continue // there are such among the fixtures; what counts is that they stay
			}
			require.NoError(t, err, "%s %s", spec.Name, path)
			validate(t, results[spec.Name], raw, spec.Name+" "+path)
		}
	}
	for path, content := range tree(t, fs) {
		if !strings.HasPrefix(path, "/out/") {
			require.Equal(t, before[path], content, path)
			delete(before, path)
		} else {
			require.True(t, strings.HasSuffix(path, ".html"), "left behind: %s", path)
		}
	}
	require.Empty(t, before, "gone")
}

// A store that cannot be written is no reason not to look at it; what must write says
// what it could not.
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

// resultSchemas returns the schema of every command's result as a client gets it.
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

// manifest is the list of commands as it arrives at a client.
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
			require.Equal(t, "object", schema.Type, "%s of %s", what, m.Name)
			_, err := schema.Resolve(nil)
			require.NoError(t, err, "%s of %s", what, m.Name)
		}
		require.Contains(t, m.Args.Properties, "cwd", m.Name)
	}
}

// The commands that change something answer in the shape they promise, too, and take
// what their schema of arguments says.
func TestResultsHaveTheirPromisedShape(t *testing.T) {
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

// Lists in results are lists even when they are empty: a client need not look for null.
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
