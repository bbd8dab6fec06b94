package session

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// migration converts the lines of an older file to the current format, each on demand. It
// writes nothing: the file changes when a resumed session is first appended to or renamed
// (see [Log]).
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

// migrate makes d present the current format.
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
// Differs: the originals draw random ids, so that two openings of one file disagree until
// it is rewritten. Here the ids follow from the session's id and the entry's index, so that
// an id shown to a user still names the same entry a moment later.
func assignIDs(d *Document) {
	d.tree.chain(func(i int) string { return placeID(&d.tree, d.header.ID, i) })
}

func placeID(t *tree, session string, place int) string {
	for salt := 0; ; salt++ {
		sum := sha256.Sum256([]byte(session + "\x00" + strconv.Itoa(place) + "\x00" + strconv.Itoa(salt)))
		id := hex.EncodeToString(sum[:4])
		if _, taken := t.find(id); !taken {
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

// header returns the header line in the current version.
func (m *migration) header(raw []byte) []byte {
	return rawjson.Set(raw, "version", []byte(strconv.Itoa(CurrentVersion)))
}

func addTreeFields(t *tree, i int, raw []byte) []byte {
	raw = rawjson.SetString(raw, "id", t.id(i))
	parent := []byte("null")
	if id := t.parentID(i); id != "" {
		parent = rawjson.Quote(id)
	}
	raw = rawjson.Set(raw, "parentId", parent)
	if t.typ(i) != TypeCompaction {
		return raw
	}
	index := rawjson.Get(raw, "firstKeptEntryIndex")
	place, ok := rawjson.Float(index)
	if !ok {
		return raw
	}
	raw = rawjson.Delete(raw, "firstKeptEntryIndex")
	// The index counts the file's values, the header being 0. Only earlier entries and
	// this one have an id at this point of the original's single pass.
	if j, found := t.byOrd(place, i+1); found {
		raw = rawjson.SetString(raw, "firstKeptEntryId", t.id(j))
	}
	return raw
}

// hookMessage is the name of the role custom before version 3.
const hookMessage = "hookMessage"

func renameHookMessage(t *tree, i int, raw []byte) []byte {
	if t.typ(i) != TypeMessage {
		return raw
	}
	if role, _ := rawjson.GetString(raw, "message", "role"); role != hookMessage {
		return raw
	}
	return rawjson.Set(raw, "message", rawjson.SetString(rawjson.Get(raw, "message"), "role", "custom"))
}
