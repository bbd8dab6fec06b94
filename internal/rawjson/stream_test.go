package rawjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// windows returns b in windows whose sizes next returns. Each is overwritten when the next one is
// requested.
func windows(b []byte, size func() int) func() ([]byte, error) {
	var window []byte
	return func() ([]byte, error) {
		for i := range window {
			window[i] = '"'
		}
		n := min(size(), len(b))
		window = bytes.Clone(b[:n])
		b = b[n:]
		return window, nil
	}
}

// requireDigest holds the digest of text, read through windows, against ScanEnvelope.
func requireDigest(t *testing.T, text []byte, keep int, size func() int) {
	t.Helper()
	keep = max(keep, 64)
	want, n, st := rawjson.ScanEnvelope(text)
	s := rawjson.NewStream(windows(text, size), keep)
	d, got := s.Digest()
	require.Equal(t, st, got, "%q", text)
	require.Equal(t, int64(n), s.Offset(), "%q", text)
	require.NoError(t, s.Err())
	if st != rawjson.Complete {
		return
	}
	from := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
	if n-from <= keep {
		require.Equal(t, string(text[from:n]), string(d.Raw))
		require.Equal(t, want, d.Env, "%q", text)
		require.False(t, d.TooLong)
		return
	}
	require.True(t, json.Valid(d.Raw) || rawjson.Valid(d.Raw), "%q of %q", d.Raw, text)
	require.LessOrEqual(t, len(d.Raw), 40*keep+2)
	require.Equal(t, want.Object, d.Env.Object)
	long := false
	for _, pair := range [][2][]byte{{want.Type, d.Env.Type}, {want.ID, d.Env.ID}, {want.ParentID, d.Env.ParentID}, {want.Role, d.Env.Role}} {
		if len(pair[0]) > keep {
			require.Nil(t, pair[1])
			long = true
			continue
		}
		require.Equal(t, pair[0], pair[1], "%q", text)
	}
	require.Equal(t, long, d.TooLong, "%q", text)
	if len(want.ToolName) <= keep {
		require.Equal(t, want.ToolName, d.Env.ToolName, "%q", text)
	}
	if len(want.Usage) <= keep {
		require.Equal(t, want.Usage, d.Env.Usage, "%q", text)
	}
	if usage := rawjson.Get(want.Details, "usage"); len(want.Details) <= keep {
		require.Equal(t, want.Details, d.Env.Details, "%q", text)
	} else if len(usage) <= keep {
		require.Equal(t, usage, rawjson.Get(d.Env.Details, "usage"), "%q", text)
	}
	requireCalls(t, want.Calls, d.Env.Calls, keep)
	require.Equal(t, want.Message == nil, d.Env.Message == nil, "%q", text)
}

// requireCalls compares names of tool calls, of which there is room for a limited number.
func requireCalls(t *testing.T, want, got [][]byte, keep int) {
	t.Helper()
	total := 0
	for _, name := range want {
		total += len(name)
	}
	if total > 16*keep {
		require.LessOrEqual(t, len(got), len(want))
		return
	}
	require.Len(t, got, len(want))
	for i := range want {
		if len(want[i]) <= keep {
			require.Equal(t, want[i], got[i])
		}
	}
}

var streamed = []string{
	`{"type":"message","id":"a","parentId":"b","message":{"role":"assistant","content":[{"type":"text","text":"a\"\\\u00e9\ud83d\ude00é😀"},{"type":"toolCall","name":"read","arguments":{"type":"x"}},{"type":"tool\u0043all","name":"\n"}],"usage":{"input":1,"cost":{"total":0.25}},"stopReason":"stop"}}`,
	`{"message":{"content":"x","toolName":"task","details":{"lines":[1,2,3,{"usage":4}],"usage":{"input":2}},"role":"toolResult"},"id":"late","type":"message"}`,
	`{"message":{"role":"a"},"id":1,"id":2,"message":{"content":1,"role":"b"},"message":"none"}`,
	` { "typ\u0065" : "t" , "message" : "role" } x`, `{}`, `[{"id":"x"},[],{},"a"]`, `"text \" more`, `-12.5e+3 `, `-`, `1.`, `1e`, `01`, `tru`, `truth`,
	`{"a":1,}`, `[1}`, `{1:2}`, "{\"a\":\"b\tc\"}", `{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a" 1}`, `{"a":}`, `[1 2]`, `{"type":{"a":[1]},"id":null,"message":{}}`,
	`{"message":{"content":[ ] , "details":[{"usage":1}],"usage":3,"content":[{"type":"toolCall","type":"x","name":"n"} ,{},7,[{"type":"toolCall"}],{"type":"toolCall"}]}}`,
	"{\"\xff\":\"\xf0\x9f\",\"type\":\"\xc3\"}", strings.Repeat("[", 300) + strings.Repeat("]", 300), strings.Repeat(`{"a":[`, 100), "", " ",
}

// TestWindowsGiveWhatTheWholeLineGives cuts values into windows of every size, with every limit of the
// values that are kept.
func TestWindowsGiveWhatTheWholeLineGives(t *testing.T) {
	t.Parallel()
	for _, text := range streamed {
		for size := 1; size < 70; size++ {
			for _, keep := range []int{64, 70, 100, 200, 1000} {
				requireDigest(t, []byte(text), keep, func() int { return size })
			}
		}
		for cut := range len(text) {
			requireDigest(t, []byte(text[:cut]), 30, func() int { return 7 })
		}
	}
}

// TestRandomValuesInRandomWindows makes values and damages some of them.
func TestRandomValuesInRandomWindows(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	for range 20_000 {
		text := []byte(randomLine(random))
		if random.IntN(4) == 0 && len(text) > 0 {
			text[random.IntN(len(text))] = damage[random.IntN(len(damage))]
		}
		requireDigest(t, text, 64+random.IntN(120), func() int { return 1 + random.IntN(90) })
	}
}

