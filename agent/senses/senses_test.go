package senses_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/senses"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

const span = `{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}}`

// at is a location in a file of the folder.
func at(name string, line, from, to int) string {
	return fmt.Sprintf(`{"uri":"@%s@","range":`+span+`}`, name, line, from, line, to)
}

// change is an edit of a file.
func change(line, from, to int, text string) string {
	return fmt.Sprintf(`{"range":`+span+`,"newText":%q}`, line, from, line, to, text)
}

func TestTheToolHasTheAnnouncedActions(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	actions := func(readOnly bool) (list []string) {
		got, ok := d.senses.Tool(readOnly)
		if !ok {
			return nil
		}
		var p struct {
			Properties struct{ Action struct{ Enum []string } }
		}
		require.NoError(t, json.Unmarshal(got.Parameters, &p))
		require.Equal(t, !readOnly && strings.Contains(strings.Join(p.Properties.Action.Enum, " "), "rename"), got.Changes)
		return p.Properties.Action.Enum
	}
	assert.Len(t, actions(false), len(senses.Requests)+1)
	assert.NotContains(t, actions(true), "rename")
	assert.NotContains(t, actions(true), "code_actions")
	d.actions = []string{senses.TypeDefinition}
	assert.Equal(t, []string{"type_definition", "status"}, actions(false))
	d.actions = []string{senses.Rename}
	assert.Empty(t, actions(true))
	d.actions = nil
	assert.Empty(t, actions(false))
	var none *senses.Senses
	_, ok := none.Tool(false)
	assert.False(t, ok)
}

func TestArguments(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.go": "one two\n"})
	d.actions = []string{senses.Hover, senses.Rename, senses.Symbols}
	for args, want := range map[string]string{
		`[]`:                               "must be one JSON object",
		`{}`:                               `needs the parameter "action"`,
		`{"action":"reload"}`:              "can't restart them",
		`{"action":"request"}`:             "doesn't send requests of your own",
		`{"action":"fly\u0000"}`:           `can't be asked for "fly`,
		`{"action":"hover"}`:               `the action hover needs the parameter "file"`,
		`{"action":"hover","file":"a.go"}`: `the action hover needs the parameter "line"`,
		`{"action":"hover","file":"a.go","line":-1}`:                 "count from 1",
		`{"action":"hover","file":"a.go","line":1.5}`:                `"line" must be a whole number`,
		`{"action":"hover","file":"a.go","line":9}`:                  "a.go has only 2 lines",
		`{"action":"hover","file":"a.go","line":1,"symbol":"six"}`:   `"six" does not occur in a.go, line 1, which is: one two`,
		`{"action":"hover","file":"a.go","symbol":"one#2"}`:          `"one" does not occur that often in a.go.`,
		`{"action":"hover","file":"b.go","line":1}`:                  "File not found",
		`{"action":"hover","file":"xd://b","line":1}`:                "lsp works on files",
		`{"action":"hover","file":".netrc","line":1}`:                "may contain keys",
		`{"action":"rename","file":"a.go","line":1,"apply":"maybe"}`: `"apply" must be true or false`,
		`{"action":"rename","file":"a.go","line":1}`:                 `needs the parameter "new_name"`,
		`{"action":"symbols"}`:                                       `needs the parameter "file"`,
		`{"action":"symbols","file":"a.go","speed":1}`:               `lsp has no parameter "speed"`,
	} {
		text, failed := d.call(args)
		assert.True(t, failed, args)
		assert.Contains(t, text, want, args)
	}
	assert.Empty(t, d.asked, "the editor is asked for none of these")
	for _, args := range []string{
		`{"action":"hover","path":"a.go","line":"1","symbol":"two","_i":"x","payload":null,"timeout":"3"}`,
		`{"action":"hover","file":"a.go","symbol":"two#1","i":"x"}`,
		`{"action":"hover","file":"a.go","symbol":"two","line":1,"occurrence":1}`,
	} {
		d.asked = nil
		_, failed := d.call(args)
		assert.False(t, failed, args)
		assert.Equal(t, []string{`hover {"uri":"file://` + d.path("a.go") + `","position":{"line":0,"character":4}}`}, d.asked)
	}
}

func TestTheColumnOfASymbol(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.go": "counter := count + count2 + count\n\t  indented\n$x _y\n"})
	for args, column := range map[string]string{
		`"line":1,"symbol":"count"`:                "11",
		`"line":1,"symbol":"count#2"`:              "28",
		`"line":1,"symbol":"count","occurrence":2`: "28",
		`"line":1,"symbol":"unter"`:                "2",
		`"line":1,"symbol":":="`:                   "8",
		`"line":2`:                                 "3",
		`"line":3,"symbol":"x"`:                    "1",
		`"symbol":"_y"`:                            "3",
	} {
		d.asked = nil
		_, _ = d.call(`{"action":"hover","file":"a.go",` + args + `}`)
		require.Len(t, d.asked, 1, args)
		assert.Contains(t, d.asked[0], `"character":`+column+`}`, args)
	}
}

