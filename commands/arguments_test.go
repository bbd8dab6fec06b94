package commands_test

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// fields returns the types of a command's arguments by their names on the wire.
func fields(t reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			maps.Copy(all, fields(f.Type))
			continue
		}
		all[name] = f.Type
	}
	return all
}

func TestEveryCommandRejectsUnknownArguments(t *testing.T) {
	t.Parallel()
	for _, spec := range commands.Default.Specs() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			for _, name := range []string{"nonsense", "Cwd", "cwd ", ""} {
				_, err := run(t.Context(), newEnv(fs), spec.Name, args{name: "/w"})
				f := requireKind(t, fault.InvalidArgument, err)
				require.Equal(t, name, f.Data["field"])
				require.Contains(t, f.Message, spec.Name)
			}
			empty, err := afero.IsEmpty(fs, "/")
			require.NoError(t, err)
			require.True(t, empty, "nothing changed")
		})
	}
}

func TestEveryCommandRejectsWrongTypes(t *testing.T) {
	t.Parallel()
	for _, spec := range commands.Default.Specs() {
		for name, typ := range fields(spec.Args) {
			for typ.Kind() == reflect.Pointer {
				typ = typ.Elem()
			}
			t.Run(spec.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				wrong := []any{args{"a": 1}, []any{"a"}, 1.5}
				if typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.String {
					wrong[1] = []any{1}
				}
				switch typ.Kind() {
				case reflect.String:
					wrong = append(wrong, true, 5)
				case reflect.Bool, reflect.Int:
					wrong = append(wrong, "5")
				default:
					wrong = append(wrong, true)
				}
				for _, value := range wrong {
					_, err := run(t.Context(), newEnv(afero.NewMemMapFs()), spec.Name, args{name: value})
					f := requireKind(t, fault.InvalidArgument, err)
					field, _ := f.Data["field"].(string)
					require.True(t, field == name || strings.HasPrefix(field, name+"."), "%s: %v", field, value)
					require.Contains(t, f.Message, name)
				}
			})
		}
	}
}

// The arguments are one JSON object or absent. Clients express "absent" in several ways.
func TestArgumentsAreOneObjectOrAbsent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []json.RawMessage
		kind fault.Kind
	}{
		"no list":              {nil, ""},
		"an empty list":        {[]json.RawMessage{}, ""},
		"null":                 {[]json.RawMessage{json.RawMessage(`null`)}, ""},
		"an empty object":      {[]json.RawMessage{json.RawMessage(" {\n} ")}, ""},
		"Lua's empty table":    {[]json.RawMessage{json.RawMessage(`[]`)}, ""},
		"a string":             {[]json.RawMessage{json.RawMessage(`"/w"`)}, fault.InvalidArgument},
		"a list with elements": {[]json.RawMessage{json.RawMessage(`["/w"]`)}, fault.InvalidArgument},
		"two objects":          {[]json.RawMessage{json.RawMessage(`{}`), json.RawMessage(`{}`)}, fault.InvalidArgument},
		"half an object":       {[]json.RawMessage{json.RawMessage(`{"cwd":`)}, fault.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := commands.Default.Execute(t.Context(), newEnv(afero.NewMemMapFs()), "xcsh.state", tc.args)
			if tc.kind == "" {
				require.NoError(t, err)
				return
			}
			requireKind(t, tc.kind, err)
		})
	}
}

// A folder is an absolute path or a file: URI, in any spelling.
func TestSpellingsOfAFolder(t *testing.T) {
	t.Parallel()
	for cwd, want := range map[string]string{
		"/w":                     "/w",
		"/w/":                    "/w",
		"/v/../w/.":              "/w",
		"/my project":            "/my project",
		"/100%":                  "/100%",
		"/a%20b":                 "/a%20b",
		"file:///my%20project":   "/my project",
		"file:///my%20project/":  "/my project",
		"file:///100%25":         "/100%",
		"file:///a%2520b":        "/a%20b",
		"file:///gr%C3%BC%C3%9F": "/grüß",
		"file:/w":                "/w",
		"file:///a%23b%3Fc":      "/a#b?c",
	} {
		require.Equal(t, want, do(t, newEnv(afero.NewMemMapFs()), "xcsh.state", args{"cwd": cwd})["cwd"], cwd)
	}
	for _, cwd := range []string{"w", "./w", "~/w", "https://x.org/w", "untitled:w", "file:", "file:w", "/w\x00", "file:///w%00", "file:///%zz", " /w"} {
		_, err := run(t.Context(), newEnv(afero.NewMemMapFs()), "xcsh.state", args{"cwd": cwd})
		require.Equal(t, "cwd", requireKind(t, fault.InvalidArgument, err).Data["field"], cwd)
	}
}

