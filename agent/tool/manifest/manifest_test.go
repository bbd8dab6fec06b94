//go:build unix

package manifest_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/manifest"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const citySchema = `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1},"at":{"type":["string","null"]},"more":{"type":"object","properties":{"deep":{"type":"boolean"}}}},"required":["city"],"additionalProperties":false}`

func TestATool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("weather", citySchema, `read -r args`, `printf '{"content": "%s in %s for %s"}' "$(echo "$args" | tr -d '"{}')" "$(basename "$PWD")" "$XCSH_TOOL_NAME"`)
	got := w.only()
	require.Equal(t, "weather", got.Name)
	require.Equal(t, "A tool.", got.Description)
	require.JSONEq(t, citySchema, string(got.Parameters))
	require.True(t, got.Changes, "it needs approval")
	require.Len(t, got.Digest, 64)
	r, err := w.call(t.Context(), got, `{"city":"Bern","days":2}`)
	require.NoError(t, err)
	require.False(t, r.IsError)
	require.Equal(t, "city:Bern,days:2 in work for weather", text(r))
	preview, err := got.Preview(t.Context(), tool.Env{}, json.RawMessage(`{"city":"`+strings.Repeat("x", 1000)+"\x1b[2J\"}"))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(preview.Title, `Run the tool weather (weather.sh) with {"city":"xxx`), preview.Title)
	require.Less(t, len(preview.Title), 400)
}

func TestArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("weather", citySchema)
	check := w.only().Check
	for args, want := range map[string]string{
		`{"city":"Bern"}`: `{"city":"Bern"}`,
		`{"city":"B","days":null,"at":null,"more":{"deep":null}}`: `{"at":null,"city":"B","more":{}}`,
		`{"city":"<&>","days":1}`:                                 `{"city":"<&>","days":1}`,
		"{\"city\":\"\xff\n\"}":                                   "",
		"{\"city\":\"a\xffb\"}":                                   `{"city":"a` + "\uFFFD" + `b"}`,
	} {
		got, err := check(json.RawMessage(args))
		if want == "" {
			require.Error(t, err, args)
			continue
		}
		require.NoError(t, err, args)
		require.Equal(t, want, string(got))
	}
	for args, want := range map[string]string{
		``:                          `missing properties: ["city"]`,
		`{}`:                        `missing properties: ["city"]`,
		`{"city":7}`:                `has type "integer", want "string"`,
		`{"city":null}`:             `has type "null", want "string"`,
		`{"city":"B","days":0}`:     `minimum`,
		`{"city":"B","days":1e999}`: `too large`,
		`{"city":"B","wind":true}`:  `unexpected additional properties ["wind"]`,
		`[]`:                        `must be one JSON object`,
		`null`:                      `must be one JSON object`,
		`{"city":"B"} {}`:           `must be one JSON object`,
		`{"city":"B"`:               `must be one JSON object`,
		`{"more":` + strings.Repeat(`{"a":`, 70) + `1` + strings.Repeat(`}`, 70) + `,"city":"B"}`: `more than 64 values within each other`,
		`{"city":"` + strings.Repeat("x", 256<<10) + `"}`:                                         `longer than 262144 bytes`,
	} {
		_, err := check(json.RawMessage(args))
		require.ErrorContains(t, err, "The arguments of weather are invalid: ", "%.80s", args)
		require.ErrorContains(t, err, want, "%.80s", args)
		require.True(t, fault.Is(err, fault.InvalidArgument))
	}
}

