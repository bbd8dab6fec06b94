package event

import "github.com/xcsh-ls/xcsh-ls/agent/change/wire"

// MaxChangedPaths is the largest number of paths in a [ChangesChanged].
const MaxChangedPaths = 50

type (
	// ChangesChanged reports that a session changed files, that changes were kept or undone, or that pending changes have moved. It is
	// sent at most once in 300 ms.
	ChangesChanged struct {
		Totals wire.Totals `json:"totals"`           // of the whole session
		Paths  []string    `json:"paths"`            // absolute; the first MaxChangedPaths
		Record string      `json:"record,omitempty"` // the newest record, if there is a new one
	}

	// Rewound reports that changes of files were undone or redone.
	Rewound struct {
		ID           string `json:"id"` // of the record
		Files        int    `json:"files"`
		Redo         bool   `json:"redo"`
		Conversation bool   `json:"conversation"` // the leaf moved, too
	}

	// FileChanges is the file changes of a run.
	FileChanges struct {
		Files   int      `json:"files"`
		Added   int      `json:"added"`   // lines
		Removed int      `json:"removed"` // lines
		Limits  []string `json:"limits"`  // changes that could not be recorded
	}
)

func (ChangesChanged) sealed() {}
func (Rewound) sealed()        {}

// Type implements [Event].
func (ChangesChanged) Type() string { return "changes_changed" }

// Type implements [Event].
func (Rewound) Type() string { return "rewound" }

// MarshalJSON implements [json.Marshaler].
func (e ChangesChanged) MarshalJSON() ([]byte, error) {
	e.Paths = append([]string{}, e.Paths[:min(len(e.Paths), MaxChangedPaths)]...)
	type members ChangesChanged
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e Rewound) MarshalJSON() ([]byte, error) {
	type members Rewound
	return encode(e.Type(), members(e))
}