func TestPlacesHaveTheirLines(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.go": "x\n", "lib/b.go": "ä func Run() {\x1b[31m}\n", "../out/c.go": "outside\n", ".netrc": "KEY=secret\n"})
	d.answer(senses.References, `[`+at("../out/c.go", 0, 0, 1)+`,`+at("lib/b.go", 0, 8, 11)+`,`+at(".netrc", 0, 4, 5)+`,`+at("gone.go", 5, 0, 1)+`,
		{"uri":"jdt://x/y.class","range":`+fmt.Sprintf(span, 0, 0, 0, 0)+`},{"uri":"@a.go@"},{"uri":7},null,"x",
		{"targetUri":"@a.go@","targetRange":`+fmt.Sprintf(span, 0, 0, 0, 1)+`}]`)
	text, failed := d.call(`{"action":"references","file":"a.go","line":1}`)
	require.False(t, failed)
	assert.NotContains(t, text, "secret")
	assert.NotContains(t, text, "\x1b")
	for _, want := range []string{"lib/b.go:1:8\n    ä func Run()", ".netrc:1\n", "gone.go:6\n", "/out/c.go:1:1\n    outside", "jdt://x/y.class", "a.go:1:1\n    x"} {
		assert.Contains(t, text, want)
	}
	d.answer(senses.References, `[`+strings.Repeat(at("a.go", 0, 0, 1)+`,`, 80)+at("a.go", 0, 0, 1)+`]`)
	text, _ = d.call(`{"action":"references","file":"a.go","line":1}`)
	assert.Contains(t, text, "Found 81 references:")
	assert.Contains(t, text, "… and 31 more")
	assert.Equal(t, 50, strings.Count(text, "a.go:1:1"))
}

func TestProblemsAreListedWithErrorsFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.go": "x\n", ".netrc": "x\n"})
	item := func(severity int, message string) string {
		return fmt.Sprintf(`{"range":`+span+`,"severity":%d,"message":%q}`, 0, 0, 0, 1, severity, message)
	}
	d.answer(senses.Diagnostics, `{"documents":[{"uri":"@a.go@","items":[`+item(4, "hint")+`,`+item(2, "warning")+`,`+item(99, "error")+`,{"range":3},7]},
		{"uri":"@.netrc@","items":[`+item(1, "KEY=secret")+`]},{"uri":"@../other/a.go@","items":[`+item(1, "elsewhere")+`]},{"uri":"untitled:x","items":[`+item(1, "no file")+`]},0]}`)
	text, _ := d.call(`{"action":"diagnostics"}`)
	assert.Equal(t, "1 error, 1 warning, 1 hint:\na.go:1:1 [error] error\na.go:1:1 [warning] warning\na.go:1:1 [hint] hint", text)

	d.answer(senses.Diagnostics, `{"documents":[{"uri":"@a.go@","stale":true,"items":[`+strings.Repeat(item(2, strings.Repeat("m", 5000))+`,`, 300)+item(1, "last")+`]}]}`)
	text, _ = d.call(`{"action":"diagnostics","file":"a.go"}`)
	assert.True(t, strings.HasPrefix(text, "1 error, 300 warnings:\na.go:1:1 [error] last\n"))
	assert.Contains(t, text, "… and 101 more\nNo language server has reported about the current text")
	assert.Less(t, len(text), 120_000)

	d.answer(senses.Diagnostics, `{"documents":[]}`)
	text, _ = d.call(`{"action":"diagnostics","file":"a.go"}`)
	assert.Equal(t, "The editor knows nothing about a.go.", text)
	text, failed := d.call(`{"action":"diagnostics","file":".netrc"}`)
	assert.True(t, failed)
	assert.Contains(t, text, "may contain keys or passwords")
}