func TestHostileManifests(t *testing.T) {
	t.Parallel()
	with := func(field, value string) string {
		m := map[string]json.RawMessage{
			"name": json.RawMessage(`"good"`), "description": json.RawMessage(`"x"`), "parameters": json.RawMessage(anything), "executable": json.RawMessage(`"run.sh"`),
		}
		m[field] = json.RawMessage(value)
		raw, _ := json.Marshal(m)
		return string(raw)
	}
	nested := `{"type":"object"}`
	for range 20 {
		nested = `{"type":"object","properties":{"a":` + nested + `}}`
	}
	wide := `{"type":"object","properties":{` + strings.TrimSuffix(strings.Repeat(`"p":{"type":"string","enum":["a","b","c"]},`, 400), ",") + `}}`
	for name, tc := range map[string]struct{ content, want string }{
		"nothing":                 {``, `it is not a manifest`},
		"a list":                  {`[]`, `it is not a manifest`},
		"two":                     {with("name", `"a"`) + with("name", `"b"`), `it is not a manifest`},
		"huge":                    {with("description", `"`+strings.Repeat("x", 64<<10)+`"`), `it is longer than 65536 bytes`},
		"an unknown member":       {with("env", `{"LD_PRELOAD":"x"}`), `unknown object member name "env"`},
		"no name":                 {with("name", `""`), `its name must begin with a letter`},
		"a name with an escape":   {with("name", `"a\u001b[2J"`), `its name must begin with a letter`},
		"a name with a line end":  {with("name", `"good\n"`), `its name must begin with a letter`},
		"a name with a slash":     {with("name", `"../bash"`), `its name must begin with a letter`},
		"a name like ours":        {with("name", `"ɢood"`), `its name must begin with a letter`},
		"a long name":             {with("name", `"`+strings.Repeat("x", 65)+`"`), `its name must begin with a letter`},
		"the name of our tool":    {with("name", `"bash"`), `its name "bash" is that of another tool`},
		"our tool in capitals":    {with("name", `"BASH"`), `its name "BASH" is that of another tool`},
		"no description":          {with("description", `" "`), `it has no description`},
		"a long description":      {with("description", `"`+strings.Repeat("x", 4001)+`"`), `longer than 4000 characters`},
		"an escape in it":         {with("description", `"\u001b[2J"`), `its description has control characters`},
		"right to left":           {with("description", `"\u202e"`), `its description has control characters`},
		"no executable":           {with("executable", `""`), `must be the name of a file in the same folder`},
		"the folder":              {with("executable", `"."`), `must be the name of a file in the same folder`},
		"an absolute executable":  {with("executable", `"/bin/sh"`), `must be the name of a file in the same folder`},
		"one above":               {with("executable", `"../evil.sh"`), `must be the name of a file in the same folder`},
		"one above, inside":       {with("executable", `"sub/../../evil.sh"`), `must be the name of a file in the same folder`},
		"one of Windows":          {with("executable", `"..\\evil.sh"`), `must be the name of a file in the same folder`},
		"a drive":                 {with("executable", `"C:evil"`), `must be the name of a file in the same folder`},
		"a zero byte":             {with("executable", `"run.sh\u0000"`), `must be the name of a file in the same folder`},
		"an argument":             {with("executable", `"run.sh -x"`), `no such file`},
		"a missing executable":    {with("executable", `"none.sh"`), `no such file`},
		"a folder":                {with("executable", `"sub"`), `is not a file`},
		"not executable":          {with("executable", `"data.txt"`), `is not executable`},
		"a link":                  {with("executable", `"link.sh"`), `is a link`},
		"below a link":            {with("executable", `"out/evil.sh"`), `is a link`},
		"of others":               {with("executable", `"open.sh"`), `chmod go-w`},
		"in a folder of others":   {with("executable", `"shared/run.sh"`), `chmod go-w`},
		"a pipe":                  {with("executable", `"pipe"`), `is not a file`},
		"a negative time":         {with("timeoutSeconds", `-1`), `timeoutSeconds must be from 1 to 600`},
		"for ever":                {with("timeoutSeconds", `1e9`), `timeoutSeconds must be from 1 to 600`},
		"no parameters":           {with("parameters", `null`), `its parameters must be a JSON schema of the type "object"`},
		"a list of parameters":    {with("parameters", `[]`), `its parameters are not a JSON schema`},
		"no object":               {with("parameters", `{"type":"string"}`), `of the type "object"`},
		"two types":               {with("parameters", `{"type":["object","null"]}`), `of the type "object"`},
		"a schema of a file":      {with("parameters", `{"type":"object","$ref":"file:///etc/passwd"}`), `"$ref", which is not supported`},
		"a schema bomb":           {with("parameters", `{"type":"object","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]}}}`), `which is not supported`},
		"a recursive one":         {with("parameters", `{"type":"object","properties":{"a":{"$dynamicRef":"#a"}}}`), `which is not supported`},
		"a deep one":              {with("parameters", nested), `more than 12 values within each other`},
		"the same member twice":   {with("parameters", wide), `duplicate`},
		"a large one":             {with("parameters", `{"type":"object","enum":[1`+strings.Repeat(",1", 1000)+`]}`), `more than 1000 members`},
		"an odd property":         {with("parameters", `{"type":"object","properties":{"a b":{}}}`), `have a property "a b"`},
		"an invalid pattern":      {with("parameters", `{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}`), `not a JSON schema`},
		"an expensive pattern":    {with("parameters", `{"type":"object","properties":{"a":{"type":"string","pattern":"((a{1000}){1000}){1000}"}}}`), `not a JSON schema`},
		"an unknown type":         {with("parameters", `{"type":"object","properties":{"a":{"type":"evil"}}}`), `not a JSON schema`},
		"a schema that is a text": {with("parameters", `{"type":"object","properties":{"a":"b"}}`), `not a JSON schema`},
		"invalid UTF-8":           {strings.Replace(with("description", `"x"`), `"x"`, "\"\xff\"", 1), `it is not a manifest`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			outside := filepath.Join(filepath.Dir(w.Dir), "outside")
			for _, dir := range []string{outside, filepath.Join(w.Dir, "sub"), filepath.Join(w.Dir, "shared")} {
				require.NoError(t, os.Mkdir(dir, 0o700))
			}
			require.NoError(t, os.Chmod(filepath.Join(w.Dir, "shared"), 0o777))
			for name, mode := range map[string]os.FileMode{"run.sh": 0o700, "../evil.sh": 0o700, "../outside/evil.sh": 0o700, "shared/run.sh": 0o700, "open.sh": 0o777, "data.txt": 0o600} {
				w.write(name, "#!/bin/sh\n", mode)
			}
			require.NoError(t, os.Symlink("run.sh", filepath.Join(w.Dir, "link.sh")))
			require.NoError(t, os.Symlink(outside, filepath.Join(w.Dir, "out")))
			require.NoError(t, syscall.Mkfifo(filepath.Join(w.Dir, "pipe"), 0o700))
			w.write("a.json", tc.content, 0o600)
			require.Empty(t, w.Load())
			require.Len(t, w.reports, 1)
			require.True(t, strings.HasPrefix(w.reports[0], "The tool of "+filepath.Join(w.Dir, "a.json")+" is not used: "), w.reports[0])
			require.Contains(t, w.reports[0], tc.want)
			require.NotContains(t, w.reports[0], "\x1b")
			require.Less(t, len(w.reports[0]), 2000)
		})
	}
}

