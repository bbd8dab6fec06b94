//go:build peers

package differential

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// damage is a kind of damage to the lines of a file behind its header. Whichever it is, both
// programs must read the rest in the same way.
var damage = map[string]func(w *world, lines []string) []string{
	"junk": func(w *world, lines []string) []string {
		junk := pick(w, "", "   ", "not JSON", `{"type":"message","id":"x`, `{]`, `{"a":`, "\x00\x00\x00\x00", "\ufffd", `"`, "}")
		return slices.Insert(lines, w.place(lines), junk)
	},
	"a line lost": func(w *world, lines []string) []string {
		i := w.place(lines)
		return slices.Delete(lines, i, min(i+1, len(lines)))
	},
	"a line twice": func(w *world, lines []string) []string {
		return slices.Insert(lines, w.place(lines), pick(w, lines[1:]...))
	},
	"lines moved": func(w *world, lines []string) []string {
		i, j := 1+w.r.IntN(len(lines)-1), 1+w.r.IntN(len(lines)-1)
		lines[i], lines[j] = lines[j], lines[i]
		return lines
	},
	"a line torn": func(w *world, lines []string) []string {
		i := 1 + w.r.IntN(len(lines)-1)
		lines[i] = lines[i][:w.r.IntN(len(lines[i])+1)]
		return lines
	},
	"another header": func(w *world, lines []string) []string {
		return slices.Insert(lines, w.place(lines), lines[0])
	},
	"an unknown type": func(w *world, lines []string) []string {
		i := 1 + w.r.IntN(len(lines)-1)
		lines[i] = strings.Replace(lines[i], `"type":"message"`, `"type":"unheard_of"`, 1)
		return lines
	},
	"another parent": func(w *world, lines []string) []string {
		i, j := 1+w.r.IntN(len(lines)-1), 1+w.r.IntN(len(lines)-1)
		parent := pick(w, "null", `"gone"`, `"`+idOf(lines[j])+`"`)
		if at := strings.Index(lines[i], `"parentId":`) + len(`"parentId":`); at >= len(`"parentId":`) {
			end := at + strings.IndexAny(lines[i][at:], ",}")
			lines[i] = lines[i][:at] + parent + lines[i][end:]
		}
		return lines
	},
	"spaces": func(w *world, lines []string) []string {
		i := w.r.IntN(len(lines))
		lines[i] = " \t" + lines[i] + "  "
		return lines
	},
	"line ends of Windows": func(w *world, lines []string) []string {
		for i := range lines {
			lines[i] = strings.TrimSuffix(lines[i], "\r") + "\r"
		}
		return lines
	},
}

// place is a random position after the header.
func (w *world) place(lines []string) int { return 1 + w.r.IntN(len(lines)) }

func idOf(line string) string {
	_, rest, _ := strings.Cut(line, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// Proves, X-065 (a line twice), X-075
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	kinds := []string{}
	for kind := range damage {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	compared := 0
	run(t, 150, func(w *world) {
		file, _ := w.conversation(16)
		lines := strings.Split(strings.TrimSuffix(string(w.read(file)), "\n"), "\n")
		for range 1 + w.r.IntN(4) {
			if len(lines) > 2 {
				kind := pick(w, kinds...)
				w.note("%s", kind)
				lines = damage[kind](w, lines)
			}
		}
		content := []byte(strings.Join(lines, "\n") + "\n")
		if w.r.IntN(3) == 0 {
			cut := w.r.IntN(min(200, len(content)-len(lines[0])))
			w.note("the last %d bytes lost", cut)
			content = content[:len(content)-cut]
		}
		if w.compareDamaged(content) {
			compared++
		}
	})
	require.NotZero(t, compared)
}

// compareDamaged compares how the programs read a file's content, and then with an entry that we
// append to it. It skips files in which a cycle of parents would make pi loop forever.
func (w *world) compareDamaged(content []byte) (compared bool) {
	w.t.Helper()
	doc, err := session.ParseText(w.t.Context(), string(content))
	require.NoError(w.t, err)
	problems, err := doc.Check(session.AtLast(), nil)
	require.NoError(w.t, err)
	circle := slices.ContainsFunc(problems, func(p session.Problem) bool { return p.Kind == session.ParentCycle })
	for _, e := range w.entries(doc) {
		circle = circle || e["id"] == e["parentId"]
	}
	if circle {
		return false
	}
	w.requireSame(w.write(content), nil)

	file := w.write(content)
	s := w.session(file)
	s.only = "we"
	for range 3 {
		s.step()
	}
	s.close()
	require.True(w.t, bytes.HasPrefix(w.read(file), content), "existing content has changed")
	w.requireSame(file, nil)
	return true
}

// TestFilesThatAreNotSessions requires that both programs refuse a file that is not a session and leave it
// unchanged.
// Proves: X-057, F-01
func TestFilesThatAreNotSessions(t *testing.T) {
	t.Parallel()
	run(t, 1, func(w *world) {
		for _, content := range []string{
			"text", "{}", "[]", `{"type":"message","id":"a","parentId":null}`, `{"type":"session"}`, `{"type":"session","id":1}`,
			`{"type":"session","id":"a"`, "\n\n", " ", `{"kind":"header","version":4}`, "\x00",
		} {
			file := w.write([]byte(content))
			w.note("%s", content)
			require.Error(w.t, w.pi.ask(request{Do: "look", File: file}, nil))
			_, err := w.kit.Store.Open(file)
			require.Error(w.t, err, "%q", content)
			require.Equal(w.t, content, string(w.read(file)))
		}
	})
}