const damage = "\"\\{}[],:x1\x00 \xff"

var randomNames = []string{"type", "id", "parentId", "message", "role", "usage", "toolName", "details", "content", "name", "other", `\u0069d`, "é"}

func randomLine(r *rand.Rand) string {
	if r.IntN(3) == 0 {
		return randomValue(r, 4)
	}
	var b strings.Builder
	for n := range r.IntN(6) {
		fmt.Fprintf(&b, "%s\"%s\" :%s", []string{"", ","}[min(n, 1)], randomNames[r.IntN(len(randomNames))], randomValue(r, 4))
	}
	return `{` + b.String() + `,"message":{"content":[{"type":"toolCall","name":` + randomValue(r, 1) + `}],"details":` +
		randomValue(r, 3) + `,"usage":` + randomValue(r, 2) + `,"role":` + randomValue(r, 1) + `}}`
}

func randomValue(r *rand.Rand, depth int) string {
	switch n := r.IntN(8); {
	case n == 0 && depth > 0:
		return "[" + randomValue(r, depth-1) + " , " + randomValue(r, depth-1) + "]"
	case n < 3 && depth > 0:
		return fmt.Sprintf(`{"%s":%s,"%s": %s}`, randomNames[r.IntN(len(randomNames))], randomValue(r, depth-1), randomNames[r.IntN(len(randomNames))], randomValue(r, depth-1))
	case n == 3:
		return []string{"null", "true", "false", "-0.5e10", "12", "[]", "{}", `"toolCall"`}[r.IntN(8)]
	}
	return `"` + strings.Repeat([]string{"a", `\"`, `\\`, `\u00e9`, "é", `\ud83d\ude00`, "😀"}[r.IntN(7)], r.IntN(r.IntN(100)+1)) + `"`
}

// FuzzStream reads arbitrary bytes in windows of arbitrary sizes.
func FuzzStream(f *testing.F) {
	for i, text := range streamed {
		f.Add([]byte(text), uint8(3*i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, keep, size uint8) {
		requireDigest(t, text, 1+int(keep), func() int { return 1 + int(size) })
		s := rawjson.NewStream(windows(text, func() int { return 1 + int(size) }), 1+int(keep))
		for s.Space() { // further values, as on a line with several
			if _, st := s.Digest(); st != rawjson.Complete {
				break
			}
		}
		require.LessOrEqual(t, s.Offset(), int64(len(text)))
		if _, st := rawjson.Scan(text); st == rawjson.Invalid {
			return
		}
		for cut := range min(len(text), 200) {
			requireClosed(t, text[:cut])
		}
	})
}

// requireClosed closes the beginning of a value.
func requireClosed(t *testing.T, beginning []byte) {
	t.Helper()
	if n, st := rawjson.Scan(beginning); st == rawjson.Complete && n < len(beginning) {
		return // more than a value
	}
	closed := rawjson.Closed(beginning)
	require.True(t, rawjson.Valid(closed), "%q of %q", closed, beginning)
}

func TestClosed(t *testing.T) {
	t.Parallel()
	for beginning, want := range map[string]string{
		``: `null`, `-12`: `null`, `"ab`: `"ab"`, `"ab"`: `"ab"`, `{"a":1,"b":[1,{"c":"te`: `{"a":1,"b":[1,{"c":"te"}]}`,
		`{"a":1,"b`: `{"a":1}`, `{"a":1,"b":`: `{"a":1}`, `{"a":tru`: `{}`, `[1,2`: `[1]`, `[[],{"a":{}`: `[[],{"a":{}}]`,
		`{"a":"b\`: `{"a":"b"}`, `{"a":"b\u00e`: `{"a":"b"}`, `{"a":"b\ud83d`: `{"a":"b"}`, `{"a":"b\ud83d\ude00`: `{"a":"b\ud83d\ude00"}`,
		"{\"a\":\"b\xf0\x9f\x98": `{"a":"b"}`, "{\"a\":\"b\xf0\x9f\x98\x80": `{"a":"b😀"}`, `{"a":1} `: `{"a":1}`,
	} {
		require.Equal(t, want, string(rawjson.Closed([]byte(beginning))), "%q", beginning)
	}
	for _, text := range streamed {
		if _, st := rawjson.Scan([]byte(text)); st == rawjson.Invalid {
			continue
		}
		for cut := range len(text) {
			requireClosed(t, []byte(text[:cut]))
		}
	}
}

// TestBracketsOfALongLineTakeBoundedMemory: a bit per level, up to a limit.
func TestBracketsOfALongLineTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	window := []byte(strings.Repeat("[", 1<<20))
	left := 40
	s := rawjson.NewStream(func() ([]byte, error) {
		if left--; left < 0 {
			return nil, nil
		}
		return window, nil
	}, 1<<10)
	_, st := s.Digest()
	require.Equal(t, rawjson.Invalid, st)
	require.Equal(t, int64(32<<20), s.Offset())
	require.LessOrEqual(t, rawjson.NestingBytes(s), 8<<20)
}

func TestAStreamThatCannotBeReadEnds(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	reads := 0
	s := rawjson.NewStream(func() ([]byte, error) {
		if reads++; reads > 2 {
			return nil, broken
		}
		return []byte(`{"a":"text`), nil
	}, 100)
	_, st := s.Digest()
	require.Equal(t, rawjson.Invalid, st)
	s = rawjson.NewStream(func() ([]byte, error) { return nil, broken }, 100)
	_, st = s.Digest()
	require.Equal(t, rawjson.Incomplete, st)
	require.ErrorIs(t, s.Err(), broken)
}
