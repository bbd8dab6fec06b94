package catalog

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Snapshot is the catalogue that comes with the program; see NOTICE for its source.
type Snapshot struct {
	Source string           `json:"source"`
	Date   string           `json:"date"` // ISO 8601
	Models []provider.Model `json:"models"`
}

//go:embed models.json.gz
var embedded []byte

// Embedded returns the catalogue that comes with the program. It is parsed at the first call: a
// server without a model never needs it.
var Embedded = sync.OnceValue(func() Snapshot {
	zip, err := gzip.NewReader(bytes.NewReader(embedded))
	if err != nil {
		panic("catalog: " + err.Error()) // a defect of the build, which a test finds
	}
	var s Snapshot
	if err := json.NewDecoder(zip).Decode(&s); err != nil {
		panic("catalog: " + err.Error())
	}
	return s
})
