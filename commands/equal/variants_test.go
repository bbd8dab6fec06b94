package equal

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// subject is a session whose answers are compared.
type subject struct {
	name    string
	program string // the directory of the program whose session it is
	content []byte
	seed    uint64
}

func (s *subject) file(w *world) string {
	return filepath.Join(w.sessions(s.program), "2026-01-01T00-00-00-000Z_"+s.name+".jsonl")
}

// cut returns the content in n parts, between lines.
func (s *subject) cut(n int) (parts [][]byte) {
	rest := s.content
	for k := n; k > 1; k-- {
		at := bytes.IndexByte(rest[len(rest)/k:], '\n') + len(rest)/k + 1
		parts, rest = append(parts, rest[:at]), rest[at:]
	}
	return append(parts, rest)
}

// indexes are the index files that a session had while it grew.
type indexes struct {
	early map[string][]byte // of its first part
	later map[string][]byte // of its first two parts, with an extension
	now   map[string][]byte // of the whole session, with an extension
	fresh map[string][]byte // of the whole session, without
	other map[string][]byte // of another session, under its name
}

// prepare writes the session as a program does, and reads it in between. Nothing else is in the home directory.
func (s *subject) prepare(w *world) (x indexes) {
	w.Helper()
	w.clear()
	path := s.file(w)
	w.put(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "0.bash.log"), []byte("output\n"))
	parts := s.cut(3)
	if !w.indexes || w.broken {
		w.put(path, s.content)
		return x
	}
	for i, into := range []*map[string][]byte{&x.early, &x.later, &x.now} {
		w.put(path, parts[i])
		w.load(path)
		*into = w.indexFiles()
	}
	require.NoError(w, os.RemoveAll(w.indexDir()))
	w.load(path)
	x.fresh = w.indexFiles()
	other := filepath.Join(w.dir, "out", "other.jsonl")
	w.put(other, s.content)
	require.NoError(w, os.RemoveAll(w.indexDir()))
	w.load(other)
	x.other = map[string][]byte{}
	for name, content := range w.indexFiles() {
		for own := range x.fresh {
			if filepath.Ext(own) == filepath.Ext(name) {
				x.other[own] = content
			}
		}
	}
	require.NoError(w, os.Remove(other))
	require.NoError(w, os.RemoveAll(w.indexDir()))
	return x
}

// variant is a state of the index files.
type variant struct {
	name   string
	broken bool
	make   func(w *world, x indexes, r *rand.Rand) map[string][]byte
}

// variants are all states of the index files.
func variants() []variant {
	of := func(f func(x indexes) map[string][]byte) func(*world, indexes, *rand.Rand) map[string][]byte {
		return func(_ *world, x indexes, _ *rand.Rand) map[string][]byte { return f(x) }
	}
	list := []variant{
		{name: "cold", make: of(func(indexes) map[string][]byte { return map[string][]byte{} })},
		{name: "warm", make: of(func(x indexes) map[string][]byte { return x.fresh })},
		{name: "warm with an extension", make: of(func(x indexes) map[string][]byte { return x.now })},
		{name: "grown", make: of(func(x indexes) map[string][]byte { return x.early })},
		{name: "grown behind an extension", make: of(func(x indexes) map[string][]byte { return x.later })},
		{name: "of another file", make: of(func(x indexes) map[string][]byte { return x.other })},
		{name: "an extension of another base", make: of(func(x indexes) map[string][]byte {
			mixed := maps.Clone(x.fresh)
			for name, content := range x.now {
				if strings.HasSuffix(name, ".ext") {
					mixed[name] = content
				}
			}
			return mixed
		})},
		{name: "unusable directory", broken: true},
		{name: "the directory is a file", make: func(w *world, _ indexes, _ *rand.Rand) map[string][]byte {
			require.NoError(w, os.MkdirAll(filepath.Dir(w.indexDir()), 0o700))
			require.NoError(w, os.WriteFile(w.indexDir(), []byte("a file"), 0o600))
			return nil
		}},
		{name: "the files are directories", make: func(w *world, x indexes, _ *rand.Rand) map[string][]byte {
			for name := range x.now {
				require.NoError(w, os.MkdirAll(name, 0o700))
			}
			return nil
		}},
	}
	for name, change := range damages {
		list = append(list, variant{name: name, make: func(_ *world, x indexes, r *rand.Rand) map[string][]byte {
			from := x.now
			if r.IntN(3) == 0 {
				from = x.later
			}
			damaged := map[string][]byte{}
			for _, path := range slices.Sorted(maps.Keys(from)) { // in order, so that a seed repeats
				damaged[path] = from[path]
				if len(from) == 1 || r.IntN(2) == 0 || strings.HasSuffix(path, ".idx") {
					damaged[path] = change(bytes.Clone(from[path]), r)
				}
			}
			return damaged
		}})
	}
	slices.SortFunc(list[10:], func(a, b variant) int { return strings.Compare(a.name, b.name) })
	return list
}

