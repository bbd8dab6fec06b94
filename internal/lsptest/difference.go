package lsptest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
)

// brief is a text, cut if it is very long.
func brief(s string) string {
	const most = 2000
	if len(s) <= most {
		return s
	}
	return s[:most] + fmt.Sprintf("… (%d bytes)", len(s))
}

// difference returns where two messages differ first, on a line of its own; "" if they are no JSON.
func (v values) difference(want, got string) string {
	w, errW := decodeAny(want)
	g, errG := decodeAny(got)
	if errW != nil || errG != nil {
		return ""
	}
	return "\n\tdiffers " + v.differs("", w, g)
}

// differs describes the first difference between two values, which are called path.
func (v values) differs(path string, want, got any) string {
	if name, ok := named(want); ok {
		want = readValue(filepath.Join(v.dir, name+".json"))
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for _, k := range names(w, g) {
			if ok && (path != "" || k != "jsonrpc") && !v.equal(w[k], g[k]) {
				return v.differs(path+"."+k, w[k], g[k])
			}
		}
	case []any:
		g, ok := got.([]any)
		for i := range min(len(w), len(g)) {
			if ok && !v.equal(w[i], g[i]) {
				return v.differs(fmt.Sprintf("%s[%d]", path, i), w[i], g[i])
			}
		}
	}
	return fmt.Sprintf("at %s: want %s, got %s", path, short(want), short(got))
}

// names returns the names of the members of either object, sorted.
func names(a, b map[string]any) (list []string) {
	for _, m := range []map[string]any{a, b} {
		for k := range m {
			list = append(list, k)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// short is a value as JSON, cut.
func short(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	const most = 300
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}
