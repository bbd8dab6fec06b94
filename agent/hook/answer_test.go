package hook_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
)

func TestParseAnswer(t *testing.T) {
	t.Parallel()
	tokens := 42
	a, err := hook.ParseAnswer(hook.BeforeCompact, []byte(`{
		"cancel": false, "later": [1],
		"entries": [
			{"type": "custom", "customType": "my-hook", "data": {"n": 1.0}},
			{"type": "custom", "customType": "my-hook"},
			{"type": "custom_message", "customType": "my-hook", "content": "Remember.", "display": true, "details": {"a": [null]}},
			{"type": "custom_message", "customType": "my hook/2", "content": [{"type": "text", "text": "x"}, {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}], "details": null}
		],
		"compaction": {"summary": "So far.", "firstKeptEntryId": "aaaaaaaa", "tokensBefore": 42, "details": {"by": "me"}}
	}`))
	require.NoError(t, err)
	require.Equal(t, hook.Answer{
		Entries: []hook.Entry{
			{Type: hook.Custom, CustomType: "my-hook", Data: json.RawMessage(`{"n": 1.0}`)},
			{Type: hook.Custom, CustomType: "my-hook"},
			{Type: hook.CustomMessage, CustomType: "my-hook", Content: json.RawMessage(`"Remember."`), Display: true, Details: json.RawMessage(`{"a": [null]}`)},
			{Type: hook.CustomMessage, CustomType: "my hook/2", Content: json.RawMessage(`[{"type": "text", "text": "x"}, {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}]`)},
		},
		Compaction: &hook.Compaction{Summary: "So far.", FirstKeptEntryID: "aaaaaaaa", TokensBefore: &tokens, Details: json.RawMessage(`{"by": "me"}`)},
	}, a)

	a, err = hook.ParseAnswer(hook.BeforeTree, []byte(`{"compaction": {"summary": 1}}`))
	require.NoError(t, err)
	require.Nil(t, a.Compaction, "only a compaction has one")
}

// An answer with an invalid part has none of its entries, but still cancels.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	message := func(content string) string {
		return `{"type":"custom_message","customType":"x","content":` + content + `}`
	}
	for name, tc := range map[string]struct{ entry, want string }{
		"an answer of the model":   {`{"type":"message","customType":"x"}`, `its type is "message"`},
		"a compaction as an entry": {`{"type":"compaction","customType":"x"}`, `its type is "compaction"`},
		"a change of the mode":     {`{"type":"mode_change","customType":"x"}`, `its type is "mode_change"`},
		"a header":                 {`{"type":"session","customType":"x"}`, `its type is "session"`},
		"no type":                  {`{"customType":"x"}`, `its type is ""`},
		"an id":                    {`{"type":"custom","customType":"x","id":"aaaaaaaa"}`, `unknown field "id"`},
		"a parent":                 {`{"type":"custom","customType":"x","parentId":null}`, `unknown field "parentId"`},
		"a time":                   {`{"type":"custom","customType":"x","timestamp":"2026-01-01T00:00:00.000Z"}`, `unknown field "timestamp"`},
		"the user as its author":   {`{"type":"custom_message","customType":"x","content":"a","attribution":"user"}`, `unknown field "attribution"`},
		"a role":                   {`{"type":"custom_message","customType":"x","content":"a","role":"user"}`, `unknown field "role"`},
		"our own entries":          {`{"type":"custom","customType":"xcsh-ls.description","data":{"text":"x"}}`, `is reserved`},
		"our own, in capitals":     {`{"type":"custom","customType":"XCSH-LS.toolStart"}`, `is reserved`},
		"pi's router":              {`{"type":"custom","customType":"pi.virtual-model-state","data":{}}`, `is reserved`},
		"a tool call of oh-my-pi":  {`{"type":"custom","customType":"tool_execution_start","data":{}}`, `is reserved`},
		"the end of a session":     {`{"type":"custom","customType":"session_exit"}`, `is reserved`},
		"no custom type":           {`{"type":"custom"}`, `customType is missing`},
		"control characters":       {`{"type":"custom","customType":"a\u001b[2Jb"}`, `cannot be shown`},
		"a line end":               {`{"type":"custom","customType":"a\nb"}`, `cannot be shown`},
		"right to left":            {`{"type":"custom","customType":"a\u202eb"}`, `cannot be shown`},
		"a lone surrogate":         {`{"type":"custom","customType":"a\ud800b"}`, `cannot be shown`},
		"a long custom type":       {`{"type":"custom","customType":"` + strings.Repeat("x", 101) + `"}`, `longer than 100 characters`},
		"state with content":       {`{"type":"custom","customType":"x","content":"to the model"}`, `has only data`},
		"a message with data":      {`{"type":"custom_message","customType":"x","content":"a","data":1}`, `has no data`},
		"no content":               {`{"type":"custom_message","customType":"x"}`, `content is missing`},
		"null":                     {message(`null`), `content is missing`},
		"an empty text":            {message(`" "`), `content is empty`},
		"an empty list":            {message(`[]`), `content is empty`},
		"an object":                {message(`{"type":"text","text":"a"}`), `content must be a string or a list`},
		"a tool call":              {message(`[{"type":"toolCall","id":"1","name":"bash","arguments":{}}]`), `unknown field "id"`},
		"a thought":                {message(`[{"type":"thinking","thinking":"x"}]`), `unknown field "thinking"`},
		"a text without text":      {message(`[{"type":"text"}]`), `it must be`},
		"an image without data":    {message(`[{"type":"image","mimeType":"image/png"}]`), `it must be`},
		"an image of another kind": {message(`[{"type":"image","data":"eA==","mimeType":"image/svg+xml"}]`), `its mimeType`},
		"an image from elsewhere":  {message(`[{"type":"image","data":"blob:sha256:00","mimeType":"image/png"}]`), `is not base64`},
		"invalid UTF-8":            {"{\"type\":\"custom\",\"customType\":\"x\",\"data\":\"\xff\"}", `not valid UTF-8`},
		"a list":                   {`[]`, `cannot unmarshal`},
		"null as an entry":         {`null`, `customType is missing`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good := `{"type":"custom","customType":"x"}`
			a, err := hook.ParseAnswer(hook.BeforeFork, []byte(`{"cancel":true,"reason":"r","entries":[`+good+`,`+tc.entry+`]}`))
			require.ErrorContains(t, err, "returned an invalid entry, so that none was added: entries[1]: ")
			require.ErrorContains(t, err, tc.want)
			require.Equal(t, hook.Answer{Cancel: true, Reason: "r"}, a)
			require.Less(t, len(err.Error()), 1000)
		})
	}
}

