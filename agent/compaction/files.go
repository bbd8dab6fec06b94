package compaction

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// fileOps are the files that tools read and changed.
type fileOps struct{ read, modified map[string]bool }

func newFileOps() fileOps { return fileOps{map[string]bool{}, map[string]bool{}} }

// see records the files of an answer's tool calls.
func (f fileOps) see(message json.RawMessage) {
	rawjson.Elements(rawjson.Get(message, "content"), func(block []byte) bool {
		if typ, _ := rawjson.GetString(block, "type"); typ != "toolCall" {
			return true
		}
		path, ok := rawjson.GetString(block, "arguments", "path")
		if !ok {
			return true
		}
		switch name, _ := rawjson.GetString(block, "name"); name {
		case "read":
			f.read[path] = true
		case "write", "edit":
			f.modified[path] = true
		}
		return true
	})
}

// inherit adds the files that an earlier summary lists.
func (f fileOps) inherit(details json.RawMessage) {
	add := func(to map[string]bool, key string) {
		rawjson.Elements(rawjson.Get(details, key), func(v []byte) bool {
			if path, ok := rawjson.String(v); ok {
				to[path] = true
			}
			return true
		})
	}
	add(f.read, "readFiles")
	add(f.modified, "modifiedFiles")
}

// lists returns the files that were only read, and those that were changed.
func (f fileOps) lists() (read, modified []string) {
	for path := range maps.Keys(f.read) {
		if !f.modified[path] {
			read = append(read, path)
		}
	}
	slices.Sort(read)
	return read, slices.Sorted(maps.Keys(f.modified))
}

// text returns the text that is appended to a summary.
func (f fileOps) text() string {
	read, modified := f.lists()
	var b strings.Builder
	for _, l := range []struct {
		tag   string
		paths []string
	}{{"read-files", read}, {"modified-files", modified}} {
		if len(l.paths) > 0 {
			b.WriteString("\n\n<" + l.tag + ">\n" + strings.Join(l.paths, "\n") + "\n</" + l.tag + ">")
		}
	}
	return b.String()
}

// details returns the details stored with a summary, so that the next one can inherit them.
func (f fileOps) details() json.RawMessage {
	list := func(paths []string) []byte {
		var quoted [][]byte
		for _, p := range paths {
			quoted = append(quoted, rawjson.Quote(p))
		}
		return rawjson.Array(quoted)
	}
	read, modified := f.lists()
	return new(rawjson.Object).Raw("readFiles", list(read)).Raw("modifiedFiles", list(modified)).Bytes()
}