func TestEditsOfTheEditorAreMadeAsAWhole(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ edit, want, a, b string }{
		"two files":        {`{"changes":{"@a.go@":[` + change(0, 4, 7, "two") + `,` + change(1, 0, 3, "two") + `],"@b.go@":[` + change(0, 0, 3, "two") + `]}}`, "Done: Rename one to two in 2 files. Changed a.go, b.go.", "var two\ntwo()\n", "two\n"},
		"document changes": {`{"documentChanges":[{"textDocument":{"uri":"@b.go@","version":null},"edits":[` + change(0, 0, 3, "two") + `]}]}`, "Done: Rename one to two in b.go. Changed b.go.", "var one\none()\n", "two\n"},
		"nothing":          {`null`, "have no edit", "", ""},
		"no effect":        {`{"changes":{"@a.go@":[` + change(0, 4, 7, "one") + `]}}`, "have no edit", "", ""},
		"an overlap":       {`{"changes":{"@a.go@":[` + change(0, 4, 7, "two") + `,` + change(0, 5, 6, "x") + `]}}`, "overlap", "", ""},
		"a wrong shape":    {`{"changes":{"@a.go@":[` + change(0, 4, 7, "two") + `],"@b.go@":[{"range":7}]}}`, "is not an edit", "", ""},
		"a backward range": {`{"changes":{"@a.go@":[` + change(0, 7, 4, "two") + `]}}`, "is not an edit", "", ""},
		"a moved file":     {`{"documentChanges":[{"kind":"rename","oldUri":"@a.go@","newUri":"@c.go@"},{"textDocument":{"uri":"@b.go@"},"edits":[]}]}`, "makes, moves or removes files", "", ""},
		"another scheme":   {`{"changes":{"vscode-userdata:/settings.json":[` + change(0, 0, 1, "x") + `]}}`, "is not a file", "", ""},
		"credentials":      {`{"changes":{"@.netrc@":[` + change(0, 0, 1, "x") + `],"@a.go@":[` + change(0, 4, 7, "two") + `]}}`, "may contain keys", "", ""},
		"a missing file":   {`{"changes":{"@a.go@":[` + change(0, 4, 7, "two") + `],"@c.go@":[` + change(0, 0, 1, "x") + `]}}`, "File not found", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, map[string]string{"a.go": "var one\none()\n", "b.go": "one\n", ".netrc": "K=1\n"})
			d.answer(senses.Rename, tc.edit)
			text, failed := d.call(`{"action":"rename","file":"a.go","line":1,"symbol":"one","new_name":"two"}`)
			assert.Contains(t, text, tc.want)
			assert.Equal(t, tc.a == "", failed)
			if failed {
				tc.a, tc.b = "var one\none()\n", "one\n"
			}
			assert.Equal(t, tc.a, d.read("a.go"))
			assert.Equal(t, tc.b, d.read("b.go"))
			assert.Equal(t, "K=1\n", d.read(".netrc"))
		})
	}
}

// A call that was not shown changes nothing, and neither does one whose file has changed since.
func TestOnlyShownEditsAreMade(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.go": "one\n"})
	d.answer(senses.Rename, `{"changes":{"@a.go@":[`+change(0, 0, 3, "two")+`]}}`)
	r, _ := d.senses.Tool(false)
	args, err := r.Check(json.RawMessage(`{"action":"rename","file":"a.go","line":1,"new_name":"two"}`))
	require.NoError(t, err)
	result, err := r.Run(t.Context(), d.env, args)
	require.NoError(t, err)
	require.True(t, result.IsError)
	require.Contains(t, result.Content[0].Text, "was not approved")

	shown, err := r.Preview(t.Context(), d.env, args)
	require.NoError(t, err)
	require.Equal(t, "Rename the symbol in line 1 to two in a.go", shown.Title)
	require.Contains(t, shown.Diff, "-one\n+two\n")
	d.answer(senses.Rename, `{"changes":{"@a.go@":[`+change(0, 0, 3, "evil")+`]}}`)
	require.NoError(t, os.WriteFile(d.path("a.go"), []byte("one more\n"), 0o600))
	result, err = r.Run(t.Context(), d.env, args)
	require.NoError(t, err)
	require.True(t, result.IsError)
	require.Equal(t, "one more\n", d.read("a.go"))
	result, err = r.Run(t.Context(), d.env, args)
	require.NoError(t, err)
	require.True(t, result.IsError, "a call is made once")
}

func TestCodeActions(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.go": "one\n"})
	d.answer(senses.CodeActions, `[{"title":"Import x","kind":"quickfix","edit":{"changes":{"@a.go@":[`+change(0, 0, 3, "two")+`]}}},
		{"title":"Import y","edit":{"changes":{"@a.go@":[`+change(0, 0, 3, "six")+`]}}},{"title":"Run","command":"x"},{"title":"Not now","disabled":"no","edit":{"changes":{}}},{"title":" "},4]`)
	call := func(more string) (string, bool) {
		return d.call(`{"action":"code_actions","file":"a.go","line":1` + more + `}`)
	}
	text, failed := call("")
	require.False(t, failed)
	assert.Equal(t, "4 code actions:\n  0: [quickfix] Import x\n  1: Import y\n  2: Run (can't be applied here: it runs a command of the editor)\n  3: Not now (can't be applied here: it is disabled)", text)
	text, _ = call(`,"query":"import"`)
	assert.True(t, strings.HasPrefix(text, "2 code actions:"))
	for more, want := range map[string]string{
		`,"apply":true`:                     `needs the parameter "query"`,
		`,"apply":true,"query":"import"`:    `"import" names 2 code actions`,
		`,"apply":true,"query":"nothing"`:   `"nothing" names 0 code actions`,
		`,"apply":true,"query":"2"`:         "it runs a command",
		`,"apply":true,"query":"Not now"`:   "it is disabled",
		`,"apply":"true","query":"import "`: "names 2 code actions",
	} {
		text, failed := call(more)
		assert.True(t, failed, more)
		assert.Contains(t, text, want, more)
	}
	assert.Equal(t, "one\n", d.read("a.go"))
	text, failed = call(`,"apply":true,"query":"import y"`)
	assert.False(t, failed, text)
	assert.Equal(t, "six\n", d.read("a.go"))
}

