package gen

import (
	"fmt"
	"maps"
	"slices"
)

// Preset describes the store to write.
type Preset struct {
	Sessions int     // number of files
	Bytes    int64   // of all files together, about
	Spread   float64 // sigma of the log-normal file sizes; 0: all alike
	Projects int     // number of working directories; the first are the busiest
	Flat     bool    // no compactions and no branches: the context is the whole file
	Torn     float64 // share of files with an incomplete last line
	Needles  int     // how many sessions hold [Needle] in a prompt
	Once     bool    // the thinking level is chosen only once, at the beginning, as by most users
	Brief    bool    // short texts: many entries in few bytes

	Seed    uint64
	Flavour Flavour
}

// Presets are the stores of the performance goals, and the sessions of [Dialects] and [Sizes].
var Presets = presets()

// Dialects are the flavours with a session of each of [Sizes]. In these the thinking level is chosen once, so
// that no choice is near the end of a large file.
var Dialects = []Flavour{Xcsh, Pi, Omp}

// Sizes are the sizes of the sessions of [Dialects], in megabytes.
var Sizes = []int{1, 10, 100, 1000}

// Sized returns the name of the preset of one of [Dialects] and one of [Sizes].
func Sized(f Flavour, mb int) string { return fmt.Sprintf("%s%d", f, mb) }

// Flat returns the name of the preset without compactions and branches of one of [Sizes] except the largest.
func Flat(mb int) string { return fmt.Sprintf("flat%d", mb) }

func presets() map[string]Preset {
	all := map[string]Preset{
		"tiny": {Sessions: 12, Bytes: 600e3, Spread: .9, Projects: 3, Torn: .2, Needles: 2}, // for tests
		"S1":   {Sessions: 1, Bytes: 1e6, Projects: 1},
		"S10":  {Sessions: 1, Bytes: 10e6, Projects: 1},
		"S2":   {Sessions: 1, Bytes: 105e6, Projects: 1},
		"S2n":  {Sessions: 1, Bytes: 105e6, Projects: 1, Flat: true},
		"S3":   {Sessions: 1, Bytes: 1074e6, Projects: 1},
		"L1":   {Sessions: 1_000, Bytes: 200e6, Spread: .9, Projects: 20, Torn: .01, Needles: 5},
		"L2":   {Sessions: 10_000, Bytes: 500e6, Spread: .9, Projects: 50, Torn: .01, Needles: 5},
		"tree": {Sessions: 1, Bytes: 500e6, Projects: 1, Once: true, Brief: true, Flavour: Xcsh}, // a million entries
	}
	for _, mb := range Sizes {
		p := Preset{Sessions: 1, Bytes: int64(mb) * 1e6, Projects: 1, Once: true}
		for _, p.Flavour = range Dialects {
			all[Sized(p.Flavour, mb)] = p
		}
		if mb < 1000 { // the context is the whole file, and is in memory
			p.Flavour, p.Flat = Xcsh, true
			all[Flat(mb)] = p
		}
	}
	return all
}

// Names are the names of the presets, sorted.
func Names() []string { return slices.Sorted(maps.Keys(Presets)) }
