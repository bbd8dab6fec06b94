// Package gen writes stores of made-up session files to measure with. They are deterministic and
// look like the real ones in the properties that matter for speed: the kinds of entries, their
// order, their length, and how often a conversation is compacted or branches.
//
// The sizes are fitted to two published sessions of pi: of the lines 9 % are prompts, 45 % answers
// and 40 % tool results; bodies are log-normal with a median of 0.3 to 3 KB and a 99th percentile
// of 5 to 110 KB; 6 % of the texts are not all ASCII.
package gen

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// Version changes whenever the bytes for a preset do, so that stores which were kept
// are made again.
const Version = 1

// Needle is a word that no other text contains.
const Needle = "quokka7f3a"

// Flavour is the program whose files are written.
type Flavour string

// The flavours.
const (
	Pi  Flavour = "pi"
	Omp Flavour = "omp" // a title slot before the header, models as one string

	// Xcsh is the form of xcsh's files and of those that this program writes: short session ids, models as
	// one string.
	Xcsh Flavour = "xcsh"
)

// Manifest describes the content of a store, as the generator knows it: reference answers to
// compare those of any program with.
type Manifest struct {
	Version     int       `json:"version"`
	Preset      Preset    `json:"preset"`
	Bytes       int64     `json:"bytes"`
	Entries     int       `json:"entries"`
	Compactions int       `json:"compactions"`
	Branches    int       `json:"branches"`
	Labels      int       `json:"labels"`
	Images      int       `json:"images"`
	Torn        int       `json:"torn"`
	Sessions    []Session `json:"sessions"` // the oldest first
}

// Session holds the known facts of one file.
type Session struct {
	Path     string `json:"path"` // below the store
	ID       string `json:"id"`
	Cwd      string `json:"cwd"`
	Messages int    `json:"messages"` // on every branch
	Entries  int    `json:"entries"`
	LeafID   string `json:"leafId"`
	Context  int    `json:"context"` // messages a model is shown at the leaf
	Needle   bool   `json:"needle,omitempty"`
	Torn     bool   `json:"torn,omitempty"`
}

// Write makes the store p in dir, which is created. Existing files with the same names are
// overwritten, others stay.
func Write(dir string, p Preset) (*Manifest, error) {
	if p.Flavour == "" {
		p.Flavour = Pi
	}
	if p.Flavour != Pi && p.Flavour != Omp && p.Flavour != Xcsh {
		return nil, fmt.Errorf("there is no flavour %q", p.Flavour)
	}
	r := rand.New(rand.NewPCG(p.Seed, 0))
	m := &Manifest{Version: Version, Preset: p}
	words := newText(rand.New(rand.NewPCG(p.Seed, 1)))
	needles := pick(r, p.Sessions, p.Needles)
	torn := pick(r, p.Sessions, int(math.Ceil(p.Torn*float64(p.Sessions))))
	for i := range p.Sessions {
		s := &writer{
			preset: p, text: words, r: rand.New(rand.NewPCG(p.Seed, uint64(i)+2)),
			at: birth(i, p.Sessions), target: size(r, p), facts: m,
		}
		s.is = Session{Cwd: fmt.Sprintf("/home/dev/src/project-%02d", project(r, p.Projects)), Needle: needles[i], Torn: torn[i]}
		if err := s.write(dir); err != nil {
			return nil, err
		}
		m.Sessions = append(m.Sessions, s.is)
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return m, os.WriteFile(manifestIn(dir), b, 0o600)
}

// Read returns the manifest of the store in dir. ok is false if there is none of the current
// [Version].
func Read(dir string) (m *Manifest, ok bool) {
	b, err := os.ReadFile(manifestIn(dir))
	if err != nil || json.Unmarshal(b, &m) != nil || m.Version != Version {
		return nil, false
	}
	return m, true
}

// Cached returns the preset called name below cache, and makes it if it is not there.
func Cached(cache, name string) (dir string, m *Manifest, err error) {
	p, ok := Presets[name]
	if !ok {
		return "", nil, fmt.Errorf("there is no preset %q", name)
	}
	p.Seed = 1
	dir = filepath.Join(cache, fmt.Sprintf("%s-v%d", name, Version))
	if m, ok := Read(dir); ok {
		return dir, m, nil
	}
	// The manifest is written last, so that an interrupted store is made again.
	if err := os.RemoveAll(dir); err != nil {
		return "", nil, err
	}
	m, err = Write(dir, p)
	return dir, m, err
}

// CacheDir is where stores are kept between runs.
func CacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "xcsh-ls", "bench")
	return dir, os.MkdirAll(dir, 0o700)
}

func manifestIn(dir string) string { return filepath.Join(dir, "manifest.json") }

// pick chooses n of total.
func pick(r *rand.Rand, total, n int) map[int]bool {
	chosen := map[int]bool{}
	for len(chosen) < min(n, total) {
		chosen[r.IntN(total)] = true
	}
	return chosen
}

// birth is when session i was begun: all are spread over a year and a half.
func birth(i, sessions int) time.Time {
	const span = 540 * 24 * time.Hour
	return time.Date(2025, 1, 6, 8, 0, 0, 0, time.UTC).Add(span / time.Duration(sessions) * time.Duration(i))
}

// size is how many bytes the next session gets.
func size(r *rand.Rand, p Preset) int64 {
	mean := float64(p.Bytes) / float64(p.Sessions)
	return int64(mean * math.Exp(r.NormFloat64()*p.Spread-p.Spread*p.Spread/2))
}

// project chooses a working directory; each is half as busy as the one with half its
// number.
func project(r *rand.Rand, projects int) int {
	return int(math.Exp(r.Float64()*math.Log(float64(projects+1)))) - 1
}