// The same for the sessions to read and the files to write.
// Proves: O-009 (spaces, quotes, ~/, URIs)
func TestSpellingsOfAPath(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	for _, path := range []string{"/w/a b.jsonl", "/w/100%.jsonl", "/w/a%20b.jsonl", "/w/sub/grüß.jsonl", "/home/u/x.jsonl", `/w/"in quotes".jsonl`} {
		write(t, fs, path, talk(id1)...)
	}
	write(t, fs, sessions+"/0190000000000009.jsonl", talk("0190000000000009")...)
	env := newEnv(fs)
	for source, want := range map[string]string{
		"a b.jsonl":                          "/w/a b.jsonl",
		"./a b.jsonl":                        "/w/a b.jsonl",
		"sub/../a b.jsonl":                   "/w/a b.jsonl",
		"/w/100%.jsonl":                      "/w/100%.jsonl",
		"100%.jsonl":                         "/w/100%.jsonl",
		"a%20b.jsonl":                        "/w/a%20b.jsonl",
		"file:///w/a%20b.jsonl":              "/w/a b.jsonl",
		"FILE:///w/a%20b.jsonl":              "/w/a b.jsonl",
		"file:///w/a%2520b.jsonl":            "/w/a%20b.jsonl",
		"file:///w/100%25.jsonl":             "/w/100%.jsonl",
		"file:///w/sub/gr%C3%BC%C3%9F.jsonl": "/w/sub/grüß.jsonl",
		"~/x.jsonl":                          "/home/u/x.jsonl",
		`"a b.jsonl"`:                        "/w/a b.jsonl",
		`'/w/a b.jsonl'`:                     "/w/a b.jsonl",
		`"in quotes".jsonl`:                  `/w/"in quotes".jsonl`,
		`"0190000000000009"`:                 "/home/u/.xcsh/agent/sessions/--w--/0190000000000009.jsonl",
	} {
		require.Equal(t, want, do(t, env, "xcsh.context", args{"source": source})["file"], source)
	}
	for _, source := range []string{"file://elsewhere/w/a.jsonl", "file:", "file:///%zz", "a\x00.jsonl"} {
		_, err := run(t.Context(), env, "xcsh.context", args{"source": source})
		requireKind(t, fault.InvalidArgument, err)
	}
	for _, path := range []string{"file:x.html", "file:", "file://elsewhere/x.html", "a\x00.html"} {
		_, err := run(t.Context(), env, "xcsh.export", args{"source": "a b.jsonl", "path": path})
		requireKind(t, fault.InvalidArgument, err)
	}
	for path, want := range map[string]string{
		"out 1.jsonl":                "/w/out 1.jsonl",
		"sub/out.jsonl":              "/w/sub/out.jsonl",
		"sub/../out2.jsonl":          "/w/out2.jsonl",
		"file:///w/out%203.jsonl":    "/w/out 3.jsonl",
		"file:///w/50%25.jsonl":      "/w/50%.jsonl",
		"out%204.jsonl":              "/w/out%204.jsonl",
		`"out 5.jsonl"`:              "/w/out 5.jsonl",
		"'/w/out 6.jsonl'":           "/w/out 6.jsonl",
		"~/out 7.jsonl":              "/home/u/out 7.jsonl",
		"/w/sub/grüße aus %20.jsonl": "/w/sub/grüße aus %20.jsonl",
	} {
		require.Equal(t, want, do(t, env, "xcsh.export", args{"source": "a b.jsonl", "path": path})["path"], path)
		require.Equal(t, read(t, fs, "/w/a b.jsonl"), read(t, fs, want))
	}
}

// Proves: X-156
func TestACancelledCallFailsWithCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, spec := range commands.Default.Specs() {
		if _, ok := fields(spec.Args)["trashed"]; ok {
			continue // there is no trash here, which is checked first
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			write(t, fs, file1, talk(id1)...)
			before := tree(t, fs)
			given := args{}
			for name, value := range map[string]any{"entryId": "aaaaaaaa", "label": "x", "title": "x", "target": id1, "to": "/v", "confirm": true, "id": "0", "all": true} {
				if _, ok := fields(spec.Args)[name]; ok {
					given[name] = value
				}
			}
			_, err := run(ctx, newEnv(fs), spec.Name, given)
			requireKind(t, fault.Cancelled, err)
			require.Equal(t, before, tree(t, fs))
		})
	}
}
