package export

import (
	"bytes"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// ofFiles are the custom types of the entries that say what a session did to files.
var ofFiles = map[string]bool{"xcsh-ls.change": true, "xcsh-ls.review": true}

// withoutHashes returns the line of an entry without the hashes of the contents of files: the content of a short secret can be guessed
// from them. Other lines are returned as they are.
func withoutHashes(line []byte) []byte {
	if !bytes.Contains(line, []byte(`"xcsh-ls.`)) {
		return line
	}
	if kind, _ := rawjson.GetString(line, "customType"); !ofFiles[kind] {
		return line
	}
	if rawjson.Get(line, "data") == nil {
		return line
	}
	d := json.NewDecoder(bytes.NewReader(rawjson.Get(line, "data")))
	d.UseNumber()
	var data any
	if err := d.Decode(&data); err != nil {
		return rawjson.Set(line, "data", []byte("null"))
	}
	cut, err := json.Marshal(cutHashes(data))
	if err != nil {
		cut = []byte("null")
	}
	return rawjson.Set(line, "data", cut)
}

func cutHashes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "sha256")
		delete(v, "manifest")
		for _, member := range v {
			cutHashes(member)
		}
	case []any:
		for _, element := range v {
			cutHashes(element)
		}
	}
	return v
}