func TestTheDesk(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.go": "one two\nthree\n", ".netrc": "K=secret\n", "../x.go": "outside\n"})
	d.answer(senses.Editors, `[{"uri":"@a.go@","active":true,"dirty":true},{"uri":"@.netrc@"},{"uri":"@../x.go@"},{"uri":"@b.go@","visible":true},{"uri":"output:x"},{}]`)
	text, _ := d.call(`{"action":"editors"}`)
	assert.Equal(t, "Open files:\n  a.go (active, unsaved changes)\n  b.go (visible)", text)
	for answer, want := range map[string]string{
		at("a.go", 0, 4, 7): "Selected in a.go, line 1:\ntwo",
		`{"uri":"@a.go@","range":` + fmt.Sprintf(span, 0, 4, 2, 0) + `}`: "Selected in a.go, lines 1 to 2:\ntwo\nthree\n",
		at("a.go", 0, 4, 4):    "Nothing is selected in a file of the folder.",
		at(".netrc", 0, 0, 5):  "Nothing is selected in a file of the folder.",
		at("../x.go", 0, 0, 5): "Nothing is selected in a file of the folder.",
		`null`:                 "Nothing is selected in a file of the folder.",
	} {
		d.answer(senses.Selection, answer)
		text, failed := d.call(`{"action":"selection"}`)
		assert.False(t, failed)
		assert.Equal(t, want, text)
	}
}

func TestFailuresAreSentences(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.go": "x\n"})
	for err, want := range map[error]string{
		senses.ErrNoAnswer:                   "The editor did not answer within 10s.",
		senses.ErrUnsupported:                "can't be asked for hover",
		errors.New("boom \x1b[31m\nat here"): "The editor couldn't answer: boom",
	} {
		d.fails[senses.Hover] = err
		text, failed := d.call(`{"action":"hover","file":"a.go","line":1}`)
		assert.True(t, failed)
		assert.Contains(t, text, want)
		assert.NotContains(t, text, "\x1b")
	}
	d.fails = nil
	d.answer(senses.Hover, `{"kind":"markdown","value":"`+strings.Repeat("x", 9<<20)+`"}`)
	text, failed := d.call(`{"action":"hover","file":"a.go","line":1}`)
	assert.True(t, failed)
	assert.Contains(t, text, "larger than 8 MB")
}

// writing returns edit's result for a call that changes a.go.
func (d *desk) writing() string {
	d.t.Helper()
	t := d.senses.Diagnosing(tool.All(tool.Options{})[3])
	require.Equal(d.t, "write", t.Name)
	r, err := t.Run(d.t.Context(), d.env, json.RawMessage(`{"path":"a.go","content":"`+fmt.Sprint(len(d.asked))+`\n"}`))
	require.NoError(d.t, err)
	var texts []string
	for _, b := range r.Content[1:] {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "|")
}

func TestErrorsAfterAnEdit(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.go": "x\n"})
	item := func(line int) string {
		return fmt.Sprintf(`{"range":`+span+`,"severity":1,"message":"bad"}`, line, 0, line, 1)
	}
	d.answer(senses.Diagnostics, `{"documents":[{"uri":"@a.go@","items":[`+item(2)+`]}]}`)
	assert.Empty(t, d.writing(), "the same as before")
	assert.Contains(t, d.asked[0], `"settleMs":0`)
	require.Len(t, d.asked, 2)

	d.answer(senses.Diagnostics, `{"documents":[{"uri":"@a.go@","stale":true,"items":[`+item(2)+`]}]}`)
	assert.Empty(t, d.writing(), "neither state is known")

	d.answer(senses.Diagnostics, `{"documents":"no"}`)
	assert.Empty(t, d.writing())
	d.fails[senses.Diagnostics] = senses.ErrNoAnswer
	for range 6 {
		assert.Empty(t, d.writing())
	}
	asked := len(d.asked)
	assert.Empty(t, d.writing())
	assert.Len(t, d.asked, asked, "an editor that never answers is asked no more")
	d.actions = nil
	assert.Empty(t, d.writing())
}
