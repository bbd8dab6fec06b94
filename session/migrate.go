package session

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// migration turns the lines of an older file into current ones, each when it is
// asked for. Nothing is written: the file changes when a resumed session is first
// appended to or renamed (see [Log]).
type migration struct {
	from  int // the version in the file
	steps []migrationStep
}

// migrationStep brings entries to version To. A step may use the index, whose ids
// and parents are already those of the current version.
type migrationStep struct {
	To    int
	Doc   string
	Entry func(t *tree, i int, raw []byte) []byte
}

// migrationSteps is the whole history of the format.
var migrationSteps = []migrationStep{
	{To: 2, Doc: "Entries get an id and a parent in file order; compactions name their first kept entry by id.", Entry: addTreeFields},
	{To: 3, Doc: "The message role hookMessage is called custom.", Entry: renameHookMessage},
}

// migrate makes d show the current format.
func migrate(d *Document) {
	m := &migration{from: d.header.Version}
	for _, s := range migrationSteps {
		if m.from < s.To {
			m.steps = append(m.steps, s)
		}
	}
	if m.from < 2 {
		assignIDs(d)
	}
	d.tree.migrated = m
}

// assignIDs gives version 1's entries their ids and linear parents.
//
// Differs: the originals draw random ids, so that two openings of one file disagree
// until it is rewritten. Ours follow from the session's id and the entry's place,
// so that an id shown to a person still names the same entry a moment later.
func assignIDs(d *Document) {
	t := &d.tree
	t.byID = make(map[string]int32, t.len())
	parent := ""
	for i := range t.recs {
		r := &t.recs[i]
		r.id, r.parent = placeID(t, d.header.ID, i), parent
		t.byID[r.id] = int32(i)
		parent = r.id
	}
}

func placeID(t *tree, session string, place int) string {
	for salt := 0; ; salt++ {
		sum := sha256.Sum256([]byte(session + "\x00" + strconv.Itoa(place) + "\x00" + strconv.Itoa(salt)))
		id := hex.EncodeToString(sum[:4])
		if _, taken := t.byID[id]; !taken {
			return id
		}
	}
}

func (m *migration) entry(t *tree, i int, raw []byte) []byte {
	for _, s := range m.steps {
		raw = s.Entry(t, i, raw)
	}
	return raw
}

// header is the header line in the current version.
func (m *migration) header(raw []byte) []byte {
	return rawjson.Set(raw, "version", []byte(strconv.Itoa(CurrentVersion)))
}

func addTreeFields(t *tree, i int, raw []byte) []byte {
	r := &t.recs[i]
	raw = rawjson.SetString(raw, "id", r.id)
	parent := []byte("null")
	if r.parent != "" {
		parent = rawjson.Quote(r.parent)
	}
	raw = rawjson.Set(raw, "parentId", parent)
	if r.typ != TypeCompaction {
		return raw
	}
	index := rawjson.Get(raw, "firstKeptEntryIndex")
	place, ok := rawjson.Float(index)
	if !ok {
		return raw
	}
	raw = rawjson.Delete(raw, "firstKeptEntryIndex")
	// The index counts the file's values, the header being 0. Only an earlier entry
	// has an id at this point of the original's single pass.
	j, found := slices.BinarySearchFunc(t.recs[:i], place, func(r record, place float64) int {
		return cmp.Compare(float64(r.ord), place)
	})
	if found {
		raw = rawjson.SetString(raw, "firstKeptEntryId", t.recs[j].id)
	}
	return raw
}

func renameHookMessage(t *tree, i int, raw []byte) []byte {
	if t.recs[i].typ != TypeMessage {
		return raw
	}
	if role, _ := rawjson.GetString(raw, "message", "role"); role != "hookMessage" {
		return raw
	}
	return rawjson.Set(raw, "message", rawjson.SetString(rawjson.Get(raw, "message"), "role", "custom"))
}
