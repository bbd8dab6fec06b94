package lsptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// The placeholders of expected messages. Each stands for a part of a string that differs from run to
// run, as narrowly as possible: a value that the server could get wrong is written out.
var placeholders = map[string]string{
	"<digits>": `[0-9]+`,
	"<hex>":    `[0-9a-f]+`,
	"<path>":   `[^\s"<>]*`,
	"<time>":   `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`,
}

// number is a whole value, any number, for sizes that change with unrelated files.
const number = "<number>"

var placeholder = regexp.MustCompile(`<[a-z]+>`)

// matchString reports whether an actual string is the expected one, which may have placeholders.
func matchString(want, got string) bool {
	if !placeholder.MatchString(want) {
		return want == got
	}
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	end := 0
	for _, at := range placeholder.FindAllStringIndex(want, -1) {
		pattern.WriteString(regexp.QuoteMeta(want[end:at[0]]))
		part, known := placeholders[want[at[0]:at[1]]]
		if !known {
			part = regexp.QuoteMeta(want[at[0]:at[1]])
		}
		pattern.WriteString(part)
		end = at[1]
	}
	pattern.WriteString(regexp.QuoteMeta(want[end:]) + `\z`)
	return regexp.MustCompile(pattern.String()).MatchString(got)
}

// values are the long values that several conversations expect, each in a file NAME.json beside them.
// A conversation, or another such file, has {"$file":"NAME"} in their place. With -update a file is
// rewritten by the first conversation whose value differs.
type values struct{ dir string }

// valueFiles guards the files, since conversations run in parallel.
var valueFiles sync.Mutex

// named returns the name in {"$file":"NAME"}.
func named(want any) (name string, ok bool) {
	m, isObject := want.(map[string]any)
	if !isObject || len(m) != 1 {
		return "", false
	}
	name, ok = m["$file"].(string)
	return name, ok
}

// match reports whether got is the value in a file.
func (v values) match(name string, got any) bool {
	file := filepath.Join(v.dir, name+".json")
	want := readValue(file)
	if v.equal(want, got) {
		return true
	}
	return *update && writeValue(file, v.keep(want, got)) == nil
}

// readValue returns the value in a file, or nil, which no value of a conversation is.
func readValue(file string) any {
	valueFiles.Lock()
	defer valueFiles.Unlock()
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	value, err := decodeAny(string(data))
	if err != nil {
		return nil
	}
	return value
}

func writeValue(file string, value any) error {
	valueFiles.Lock()
	defer valueFiles.Unlock()
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644) //nolint:gosec // a test file in the repository
}

// keep returns got with the parts of want that match it, so that an update keeps their placeholders.
func (v values) keep(want, got any) any {
	if want != nil && v.equal(want, got) {
		return want
	}
	w, isObject := want.(map[string]any)
	g, isToo := got.(map[string]any)
	if !isObject || !isToo {
		return got
	}
	kept := map[string]any{}
	for k, field := range g {
		kept[k] = v.keep(w[k], field)
	}
	return kept
}
