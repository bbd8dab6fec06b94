package senses_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/senses"
)

// Whatever an editor answers, a call ends with a readable text of a limited length, and without an approved edit no file
// changes.
func FuzzAnswers(f *testing.F) {
	const position = `{"line":0,"character":0}`
	for _, seed := range []string{
		`null`, `[]`, `{}`, `"x"`, `7`, `[null]`, `{"documents":[{"uri":"file:///etc/passwd","items":[{"message":1}]}]}`,
		`{"documents":[{"uri":"@","items":[{"range":{"start":` + position + `,"end":` + position + `},"message":"\u001b[2J\u202e"}]}]}`,
		`[{"uri":"@","range":{"start":{"line":-1,"character":1e9},"end":{"line":99999999999999999999,"character":0}}}]`,
		`[{"name":"a","kind":-1,"range":{"start":` + position + `,"end":` + position + `},"children":[{"children":[[[[]]]]}]}]`,
		`{"changes":{"@":[{"range":{"start":` + position + `,"end":{"line":9,"character":9}},"newText":"x"}]}}`,
		`{"documentChanges":[{"textDocument":{"uri":"@","version":1e99},"edits":[{}]}]}`,
		`{"contents":["a",{"language":"go","value":"b"}]}`, `[{"title":"a","edit":{"changes":{"@":[]}}}]`,
		`[{"targetUri":"http://x","targetRange":{}}]`, strings.Repeat("[", 2000), "\xff\xfe",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		d := newDesk(t, map[string]string{"a.go": "one ä\ntwo\n", ".netrc": "SECRET\n"})
		answer = strings.ReplaceAll(answer, "@", "file://"+d.path("a.go"))
		for _, request := range senses.Requests {
			d.answers[request] = answer
		}
		r, _ := d.senses.Tool(false)
		for _, args := range []string{
			`{"action":"diagnostics"}`, `{"action":"diagnostics","file":"a.go"}`, `{"action":"definition","file":"a.go","line":1}`,
			`{"action":"hover","file":"a.go","line":1}`, `{"action":"symbols","file":"a.go"}`, `{"action":"symbols","query":"a"}`,
			`{"action":"rename","file":"a.go","line":1,"new_name":"b","apply":false}`, `{"action":"code_actions","file":"a.go","line":1}`,
			`{"action":"editors"}`, `{"action":"selection"}`,
		} {
			result, err := r.Run(t.Context(), d.env, []byte(args))
			require.NoError(t, err)
			text := result.Content[0].Text
			require.True(t, utf8.ValidString(text), "%q", text)
			require.Less(t, len(text), 200_000)
			require.NotContains(t, text, "SECRET")
			require.False(t, strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }), "%q", text)
		}
		_, _ = r.Preview(t.Context(), d.env, []byte(`{"action":"rename","file":"a.go","line":1,"new_name":"b"}`))
		require.Equal(t, "one ä\ntwo\n", d.read("a.go"))
		left, err := os.ReadDir(filepath.Dir(d.path("a.go")))
		require.NoError(t, err)
		require.Len(t, left, 2)
	})
}
