package session_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// TestIndexMatchesTheLines compares the index with maps over decoded lines: ids of
// eight hex digits and all others, in any spelling, duplicate, missing.
func TestIndexMatchesTheLines(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		lines := []string{st.Header("0123456789abcdef", "/w")}
		for range random.IntN(60) {
			lines = append(lines, entryOfAnyKind(random))
		}
		requireIndexed(t, lines)
	}
}

func entryOfAnyKind(random *rand.Rand) string {
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	id := func() string {
		return pick(
			fmt.Sprintf(`"%08x"`, random.IntN(8)), fmt.Sprintf(`"%08X"`, 0xABCDEF00+random.IntN(4)),
			`"\u0030000000`+pick("1", "2")+`"`, `"0000000"`, `"000000000"`, `"0000000g"`, `"é"`, `"\ud800"`,
			`"01943aa0-bc00-7510-9dce-c3ad077dec6c"`, `""`, `null`, `7`, `["a"]`,
		)
	}
	members := []string{`"type":` + pick(`"message"`, `"message"`, `"label"`, `"mess\u0061ge"`, `"new"`, `"session"`, `""`, `3`)}
	for _, key := range []string{"id", "parentId"} {
		if random.IntN(6) > 0 {
			members = append(members, fmt.Sprintf(`%q:%s`, key, id()))
		}
	}
	if random.IntN(3) > 0 {
		members = append(members, `"message":`+pick(`{"role":"user"}`, `{"role":"assistant"}`, `{"role":"own"}`, `{"role":4}`, `{}`, `"user"`))
	}
	random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, ",") + "}"
}

// requireIndexed requires that the index of a file, whose first line is the header, agrees
// with its lines.
func requireIndexed(t *testing.T, lines []string) {
	t.Helper()
	file := strings.Join(lines, "\n") + "\n"
	d, err := session.Parse([]byte(file))
	require.NoError(t, err)
	type entry struct{ id, parent, typ, raw string }
	var want []entry
	last := map[string]int{}
	for _, line := range lines[1:] {
		var m struct{ Type, ID, ParentID any }
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		e := entry{raw: line}
		e.typ, _ = m.Type.(string)
		e.id, _ = m.ID.(string)
		e.parent, _ = m.ParentID.(string)
		if e.typ == "" || e.typ == "session" {
			continue
		}
		if e.id != "" {
			last[e.id] = len(want)
		}
		want = append(want, e)
	}
	require.Equal(t, len(want), d.Len(), file)
	for i, w := range want {
		got, err := d.Entry(i)
		require.NoError(t, err)
		is := entry{got.ID, got.ParentID, string(got.Type), string(got.Raw)}
		require.Equal(t, w, is, file)
		parent, known := last[w.parent]
		if !known || w.parent == w.id {
			parent = -1
		}
		require.Equal(t, parent, d.Parent(i), "the parent of %s in %s", w.raw, file)
	}
	for id, place := range last {
		got, err := d.Index(id)
		require.NoError(t, err, "%q in %s", id, file)
		require.Equal(t, place, got, "%q in %s", id, file)
	}
	for _, id := range []string{"", "ffffffff", "nobody"} {
		_, err := d.Index(id)
		require.True(t, fault.Is(err, fault.NotFound))
	}
}

// TestIdsThatCollide: ids that all belong in one cell of the table are distinguished, and
// so are numbers and names.
func TestIdsThatCollide(t *testing.T) {
	t.Parallel()
	lines := []string{st.Header("0123456789abcdef", "/w")}
	home := session.HomeCell(1 << 12)
	for v := uint32(0); len(lines) < 1500; v++ {
		if home(v) == 5 {
			lines = append(lines, st.User(fmt.Sprintf("%08x", v), fmt.Sprintf("%08x", v+1), "q"))
		}
	}
	for i := range 500 {
		lines = append(lines, st.User(fmt.Sprintf("name %d", i), fmt.Sprintf("%08x", i), "q"), st.User(fmt.Sprintf("%08x", i), "name 7", "q"))
	}
	requireIndexed(t, lines)
}

// TestIDsCannotBeMadeToCollide: a table with the same hash function everywhere can be
// filled with ids that all belong in a few cells, which takes quadratic time. These ids do
// that to the folded low bits of a multiplication by the golden ratio.
func TestIDsCannotBeMadeToCollide(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	const (
		ids   = 200_000
		cells = 1 << 19 // of a table with that many ids
		ratio = 0x9E3779B1
	)
	lines := []string{st.Header("0123456789abcdef", "/w")}
	for i := range uint32(ids) {
		h := i%25 + i/25*cells
		h ^= h>>15 ^ h>>30
		lines = append(lines, fmt.Sprintf(`{"type":"message","id":"%08x","parentId":null}`, h*inverseOf(ratio)))
	}
	for i := range uint32(ids) { // names are numbered
		lines = append(lines, fmt.Sprintf(`{"type":"message","id":"name %d","parentId":null}`, i))
	}
	for _, n := range []int{ids, 2 * ids} {
		d, err := session.Parse([]byte(st.File(lines[:1+n]...)))
		require.NoError(t, err)
		require.Empty(t, d.Problems())
		require.Less(t, session.Probes(d), 4*n)
	}
}

// inverseOf returns the number that reverses a multiplication by an odd number.
func inverseOf(odd uint32) uint32 {
	inverse := odd // right in three bits, and in twice as many after every step
	for range 4 {
		inverse *= 2 - odd*inverse
	}
	return inverse
}

// TestUnknownTypesAndRolesAreKept: a file may hold more types and roles than fit in a byte.
func TestUnknownTypesAndRolesAreKept(t *testing.T) {
	t.Parallel()
	lines := []string{st.Header("0123456789abcdef", "/w")}
	for i := range 300 {
		lines = append(lines, fmt.Sprintf(`{"type":"type%d","id":"%08x","parentId":null,"message":{"role":"role%d"}}`, i, i, i))
	}
	requireIndexed(t, lines)
}