// factsEnd returns where the facts of an index file end.
func factsEnd(b []byte) int {
	if len(b) < 24 {
		return len(b)
	}
	return min(len(b), 24+int(b[16])+int(b[17])<<8+int(b[18])<<16)
}

// flip changes a byte in a range.
func flip(b []byte, r *rand.Rand, from, to int) []byte {
	if to = min(to, len(b)); from < to {
		b[from+r.IntN(to-from)] ^= byte(1 + r.IntN(255))
	}
	return b
}

// damages are what may happen to the bytes of an index file.
var damages = map[string]func(b []byte, r *rand.Rand) []byte{
	"flipped in the magic":    func(b []byte, r *rand.Rand) []byte { return flip(b, r, 0, 16) },
	"flipped in the length":   func(b []byte, r *rand.Rand) []byte { return flip(b, r, 16, 20) },
	"flipped in the checksum": func(b []byte, r *rand.Rand) []byte { return flip(b, r, 20, 24) },
	"flipped in the facts":    func(b []byte, r *rand.Rand) []byte { return flip(b, r, 24, factsEnd(b)) },
	"flipped in each page": func(b []byte, r *rand.Rand) []byte {
		for at := factsEnd(b); at < len(b); at += 16 * 32 {
			flip(b, r, at, at+16*32)
		}
		return b
	},
	"flipped behind the facts": func(b []byte, r *rand.Rand) []byte { return flip(b, r, factsEnd(b), len(b)) },
	"flipped at the end":       func(b []byte, r *rand.Rand) []byte { return flip(b, r, len(b)*3/4, len(b)) },
	"cut anywhere":             func(b []byte, r *rand.Rand) []byte { return b[:r.IntN(len(b))] },
	"cut in the sections":      func(b []byte, r *rand.Rand) []byte { at := factsEnd(b); return b[:at+(len(b)-at)*r.IntN(100)/100] },
	"a part is missing": func(b []byte, r *rand.Rand) []byte {
		at := r.IntN(len(b))
		return append(b[:at:at], b[min(len(b), at+1+r.IntN(600)):]...)
	},
	"longer": func(b []byte, r *rand.Rand) []byte { return append(b, noise(r, 1+r.IntN(100))...) },
	"empty":  func([]byte, *rand.Rand) []byte { return []byte{} },
	"noise":  func(b []byte, r *rand.Rand) []byte { return noise(r, len(b)) },
	"noise behind the facts": func(b []byte, r *rand.Rand) []byte {
		at := factsEnd(b)
		return append(b[:at:at], noise(r, len(b)-at)...)
	},
	"zeros behind the facts": func(b []byte, _ *rand.Rand) []byte { clear(b[factsEnd(b):]); return b },
	"an older version":       func(b []byte, _ *rand.Rand) []byte { return otherVersion(b, -1) },
	"a newer version":        func(b []byte, _ *rand.Rand) []byte { return otherVersion(b, 1) },
}

// otherVersion changes the number of the format at the end of the first line.
func otherVersion(b []byte, by int) []byte {
	if at := bytes.IndexByte(b, '\n') - 1; at >= 0 {
		b[at] += byte(by)
	}
	return b
}

func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}