func TestHostileFolders(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(w *world)
		want   string
	}{
		"a manifest that is a link": {func(w *world) {
			require.NoError(w.t, os.Rename(filepath.Join(w.Dir, "t.json"), filepath.Join(w.cwd, "t.json")))
			require.NoError(w.t, os.Symlink(filepath.Join(w.cwd, "t.json"), filepath.Join(w.Dir, "t.json")))
		}, "is a link"},
		"a manifest of others": {func(w *world) { require.NoError(w.t, os.Chmod(filepath.Join(w.Dir, "t.json"), 0o666)) }, "chmod go-w"},
		"a folder of others":   {func(w *world) { require.NoError(w.t, os.Chmod(w.Dir, 0o777)) }, "chmod go-w"},
		"a folder that is a link": {func(w *world) {
			require.NoError(w.t, os.Rename(w.Dir, w.Dir+".real"))
			require.NoError(w.t, os.Symlink(w.Dir+".real", w.Dir))
		}, "the folder is a link"},
		"a manifest that is a pipe": {func(w *world) {
			require.NoError(w.t, os.Remove(filepath.Join(w.Dir, "t.json")))
			require.NoError(w.t, syscall.Mkfifo(filepath.Join(w.Dir, "t.json"), 0o600))
		}, "is not a file"},
		"a folder of a workspace": {func(w *world) { w.Check = func(string) error { return errors.New("They are in the workspace.") } }, "They are in the workspace."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put("t", anything, "touch "+w.cwd+"/ran")
			tc.change(w)
			require.Empty(t, w.Load())
			require.Len(t, w.reports, 1)
			require.Contains(t, w.reports[0], tc.want)
			require.NoFileExists(t, w.cwd+"/ran")
		})
	}
	w := newWorld(t)
	w.Dir = "tools"
	require.Empty(t, w.Load(), "a folder of the workspace")
	w.Dir = filepath.Join(w.cwd, "none")
	require.Empty(t, w.Load())
	require.Empty(t, w.reports)
}

