package rawjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

func TestScan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in string
		n  int
		st rawjson.Status
	}{
		{`{"a":[1,{"b":null}]} x`, 20, rawjson.Complete},
		{" \n[] ", 4, rawjson.Complete},
		{`12`, 2, rawjson.Complete},
		{`-0.5e+7,`, 7, rawjson.Complete},
		{`"\ud800"`, 8, rawjson.Complete},
		{`tru`, 3, rawjson.Incomplete},
		{`{"a":`, 5, rawjson.Incomplete},
		{`{"a"`, 4, rawjson.Incomplete},
		{`"\u12`, 5, rawjson.Incomplete},
		{`"abc\`, 5, rawjson.Incomplete},
		{``, 0, rawjson.Incomplete},
		{`-`, 1, rawjson.Incomplete},
		{`1.`, 2, rawjson.Incomplete},
		{`{"a":1,}`, 7, rawjson.Invalid},
		{`[1,]`, 3, rawjson.Invalid},
		{`[1}`, 2, rawjson.Invalid},
		{`{1:2}`, 1, rawjson.Invalid},
		{`01`, 1, rawjson.Invalid},
		{"\"a\tb\"", 2, rawjson.Invalid},
		{`"\x"`, 1 + 1, rawjson.Invalid},
		{`NaN`, 0, rawjson.Invalid},
	} {
		n, st := rawjson.Scan([]byte(c.in))
		assert.Equal(t, c.st, st, "%q", c.in)
		assert.Equal(t, c.n, n, "%q", c.in)
	}
}

func TestScanDeepNestingDoesNotRecurse(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 2_000_000) + strings.Repeat("]", 2_000_000)
	n, st := rawjson.Scan([]byte(deep))
	require.Equal(t, rawjson.Complete, st)
	require.Equal(t, len(deep), n)
}

func TestGet(t *testing.T) {
	t.Parallel()
	v := []byte(` { "a" : 1 , "b":{"c":["x" , {"d":"e"}]}, "a": 2, "\u006b":"esc", "s":"q\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud800z" }`)
	assert.Equal(t, "2", string(rawjson.Get(v, "a")), "the last duplicate wins")
	assert.JSONEq(t, `["x",{"d":"e"}]`, string(rawjson.Get(v, "b", "c")))
	assert.Nil(t, rawjson.Get(v, "b", "zzz"))
	assert.Nil(t, rawjson.Get([]byte(`[1]`), "a"))
	k, ok := rawjson.GetString(v, "k")
	assert.True(t, ok)
	assert.Equal(t, "esc", k)
	s, _ := rawjson.GetString(v, "s")
	assert.Equal(t, "q\"\\/\b\f\n\r\té😀\uFFFDz", s)
	_, ok = rawjson.GetString(v, "a")
	assert.False(t, ok)
}

func TestPick(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][3]string{
		`{"id":1,"m":{"a":[{"b":1}],"b":"\\\""},"x":{"m":{"a":9}}}`: {`{"a":[{"b":1}],"b":"\\\""}`, `[{"b":1}]`, `"\\\""`},
		`{"m":{"a":1,"b":2},"m":{"a":3,"\u0061":4}} `:               {`{"a":3,"\u0061":4}`, `4`, ``},
		`{"m":{"a":1},"m":null}`:                                    {},
		`{"m":[1]}`:                                                 {},
		` { "m" : { "b" : 1 , "a" : 2 } , "z" : 0 }`:                {`{ "b" : 1 , "a" : 2 }`, `2`, `1`},
		`{"m":{}}`: {`{}`},
		`[]`:       {},
		``:         {},
	} {
		names, values := []string{"a", "b"}, [][]byte{[]byte("old"), nil}
		object := rawjson.Pick([]byte(line), "m", names, values)
		assert.Equal(t, want, [3]string{string(object), string(values[0]), string(values[1])}, line)
		rawjson.GetEach(object, names, values)
		assert.Equal(t, want, [3]string{string(object), string(values[0]), string(values[1])}, line)
	}
}

func TestStringPrefix(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`""`, `"short"`, `"` + strings.Repeat(`\ud83d\ude00`, 20) + `"`, `"x` + strings.Repeat(`\ud83d\ude00`, 20) + `"`,
		`"` + strings.Repeat("😀é", 20) + `"`, `"` + strings.Repeat(`\"\\`, 40) + `"`, `"` + strings.Repeat(`\u00e9\n`, 20) + `"`,
		`"ab"` + strings.Repeat(" ", 90), `"` + strings.Repeat("a", 23) + `"` + strings.Repeat(" ", 90), `12`,
	} {
		whole, isString := rawjson.String([]byte(text))
		for n := range 30 {
			got, ok := rawjson.StringPrefix([]byte(text), n)
			assert.Equal(t, isString, ok, text)
			assert.Equal(t, rawjson.UTF16Prefix(whole, n), got, "%s, %d", text, n)
		}
	}
}

func TestEdits(t *testing.T) {
	t.Parallel()
	obj := []byte(`{"b":1.0,"a":12345678901234567890,"z":"\ud800"}`)
	assert.Equal(t, `{"b":1.0,"a":"x","z":"\ud800"}`, string(rawjson.SetString(obj, "a", "x")))
	assert.Equal(t, `{"b":1.0,"a":12345678901234567890,"z":"\ud800","n":null}`, string(rawjson.Set(obj, "n", []byte("null"))))
	assert.Equal(t, `{"n":1}`, string(rawjson.Set([]byte(`{}`), "n", []byte("1"))))
	assert.Equal(t, `{"a":12345678901234567890,"z":"\ud800"}`, string(rawjson.Delete(obj, "b")))
	assert.Equal(t, `{"b":1.0,"a":12345678901234567890}`, string(rawjson.Delete(obj, "z")))
	assert.Equal(t, `{}`, string(rawjson.Delete([]byte(`{"x":1,"x":2}`), "x")))
	assert.Equal(t, `{"a":"q\"\\\b\f\n\r\t\u0001<>&é","b":2}`,
		string(new(rawjson.Object).String("a", "q\"\\\b\f\n\r\t\x01<>&é").Raw("none", nil).Raw("b", []byte("2")).Bytes()))
}

func TestUTF16(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 4, rawjson.UTF16Len("aé😀"))
	assert.Equal(t, "aé", rawjson.UTF16Prefix("aé😀", 3))
	assert.Equal(t, "aé😀", rawjson.UTF16Prefix("aé😀", 4))
}

func TestScanEnvelope(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][4]string{
		`{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":[{"role":"x"}]}} x`: {`"message"`, `"a"`, `null`, `"user"`},
		`{"message":{"role":"a"},"id":1,"id":2,"message":{"content":1}}`:                                   {"", "2", "", ""},
		` { "typ\u0065" : "t" , "message" : "role" } `:                                                     {`"t"`, "", "", ""},
		`{}`:           {},
		`[{"id":"x"}]`: {},
	} {
		env, n, st := rawjson.ScanEnvelope([]byte(line))
		assert.Equal(t, rawjson.Complete, st, line)
		m, _ := rawjson.Scan([]byte(line))
		assert.Equal(t, m, n, line)
		assert.Equal(t, want, [4]string{string(env.Type), string(env.ID), string(env.ParentID), string(env.Role)}, line)
		assert.Equal(t, line[0] != '[', env.Object)
	}
}

// callsIn returns the names of the tool calls in a content.
func callsIn(content []byte) (names [][]byte) {
	rawjson.Elements(content, func(block []byte) bool {
		if typ, _ := rawjson.GetString(block, "type"); typ == "toolCall" {
			names = append(names, rawjson.Get(block, "name"))
		}
		return true
	})
	return names
}

// FuzzScan holds the scanner against encoding/json, which takes the same grammar
// (up to its nesting limit).
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"\u00e9\\"],"b":null}`, `[`, `"\ud800"`, "{\"a\":1\n2}", `-0`, `tru`, "\x00", "\"\xff\""} {
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"type":"message","id":"a","parentId":"b","message":{"content":"x","role":"user"}}`))
	f.Add([]byte(`{"message":{"content":[{"type":"toolCall","name":"a"},1,[],{"name":2,"type":"tool\u0043all"},{"type":"toolCall"}],"usage":{"input":1}}}`))
	f.Add([]byte(`{"message":{"content":[ ] , "toolName":"task","details":{"usage":{}},"content":[{"type":"toolCall","type":"x","name":"n"} ,{}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, st := rawjson.Scan(b)
		require.LessOrEqual(t, n, len(b))
		env, m, envSt := rawjson.ScanEnvelope(b)
		require.Equal(t, st, envSt)
		require.Equal(t, n, m)
		if st == rawjson.Complete {
			require.Equal(t, string(rawjson.Get(b[:n], "type")), string(env.Type))
			require.Equal(t, string(rawjson.Get(b[:n], "parentId")), string(env.ParentID))
			require.Equal(t, string(rawjson.Get(b[:n], "message", "role")), string(env.Role))
			require.Equal(t, string(rawjson.Get(b[:n], "message")), string(env.Message))
			require.Equal(t, string(rawjson.Get(b[:n], "message", "usage")), string(env.Usage))
			require.Equal(t, string(rawjson.Get(b[:n], "message", "toolName")), string(env.ToolName))
			require.Equal(t, string(rawjson.Get(b[:n], "message", "details")), string(env.Details))
			require.Equal(t, callsIn(rawjson.Get(b[:n], "message", "content")), env.Calls)
			role := make([][]byte, 1)
			if m := rawjson.Pick(b[:n], "message", []string{"role"}, role); rawjson.Kind(env.Message) == '{' {
				require.Equal(t, string(env.Message), string(m))
			} else {
				require.Nil(t, m)
			}
			require.Equal(t, string(env.Role), string(role[0]))
		}
		if strings.Count(string(b), "[")+strings.Count(string(b), "{") > 9_000 {
			return
		}
		require.Equal(t, json.Valid(b), rawjson.Valid(b))
		if st != rawjson.Complete {
			return
		}
		require.True(t, json.Valid(b[:n]))
		var members map[string]json.RawMessage
		if json.Unmarshal(b[:n], &members) == nil {
			for k, want := range members {
				if strings.ContainsRune(k, '\uFFFD') {
					continue
				}
				require.Equal(t, strings.TrimSpace(string(want)), string(rawjson.Get(b[:n], k)))
				require.Nil(t, rawjson.Get(rawjson.Delete(b[:n], k), k))
				require.Equal(t, "7", string(rawjson.Get(rawjson.Set(b[:n], k, []byte("7")), k)))
			}
		}
		var s string
		if json.Unmarshal(b[:n], &s) == nil && rawjson.Kind(b) == '"' {
			got, ok := rawjson.String(b[:n])
			require.True(t, ok)
			require.Equal(t, s, got)
			require.True(t, json.Valid(rawjson.Quote(got)))
		}
	})
}

func BenchmarkScan(b *testing.B) {
	line := []byte(`{"type":"message","id":"0a1b2c3d","parentId":"9f8e7d6c","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"toolResult","content":[{"type":"text","text":"` +
		strings.Repeat("some ordinary text of a tool result\\n", 60) + `"}]}}`)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		rawjson.Scan(line)
	}
}

// StringIn decodes as String does, into its buffer or where the string is.
func TestStringIn(t *testing.T) { //nolint:paralleltest // it counts allocations
	var buf []byte
	for _, v := range []string{
		`"a"`, `""`, `"`, ``, `x`, `12`, `"ab`, `"a\nb\tc\"\\\/"`, `"é\u00e9\ud83d\ude00 \ud83d x"`, "\"\xff\\n\"", "\"a\xe2\x82\"", `"\u12`, `"a\`, `"\"`, `"\q\u000"`,
		`"` + strings.Repeat(`long \\ `, 1000) + `"`, "\"\xc3\\u0041\"",
	} {
		want, wantOK := rawjson.String([]byte(v))
		got, ok := rawjson.StringIn([]byte(v), &buf)
		require.Equal(t, wantOK, ok, "%q", v)
		require.Equal(t, want, got, "%q", v)
	}
	raw := []byte(`"plain text"`)
	require.Zero(t, testing.AllocsPerRun(10, func() { rawjson.StringIn(raw, &buf) }))
}
