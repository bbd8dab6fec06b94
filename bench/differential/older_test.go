//go:build peers

package differential

import (
	"bytes"
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// older makes the lines of a session of version 1 or 2.
func (w *world) older() []byte {
	version := 1 + w.r.IntN(2)
	header := object{"type": "session", "id": "s" + w.hex(8), "timestamp": "2025-01-01T00:00:00.000Z", "cwd": cwd}
	if version == 2 || w.r.IntN(2) == 0 {
		header["version"] = version
	}
	w.maybe(header, "provider", "anthropic")
	lines := [][]byte{w.json(header)}
	ids := []string{}
	for i := range 2 + w.r.IntN(15) {
		entry := w.olderEntry(version, i, ids)
		entry["timestamp"] = fmt.Sprintf("2025-01-01T00:%02d:00.000Z", i)
		if version == 2 || w.r.IntN(8) == 0 {
			id := w.hex(8)
			entry["id"], entry["parentId"] = id, nil
			if len(ids) > 0 {
				entry["parentId"] = pick(w, ids...)
			}
			ids = append(ids, id)
		}
		lines = append(lines, w.json(entry))
		if w.r.IntN(8) == 0 {
			lines = append(lines, []byte(pick(w, "", "not JSON", `{"type":"message"`, "  ")))
		}
	}
	return append(bytes.Join(lines, []byte{'\n'}), '\n')
}

func (w *world) olderEntry(version, place int, ids []string) object {
	switch w.r.IntN(10) {
	case 0:
		return object{"type": "model_change", "provider": "anthropic", "modelId": "m-5"}
	case 1:
		return object{"type": "thinking_level_change", "thinkingLevel": "high"}
	case 2, 3:
		c := object{"type": "compaction", "summary": w.text(), "tokensBefore": 7}
		switch {
		case version == 1:
			c["firstKeptEntryIndex"] = pick[any](w, w.r.IntN(place+3), w.r.IntN(place+3), 0, -1, 0.5, 1000, "1", nil)
		case len(ids) > 0:
			c["firstKeptEntryId"] = pick(w, ids...)
		}
		return c
	case 4:
		m := w.message()
		m["role"], m["content"] = "hookMessage", w.textOrBlocks()
		return object{"type": "message", "message": m}
	case 5:
		return object{"type": "custom", "customType": "x", "data": w.anything(2)}
	}
	return object{"type": "message", "message": w.message()}
}

// TestOlderFormats compares how the programs read files of version 1 and 2: unchanged, after pi has
// migrated them to version 3, and after we have.
// Proves
func TestOlderFormats(t *testing.T) {
	t.Parallel()
	run(t, 150, func(w *world) {
		content := w.older()
		w.note("%s", content)
		asItIs, forPi, forUs := w.write(content), w.write(content), w.write(content)

		ours := w.ours(asItIs, nil, false)
		require.Equal(w.t, string(content), string(w.read(asItIs)), "reading changed the file")
		pis := w.pis(forPi, nil, false) // which migrates the file to version 3
		require.NotEqual(w.t, string(content), string(w.read(forPi)))
		pisByPlace := w.byPlace(pis)
		require.Equal(w.t, pisByPlace, w.byPlace(ours))
		require.Equal(w.t, pisByPlace, w.byPlace(w.ours(forPi, nil, false)))

		log, err := w.kit.Store.Open(forUs)
		require.NoError(w.t, err)
		_, err = log.Append(session.DraftSetting(session.TypeThinkingLevel, rawjson.Quote("low")))
		require.NoError(w.t, err)
		require.NoError(w.t, log.Close())
		migrated := w.read(forUs)
		after := w.requireSame(forUs, nil)
		require.Equal(w.t, string(migrated), string(w.read(forUs)), "pi migrated the file again")
		require.Equal(w.t, pis.Context.Messages, after.Context.Messages)
		last := len(after.Entries) - 1
		require.Equal(w.t, "low", after.Entries[last]["thinkingLevel"])
		after.Entries, after.Leaf, after.Context, after.Tree = after.Entries[:last], ours.Leaf, ours.Context, nil
		require.Equal(w.t, pisByPlace, w.byPlace(after))
	})
}

// byPlace replaces each entry's id with its position, because each program gives older entries ids
// of its own. The comparison requires that the ids refer to the same entries. pi may keep a
// firstKeptEntryId that no entry has any more, which has the same effect as none.
func (w *world) byPlace(a answer) answer {
	w.t.Helper()
	place, entries := map[any]any{}, []map[string]any{}
	for i, e := range a.Entries {
		require.NotContains(w.t, place, e["id"], "duplicate id")
		place[e["id"]] = i
		entries = append(entries, maps.Clone(e))
	}
	for _, e := range entries {
		for _, key := range []string{"id", "parentId", "firstKeptEntryId"} {
			if i, ok := place[e[key]]; ok {
				e[key] = i
			} else if key == "firstKeptEntryId" {
				delete(e, key)
			}
		}
	}
	a.Entries, a.Leaf = entries, fmt.Sprint(place[a.Leaf])
	return a
}