// A tool that differs from the loaded one is refused.
func TestAChangedToolIsNotRun(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world){
		"another executable": func(w *world) { w.write("t.sh", "#!/bin/sh\ntouch evil\n", 0o700) },
		"another manifest": func(w *world) {
			w.write("t.json", `{"name":"t","description":"Another.","parameters":{"type":"object"},"executable":"t.sh"}`, 0o600)
		},
		"a link": func(w *world) {
			require.NoError(w.t, os.Rename(filepath.Join(w.Dir, "t.sh"), filepath.Join(w.cwd, "t.sh")))
			require.NoError(w.t, os.Symlink(filepath.Join(w.cwd, "t.sh"), filepath.Join(w.Dir, "t.sh")))
		},
		"of others": func(w *world) { require.NoError(w.t, os.Chmod(filepath.Join(w.Dir, "t.sh"), 0o777)) },
		"none":      func(w *world) { require.NoError(w.t, os.Remove(filepath.Join(w.Dir, "t.sh"))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put("t", anything, `touch evil; echo '{"content":"ran"}'`)
			loaded := w.only()
			change(w)
			_, err := w.call(t.Context(), loaded, `{}`)
			require.EqualError(t, err, "The tool t was not run because its manifest or executable has changed since the server started. The user can restart the server to use it.")
			require.True(t, fault.Is(err, fault.Denied))
			require.NoFileExists(t, w.cwd+"/evil")
			for _, again := range w.Load() {
				require.NotEqual(t, loaded.Digest, again.Digest, "approvals do not count any more")
			}
		})
	}
}

// A folder that becomes part of a workspace is not run any more.
func TestTheFolderIsCheckedBeforeEachCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var asked []string
	w.Check = func(cwd string) error {
		if asked = append(asked, cwd); cwd != "" {
			return fault.New(fault.Denied, "Not here.")
		}
		return nil
	}
	w.put("t", anything, "touch ran")
	_, err := w.call(t.Context(), w.only(), `{}`)
	require.EqualError(t, err, "Not here.")
	require.Equal(t, []string{"", w.cwd}, asked)
	require.NoFileExists(t, w.cwd+"/ran")
}

func TestManyTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("run.sh", "#!/bin/sh\n", 0o700)
	for i := range 34 {
		name := string(rune('a'+i/26)) + string(rune('a'+i%26))
		w.write(name+".json", `{"name":"`+name+`","description":"x","parameters":{"type":"object"},"executable":"run.sh"}`, 0o600)
	}
	w.write("zz.json", `{"name":"AA","description":"x","parameters":{"type":"object"},"executable":"run.sh"}`, 0o600)
	w.write(".hidden.json", `{}`, 0o600)
	w.write("README.md", `{}`, 0o600)
	tools := w.Load()
	require.Len(t, tools, 32)
	require.Equal(t, "aa", tools[0].Name)
	require.Len(t, w.reports, 3)
	require.Contains(t, w.reports[0], "there are more than 32 tools")
	require.Contains(t, w.reports[2], `its name "AA" is that of another tool`)
}

// Only a tool that says so, and that the user confirmed with this content, runs without approval: in the
// strict sandbox, and not at all without one.
func TestReadOnlyTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	confirmed := map[string]bool{}
	w.ReadOnly = func(name, digest string) bool { return confirmed[name+digest] }
	w.put("t", anything, `touch ran; echo '{"content":"x"}'`)
	plain := w.only()
	require.False(t, plain.ReadOnly)
	confirmed["t"+plain.Digest] = true
	require.True(t, w.only().Changes, "it is not declared")

	w.write("t.json", `{"name":"t","description":"x","parameters":{"type":"object"},"executable":"t.sh","readOnly":true}`, 0o600)
	declared := w.only()
	require.True(t, declared.ReadOnly)
	require.True(t, declared.Changes, "it is not confirmed")
	confirmed["t"+declared.Digest] = true
	trusted := w.only()
	require.True(t, trusted.Confirmed)
	require.False(t, trusted.Changes)
	_, err := trusted.Run(t.Context(), tool.Env{Cwd: w.cwd}, json.RawMessage(`{}`))
	require.EqualError(t, err, "There is no sandbox, so the command was not run.")
	_, err = trusted.Run(t.Context(), tool.Env{Cwd: w.cwd, Permission: tool.Permission{Level: sandbox.Standard}}, json.RawMessage(`{}`))
	require.Error(t, err)
	require.NoFileExists(t, w.cwd+"/ran")
	w.put("t", anything, "touch ran")
	w.write("t.json", `{"name":"t","description":"x","parameters":{"type":"object"},"executable":"t.sh","readOnly":true}`, 0o600)
	require.True(t, w.only().Changes, "it has changed")
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"name":"a","description":"x","parameters":{"type":"object","properties":{"a":{"type":"string","pattern":"a+"}}},"executable":"run.sh"}`))
	f.Add([]byte(`{"name":"a","description":"x","parameters":{"type":"object","$ref":"#"},"executable":"../run.sh"}`))
	f.Fuzz(func(_ *testing.T, raw []byte) { _ = manifest.Parse(raw) })
}
