package commands_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// filled is a session in which every field has a value or, by chance, none.
func filled(r *rand.Rand, chance int) (i library.Info) {
	texts := []string{
		"plain", `"quoted" \\ back`, "lines\nand\ttabs\r\b\f", "\x00\x1f\x7f", "<a> & <b>", "über 日本 😀", "\u2028\u2029", "not \xff UTF-8 \xf0\x9f",
		strings.Repeat("long ", 500),
	}
	v := reflect.ValueOf(&i).Elem()
	for _, f := range v.Fields() {
		if r.IntN(100) >= chance {
			continue
		}
		switch f.Kind() {
		case reflect.String:
			f.SetString(texts[r.IntN(len(texts))])
		case reflect.Int, reflect.Int64:
			f.SetInt(r.Int64N(1<<52) - 1<<51)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Pointer:
			if f.Type() == reflect.TypeFor[*library.Team]() {
				i.Team = filledTeam(r, texts, chance)
				continue
			}
			i.Snippet = &library.Snippet{Text: texts[r.IntN(len(texts))], Ranges: [][2]int{{0, 3}, {5, r.IntN(50)}}[:r.IntN(3)]}
		}
	}
	return i
}

// filledTeam is what the store knows of a session.
func filledTeam(r *rand.Rand, texts []string, chance int) *library.Team {
	t := &library.Team{}
	for _, f := range reflect.ValueOf(t).Elem().Fields() {
		if r.IntN(100) >= chance {
			continue
		}
		switch f.Kind() {
		case reflect.String:
			f.SetString(texts[r.IntN(len(texts))])
		case reflect.Int, reflect.Int64:
			f.SetInt(r.Int64N(1<<52) - 1<<51)
		case reflect.Bool:
			f.SetBool(true)
		}
	}
	return t
}

// TestAListEncodesAsByReflection: every field, also one that is added some day, is in the answer as encoding/json has it.
func TestAListEncodesAsByReflection(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	type plain commands.ListResult // without the method
	r := rand.New(rand.NewPCG(3, 1))
	for n, count := range []int{0, 1, 2, 255, 256, 257, 700} {
		for _, chance := range []int{0, 50, 100} {
			list := commands.ListResult{Sessions: []library.Info{}, Problems: []session.Problem{}}
			for range count {
				list.Sessions = append(list.Sessions, filled(r, chance))
			}
			if n%2 == 1 {
				list.NextCursor = fmt.Sprint(count)
				list.Problems = append(list.Problems, session.Problem{Kind: session.NoHeader, Message: "<a> \xff is damaged.", Lost: true})
			}
			got, err := list.AppendJSON(nil)
			require.NoError(t, err)
			require.True(t, utf8.Valid(got))
			want, err := json.Marshal(plain(list))
			require.NoError(t, err)
			require.Equal(t, decoded(t, want), decoded(t, got))
			require.Equal(t, keys(t, want), keys(t, got), "in the same order")
		}
	}
	got, err := commands.ListResult{}.AppendJSON(nil)
	require.NoError(t, err)
	want, err := json.Marshal(plain{})
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func decoded(t *testing.T, raw []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	require.False(t, d.More())
	return v
}

// keys returns the tokens of a text without the values of strings and numbers, so that the order of members counts.
func keys(t *testing.T, raw []byte) (tokens []string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := d.Token()
		if err != nil {
			return tokens
		}
		tokens = append(tokens, fmt.Sprint(token))
	}
}
