package change

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The custom types of the entries, and the version of the records that this package writes.
const (
	Type         = "xcsh-ls.change"
	ReviewType   = "xcsh-ls.review"
	RewoundType  = "xcsh-ls.rewound" // a message to the model about files that were rewound
	BranchedType = "xcsh-ls.branch"  // marks the new leaf after a branch change, so that it survives a restart
	Version      = 1
)

// Kind is the kind of file at a path.
type Kind string

// The kinds of states.
const (
	Absent  Kind = "absent"
	Regular Kind = "file"
	Link    Kind = "link"    // its content is its target
	Large   Kind = "large"   // a file above the limit, or an excluded one: only its hash and size are recorded
	Special Kind = "special" // a directory, socket or device; a rewind does not change it
)

// State is the state of a path. Two states are equal if they have the same kind, hash and mode.
type State struct {
	Kind   Kind   `json:"kind"`
	SHA256 string `json:"sha256,omitempty"` // of the content, 64 hexadecimal digits
	Mode   uint32 `json:"mode,omitempty"`   // the permission bits of a file
	Size   int64  `json:"size,omitempty"`   // of the content in bytes
}

// Same reports whether two states are equal.
func (s State) Same(o State) bool {
	return s.Kind == o.Kind && s.SHA256 == o.SHA256 && (s.Mode == o.Mode || s.Kind != Regular && s.Kind != Large)
}

// Sum returns the hash of a content in the form of [State].SHA256.
func Sum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Change is the change of one path.
type Change struct {
	Path   string `json:"path"` // with slashes, relative to the root of the record; absolute outside of it
	Before State  `json:"before"`
	After  *State `json:"after,omitempty"` // nil: the command did not end
	Via    string `json:"via,omitempty"`   // [ViaBuffer] if made in an open document
}

// ViaBuffer is the Via of a change in an open document.
const ViaBuffer = "buffer"

// Git is the position of HEAD before and after.
type Git struct {
	Head      string `json:"head,omitempty"` // "" without a commit
	HeadAfter string `json:"headAfter,omitempty"`
	Branch    string `json:"branch,omitempty"` // "" for a detached HEAD
}

// The limits of a record, see [Record].Limits.
const (
	LimitIgnored   = "ignored"   // an ignored directory changed, or may have
	LimitOutside   = "outside"   // a command can reach outside of the folder
	LimitLarge     = "large"     // a file above the limit
	LimitBudget    = "budget"    // a content was not stored
	LimitSubmodule = "submodule" // a nested repository was not compared
	LimitNoGit     = "nogit"     // git is not available
	LimitPatch     = "patch"     // there is no record: the change is computed from the result of a call
)

// HunkRef names a pending hunk.
type HunkRef struct {
	Path string `json:"path"`
	Hunk string `json:"hunk"` // its id, see package review
}

// Record is the data of an entry of type [Type].
type Record struct {
	V          int       `json:"v"`
	PromptID   string    `json:"promptId,omitempty"`   // the entry of the turn's prompt; "" for the user's own command
	ToolCallID string    `json:"toolCallId,omitempty"` // the call
	Tool       string    `json:"tool,omitempty"`       // "bash", "edit", "write", "rewind", "hosted" or another tool
	Changes    []Change  `json:"changes,omitempty"`
	Root       string    `json:"root,omitempty"` // the folder as a file URI
	Git        *Git      `json:"git,omitempty"`
	Limits     []string  `json:"limits,omitempty"`
	AlsoEditor []string  `json:"alsoEditor,omitempty"` // paths that the editor saved while the command ran
	Manifest   string    `json:"manifest,omitempty"`   // the hash of a content that holds Changes, which are too many for an entry
	Void       string    `json:"void,omitempty"`       // the record whose change did not happen; excludes all other fields
	Undoes     []string  `json:"undoes,omitempty"`     // the records that a rewind undid
	Hunks      []HunkRef `json:"hunks,omitempty"`      // the hunks that a rewind undid; the record then counts as an edit
	Redoes     string    `json:"redoes,omitempty"`     // the rewind that this one undid
	Except     []string  `json:"except,omitempty"`     // paths of Undoes or Redoes that were left out

	ID   string    `json:"-"` // of the entry
	Seq  int       `json:"-"` // its position in the file
	Time time.Time `json:"-"`

	Unreadable bool `json:"-"` // a newer version, or its manifest is missing: shown, never undone

	paths []string       // of Changes, set when the record is added to a book
	at    map[string]int // the index of the first change of a path, set together with paths
}

