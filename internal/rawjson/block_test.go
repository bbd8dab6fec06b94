package rawjson_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// TestStringsAcrossBlocks moves the special characters of strings over every position of the blocks
// by which strings are read.
func TestStringsAcrossBlocks(t *testing.T) {
	t.Parallel()
	pieces := []string{
		``, `\\`, `\"`, `\\\"`, `\\\\`, `\n\t\r\b\f\/`, `\u00e9`, `\ud83d\ude00`, `\u0`, `\u00g0`, `\x`, `\`, "\t", "\x1f", "\x7f",
		"é", "\xff\xdc\xa2", `"`, `","`, `","k\"":"`, `\\","x`, strings.Repeat(`\`, 131), strings.Repeat(`\`, 132), strings.Repeat(`\"`, 70),
	}
	for before := range 140 {
		for _, piece := range pieces {
			for _, after := range []string{"", `\n`, strings.Repeat("z", 60), strings.Repeat(`\\`, 40)} {
				text := []byte(`{"k":"` + strings.Repeat("a", before) + piece + after + `"}`)
				requireScanned(t, text)
			}
		}
	}
}

// requireScanned holds Scan against encoding/json, over the text and over all of its
// beginnings.
func requireScanned(t *testing.T, text []byte) {
	t.Helper()
	n, st := rawjson.Scan(text)
	require.Equal(t, json.Valid(text), st == rawjson.Complete && n == len(text), "%q", text)
	_, m, envSt := rawjson.ScanEnvelope(text)
	require.Equal(t, n, m, "%q", text)
	require.Equal(t, st, envSt, "%q", text)
	if st == rawjson.Invalid {
		before, incomplete := rawjson.Scan(text[:n])
		require.Equal(t, rawjson.Incomplete, incomplete, "%q is to blame at %d", text, n)
		require.Equal(t, n, before)
		_, still := rawjson.Scan(text[:n+1])
		if text[n] != '\\' { // the byte after it makes it invalid
			require.Equal(t, rawjson.Invalid, still, "%q is to blame at %d", text, n)
		}
	}
}

// TestDeepNestingOfBothBrackets: which bracket is open is known at every depth.
func TestDeepNestingOfBothBrackets(t *testing.T) {
	t.Parallel()
	for depth := range 300 {
		open, shut := nested(depth)
		requireScanned(t, []byte(open+"1"+shut))
		if depth > 0 {
			wrong := []byte(open + "1" + shut)
			wrong[len(wrong)-1] ^= ']' ^ '}'
			requireScanned(t, wrong)
		}
	}
}

func nested(depth int) (open, shut string) {
	for i := range depth {
		if i%3 == 0 {
			open, shut = open+"[", "]"+shut
		} else {
			open, shut = open+`{"k":`, "}"+shut
		}
	}
	return open, shut
}

// TestClassify holds both ways of classifying a block against a look at each byte.
func TestClassify(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	special := []byte("\"\\nrt\x00\x1f\x20\x21\x23\x7f\x80\xa2\xdc\xff")
	for round := range 5000 {
		var text [64]byte
		for i := range text {
			if text[i] = byte(random.IntN(256)); round%2 == 0 {
				text[i] = special[random.IntN(len(special))]
			}
			if round%4 == 1 {
				text[i] |= ' '
			}
		}
		var want [3]uint64
		control := false
		for i, c := range text {
			for n, chars := range []string{`"`, `\`, "nrt"} {
				if strings.IndexByte(chars, c) >= 0 {
					want[n] |= 1 << i
				}
			}
			control = control || c < ' '
		}
		fast, words, controls := rawjson.Classify(&text)
		require.Equal(t, want, fast, "%q", text)
		require.Equal(t, want, words, "%q", text)
		require.Equal(t, [2]bool{control, control}, controls, "%q", text)
	}
}

func BenchmarkScanEnvelope(b *testing.B) {
	line := []byte(`{"type":"message","id":"0a1b2c3d","parentId":"9f8e7d6c","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"toolResult","content":[{"type":"text","text":"` +
		strings.Repeat(`if found := tree[\"key\"]; !found {\n\t\treturn nil\n\t}\n`, 40) + `"}]}}`)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		rawjson.ScanEnvelope(line)
	}
}
