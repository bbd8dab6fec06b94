package agentbase

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// AddToIndex returns the index of a directory with m added, replacing any entry with the
// same id. All other members keep their value and position. now becomes the time of the
// index's last change.
//
// The error says why index was not written by agent-base; its text continues a sentence that
// begins with the file's name.
func AddToIndex(index []byte, m Metadata, now time.Time) ([]byte, error) {
	index = bytes.TrimSpace(bytes.TrimPrefix(index, byteOrderMark))
	sessions := rawjson.Get(index, "sessions")
	version, hasVersion := rawjson.GetString(index, "version")
	switch {
	case !json.Valid(index) || rawjson.Kind(index) != '{':
		return nil, errors.New("is not JSON, or no object")
	case !hasVersion || rawjson.Kind(sessions) != '{':
		return nil, errors.New("is not agent-base's index of sessions")
	case version != indexVersion:
		return nil, errors.New("is an index of version " + version + ", which may mean something else")
	}
	index = rawjson.Set(index, "sessions", set(sessions, m.ID, m.object()))
	index = rawjson.SetString(index, "updatedAt", formatTime(now))
	var out bytes.Buffer
	if err := json.Indent(&out, compact(index), "", "  "); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// indexVersion is the only known version of the index.
const indexVersion = "1.0"

// set is rawjson.Set for a key of any characters.
func set(object []byte, key string, val []byte) []byte {
	out := new(rawjson.Object)
	found := false
	rawjson.Members(object, func(raw, old []byte) bool {
		name, _ := rawjson.String(raw)
		if name == key {
			if found {
				return true
			}
			old, found = val, true
		}
		out.Raw(name, old)
		return true
	})
	if !found {
		out.Raw(key, val)
	}
	return out.Bytes()
}

func compact(v []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return v
	}
	return b.Bytes()
}
