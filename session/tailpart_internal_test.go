package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
)

// partOf reads a part of a context from the end, by small steps.
func partOf(t *testing.T, fs afero.Fs, path string, block, reach int64, long int) (Tail, bool) {
	t.Helper()
	limits := fileLimits
	limits.long = long
	tail, ok, err := loadTail(fs, path, nil, nil, tailOptions{limits: limits, block: block, part: true, reach: reach})
	require.NoError(t, err)
	return tail, ok
}

// requireKnown requires that all that tail says it knows is what the whole file gives.
func requireKnown(t *testing.T, tail Tail, d *Document, note string) {
	t.Helper()
	want, _, err := BuildContext(d, AtLast(), nil)
	require.NoError(t, err, note)
	require.Equal(t, d.Dialect(), tail.Part.Dialect(), note)
	require.Equal(t, d.Header(), tail.Header, note)
	require.Equal(t, d.LeafID(AtLast()), tail.LeafID, note)
	if !slices.Contains(tail.Pending, "title") {
		require.Equal(t, d.Title(), tail.Part.Title(), note)
	}
	got := tail.Context
	n := len(want.Messages) - len(got.Messages)
	require.GreaterOrEqual(t, n, 0, note)
	require.Equal(t, texts(want.Messages[n:]), texts(got.Messages), note)
	require.Equal(t, want.EntryIDs[n:], got.EntryIDs, note)
	if !slices.Contains(tail.Pending, "messages") {
		require.Zero(t, n, note)
	}
	for role, model := range got.Models {
		require.Equal(t, want.Models[role], model, note)
	}
	if !slices.Contains(tail.Pending, "models") {
		require.Equal(t, want.Models, got.Models, note)
	}
	wantState, gotState := reflect.ValueOf(want), reflect.ValueOf(got)
	for i := range wantState.NumField() {
		f := wantState.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-", name == "messages", name == "models", slices.Contains(tail.Pending, name):
			continue
		}
		require.Equal(t, wantState.Field(i).Interface(), gotState.Field(i).Interface(), "%s: %s", note, name)
	}
}

func texts(messages []json.RawMessage) []string {
	list := make([]string, len(messages))
	for i, m := range messages {
		list[i] = string(m)
	}
	return list
}

// Whatever part of a session is read from its end, all that is said to be known is what reading the whole file gives.
// Proves: F-18
func TestAPartOfAContextIsThatOfTheWholeFile(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	known, parts, all := map[string]int{}, 0, 0
	for seed := range uint64(900) {
		r := rand.New(rand.NewPCG(seed, 42))
		m := &lineMaker{r: r, d: Dialect(seed % 3)}
		if seed%7 == 0 {
			m.twice = true
		}
		var content bytes.Buffer
		content.WriteString(m.head())
		if m.d == Pi { // the mark by which the dialect is recognized
			content.WriteString(`{"type":"model_change","id":"0000aaaa","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","provider":"p","modelId":"m"}` + "\n")
			m.random().IDs = append(m.random().IDs, "0000aaaa")
		}
		clean := r.IntN(3) > 0
		for range 5 + r.IntN(90) {
			line := m.line()
			if clean && !strings.HasPrefix(line, `{"type":`) {
				m.random().IDs = m.random().IDs[:len(m.random().IDs)-1]
				continue
			}
			content.WriteString(line + "\n")
		}
		if r.IntN(6) == 0 {
			line := m.line()
			content.WriteString(line[:min(r.IntN(9), len(line))])
		}
		fs := afero.NewMemMapFs()
		require.NoError(t, afero.WriteFile(fs, "/s.jsonl", content.Bytes(), 0o600))
		d, err := load(fs, "/s.jsonl", nil)
		require.NoError(t, err)
		for range 4 {
			block, reach, long := int64(1+r.IntN(600)), int64(r.IntN(2*content.Len())), 100+r.IntN(2000)
			tail, ok := partOf(t, fs, "/s.jsonl", block, reach, long)
			if !ok || d.tree.twice && d.Dialect() == Pi {
				continue // an edit before the part may name an id that is used twice
			}
			parts++
			if !slices.Contains(tail.Pending, "messages") {
				all++
			}
			requireKnown(t, tail, d, fmt.Sprintf("seed %d, block %d, reach %d, long %d", seed, block, reach, long))
			known[d.Dialect().String()]++
		}
	}
	t.Log(parts, "parts,", all, "with all messages, by dialect", known)
	require.Greater(t, parts, 1000)
	require.Greater(t, all, 100)
	require.Greater(t, parts-all, 300)
	for _, n := range known {
		require.Greater(t, n, 250)
	}
}