// Kept is the pair of states from which the pending part of a path starts.
type Kept struct {
	Path   string `json:"path"`
	Before State  `json:"before"`
	After  State  `json:"after"`
}

// Review is the data of an entry of type [ReviewType].
type Review struct {
	V    int    `json:"v"`
	Root string `json:"root,omitempty"`
	Kept []Kept `json:"kept"`

	Seq int `json:"-"`
}

// RootURI returns an absolute folder as the root of a record.
func RootURI(folder string) string {
	slash := filepath.ToSlash(folder)
	if !strings.HasPrefix(slash, "/") {
		slash = "/" + slash // C:/x
	}
	return (&url.URL{Scheme: "file", Path: slash}).String()
}

// FolderOf returns the folder of a root in the form of this system, "" if the root is not a file URI.
func FolderOf(root string) string {
	u, err := url.Parse(root)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	p := u.Path
	if len(p) > 2 && p[0] == '/' && p[2] == ':' && filepath.Separator == '\\' {
		p = p[1:]
	}
	return filepath.FromSlash(p)
}

// RelativePath returns an absolute path in the form of a record of the folder.
func RelativePath(folder, abs string) string {
	if rel, err := filepath.Rel(folder, abs); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(abs)
}

// AbsolutePath returns the absolute path of a record's path, or "" if the path is invalid: relative without a root, or leaving the root.
func AbsolutePath(root, p string) string {
	if p == "" || strings.ContainsRune(p, 0) {
		return ""
	}
	if abs := filepath.FromSlash(p); filepath.IsAbs(abs) {
		return filepath.Clean(abs)
	}
	folder := FolderOf(root)
	if !filepath.IsAbs(folder) || !filepath.IsLocal(filepath.FromSlash(p)) {
		return ""
	}
	return filepath.Join(folder, filepath.FromSlash(path.Clean(p)))
}

// Paths returns the absolute paths of the changes in order, "" for an invalid path.
func (r *Record) Paths() []string {
	if r.paths != nil {
		return r.paths
	}
	return r.absolute()
}

func (r *Record) absolute() []string {
	paths := make([]string, len(r.Changes))
	for i, c := range r.Changes {
		paths[i] = AbsolutePath(r.Root, c.Path)
	}
	return paths
}

// Change returns the change at an absolute path.
func (r *Record) Change(abs string) (Change, bool) {
	if r.at != nil {
		i, ok := r.at[abs]
		if !ok {
			return Change{}, false
		}
		return r.Changes[i], true
	}
	for _, c := range r.Changes {
		if AbsolutePath(r.Root, c.Path) == abs {
			return c, true
		}
	}
	return Change{}, false
}

// index resolves the paths once: a record may have thousands, and is in several books, whose readers need no lock.
func (r *Record) index() {
	if r.at != nil {
		return
	}
	r.paths = r.absolute()
	r.at = make(map[string]int, len(r.paths))
	for i, p := range r.paths {
		if _, ok := r.at[p]; p != "" && !ok {
			r.at[p] = i
		}
	}
}

// excepts reports whether a rewind left an absolute path out.
func (r *Record) excepts(abs string) bool {
	return slices.ContainsFunc(r.Except, func(p string) bool { return AbsolutePath(r.Root, p) == abs })
}

// IsRewind reports whether the record was made by a rewind or a redo.
func (r *Record) IsRewind() bool { return len(r.Undoes) > 0 || len(r.Hunks) > 0 || r.Redoes != "" }

// ParseRecord decodes the data of an entry. load reads the content that a manifest names. A record of a newer version, or one whose
// manifest can't be read, is Unreadable. Data that is not a record is an error.
func ParseRecord(data json.RawMessage, load func(sha256 string) ([]byte, error)) (*Record, error) {
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		var v struct {
			V int `json:"v"`
		}
		if json.Unmarshal(data, &v) != nil || v.V <= Version {
			return nil, err
		}
		return &Record{V: v.V, Unreadable: true}, nil
	}
	if r.V > Version {
		r.Unreadable = true
		return &r, nil
	}
	if r.Manifest != "" {
		raw, err := load(r.Manifest)
		if err != nil || json.Unmarshal(raw, &r.Changes) != nil {
			r.Unreadable = true
		}
	}
	return &r, nil
}
