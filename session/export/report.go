package export

import (
	"maps"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

// Replaced reports how often a kind of secret was replaced, and where.
type Replaced struct {
	Kind  string   `json:"kind"`
	Count int      `json:"count"`
	Where []string `json:"where" jsonschema:"Ids of the entries, or: message N of a dump, header, title, system prompt, tools, labels. At most 50."`
}

// Doubt is a passage that may be a secret. It does not hold the value itself.
type Doubt struct {
	Kind    string   `json:"kind"`
	Preview string   `json:"preview" jsonschema:"The beginning and the end of the passage."`
	Before  string   `json:"before,omitempty" jsonschema:"At most 24 characters in front of the passage."`
	Count   int      `json:"count"`
	Where   []string `json:"where"`
}

const (
	mostPlaces = 50  // listed places of one finding
	mostDoubts = 200 // listed doubtful passages
)

// report collects the findings of a redactor.
type report struct {
	replaced map[string]*Replaced
	doubts   map[string]*Doubt // by passage
}

// note records the findings in a text of the document.
func (r *report) note(at, text string, found []redact.Finding, all bool) {
	at = strings.TrimPrefix(at, "entry ")
	for i, f := range found {
		if f.Doubtful && !all {
			r.doubt(at, text, found, i)
			continue
		}
		if r.replaced == nil {
			r.replaced = map[string]*Replaced{}
		}
		of := r.replaced[f.Kind]
		if of == nil {
			of = &Replaced{Kind: f.Kind}
			r.replaced[f.Kind] = of
		}
		of.Count++
		of.Where = withPlace(of.Where, at)
	}
}

func (r *report) doubt(at, text string, found []redact.Finding, i int) {
	passage := text[found[i].From:found[i].To]
	if r.doubts == nil {
		r.doubts = map[string]*Doubt{}
	}
	of := r.doubts[passage]
	if of == nil {
		if len(r.doubts) == mostDoubts {
			return
		}
		of = &Doubt{Kind: found[i].Kind, Preview: redact.Masked(passage), Before: redact.Before(text, found, i)}
		r.doubts[strings.Clone(passage)] = of // the rest of the text is not kept
	}
	of.Count++
	of.Where = withPlace(of.Where, at)
}

func withPlace(places []string, at string) []string {
	at = redact.Printable(at, 64)
	if len(places) == mostPlaces || slices.Contains(places, at) {
		return places
	}
	return append(places, at)
}

// Counts returns the number of replaced secrets of each kind. It is complete once the messages or the entries were read.
func (r *Redactor) Counts() map[string]int {
	counts := map[string]int{}
	for _, of := range r.Replaced() {
		counts[of.Kind] = of.Count
	}
	return counts
}

// Replaced returns the replaced secrets, sorted by kind. It is complete once the messages or the entries were read.
func (r *Redactor) Replaced() []Replaced {
	sum := map[string]*Replaced{}
	for _, part := range []map[string]*Replaced{r.about.replaced, r.said.replaced, r.entries.replaced} {
		for kind, of := range part {
			if sum[kind] == nil {
				sum[kind] = &Replaced{Kind: kind}
			}
			sum[kind].Count += of.Count
			for _, at := range of.Where {
				sum[kind].Where = withPlace(sum[kind].Where, at)
			}
		}
	}
	return sortedValues(sum)
}

// Doubts returns the passages that may be secrets and were not replaced. It is complete once the messages or the entries were read.
func (r *Redactor) Doubts() []Doubt {
	sum := map[string]*Doubt{}
	for _, part := range []map[string]*Doubt{r.about.doubts, r.said.doubts, r.entries.doubts} {
		for passage, of := range part {
			if sum[passage] == nil {
				sum[passage] = &Doubt{Kind: of.Kind, Preview: of.Preview, Before: of.Before}
			}
			sum[passage].Count += of.Count
			for _, at := range of.Where {
				sum[passage].Where = withPlace(sum[passage].Where, at)
			}
		}
	}
	return sortedValues(sum)
}

func sortedValues[T any](m map[string]*T) []T {
	var all []T
	for _, key := range slices.Sorted(maps.Keys(m)) {
		all = append(all, *m[key])
	}
	return all
}