func TestLimitsOfAnswers(t *testing.T) {
	t.Parallel()
	entries := func(n int) []byte {
		return []byte(`{"cancel":true,"entries":[` + strings.TrimSuffix(strings.Repeat(`{"type":"custom","customType":"x"},`, n), ",") + `]}`)
	}
	a, err := hook.ParseAnswer(hook.Switch, entries(32))
	require.NoError(t, err)
	require.Len(t, a.Entries, 32)
	a, err = hook.ParseAnswer(hook.Switch, entries(33))
	require.EqualError(t, err, "returned 33 entries, of which none was added; the limit is 32")
	require.Equal(t, hook.Answer{Cancel: true}, a)

	nested := func(n int) []byte {
		return []byte(`{"cancel":true,"entries":[{"type":"custom","customType":"x","data":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}]}`)
	}
	_, err = hook.ParseAnswer(hook.Switch, nested(61))
	require.NoError(t, err)
	for _, n := range []int{62, 5000} {
		a, err = hook.ParseAnswer(hook.Switch, nested(n))
		require.EqualError(t, err, "returned more than 64 values within each other")
		require.Equal(t, hook.Answer{Cancel: true}, a)
	}
	_, err = hook.ParseAnswer(hook.Switch, make([]byte, hook.MaxAnswer+1))
	require.EqualError(t, err, "returned more than 1048576 bytes")
	for _, odd := range []string{``, `[]`, `{`, `{"entries":{}}`, `{"cancel":"yes"}`, strings.Repeat("[", 20000)} {
		_, err = hook.ParseAnswer(hook.Switch, []byte(odd))
		require.Error(t, err, odd)
	}
}

func TestHostileCompactions(t *testing.T) {
	t.Parallel()
	for _, tc := range [][2]string{
		{`{}`, "summary is missing"},
		{`{"summary":" \n"}`, "summary is missing"},
		{`{"summary":1}`, "cannot unmarshal"},
		{`{"summary":"x","tokensBefore":-1}`, "tokensBefore is not a number of tokens"},
		{`{"summary":"x","tokensBefore":1.5}`, "cannot unmarshal"},
		{`{"summary":"x","tokensBefore":1e300}`, "cannot unmarshal"},
		{`{"summary":"x","tokensBefore":9007199254740993}`, "tokensBefore is not a number of tokens"},
		{`{"summary":"x","firstKeptEntryId":7}`, "cannot unmarshal"},
		{`{"summary":"x","preserveData":{"openaiRemoteCompaction":{"provider":"p","replacementHistory":[]}}}`, `unknown field "preserveData"`},
		{`{"summary":"x","fromExtension":false}`, `unknown field "fromExtension"`},
		{`{"summary":"x","id":"a"}`, `unknown field "id"`},
		{`[]`, "cannot unmarshal"},
		{"{\"summary\":\"\xff\"}", "not valid UTF-8"},
	} {
		compaction, want := tc[0], tc[1]
		a, err := hook.ParseAnswer(hook.BeforeCompact, []byte(`{"entries":[{"type":"custom","customType":"x"}],"compaction":`+compaction+`}`))
		require.ErrorContains(t, err, "returned an invalid compaction, which was not used: ", compaction)
		require.ErrorContains(t, err, want)
		require.Nil(t, a.Compaction)
		require.Len(t, a.Entries, 1, "the rest counts")
	}
}

// FuzzParseAnswer: what passes can be written to a session.
func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(`{"entries":[{"type":"custom","customType":"x","data":{"a":1}},{"type":"custom_message","customType":"x","content":[{"type":"text","text":"x"}]}],"compaction":{"summary":"s"}}`))
	f.Add([]byte(`{"cancel":true,"reason":"x"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := hook.ParseAnswer(hook.BeforeCompact, raw)
		if err == nil && a.Compaction != nil {
			assert.NotEmpty(t, a.Compaction.Summary)
		}
		for _, e := range a.Entries {
			assert.Contains(t, []string{hook.Custom, hook.CustomMessage}, e.Type)
			assert.NotEmpty(t, e.CustomType)
			assert.NotContains(t, e.CustomType, "\n")
			for _, raw := range []json.RawMessage{e.Data, e.Content, e.Details} {
				assert.True(t, raw == nil || json.Valid(raw) && utf8.Valid(raw), "%q", raw)
			}
			assert.Equal(t, e.Type == hook.CustomMessage, e.Content != nil)
		}
	})
}
