// Package early has what is known of a large session before its file is read whole: its newest messages and the state that
// entries near the end of the file determine.
package early

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

// View is the part of a session that was read from the end of its file. It does not change, and holds no file. It is safe
// for concurrent use.
type View struct {
	session.Tail
	File  string
	Bytes int64 // the size of the file

	recent recent // of the path, the newest entry first
}

// recent are the indexes of the entries of a path.
type recent []int

// Open reads the end of the session file at path. It returns nil if the file has at most that many bytes, if the session
// can be read whole as fast, or if too little is certain.
func Open(store *session.Store, path string, most int64) *View {
	info, err := store.Fs.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() <= most {
		return nil
	}
	t, ok, err := store.Newest(path, true)
	if !ok || err != nil { // reading the whole file reports the error
		return nil
	}
	v := &View{Tail: t, File: path, Bytes: info.Size()}
	for i := range t.Part.Len() {
		v.recent = append(v.recent, t.Part.Len()-1-i)
	}
	return v
}

// Knows reports whether a value of the context is known; see [session.Tail].
func (v *View) Knows(name string) bool { return !slices.Contains(v.Pending, name) }

// Newest returns the newest messages of the context that fit, oldest first, and what comes before them: in the context, or
// with history in the whole conversation.
func (v *View) Newest(l paging.Limits, history bool) ([]paging.Message, *paging.More) {
	return paging.Newest(v.Header.ID, v.Context.EntryIDs, v.Context.Messages, v.Whole(history), l)
}

// Whole reports whether all messages of the context are known, or with history those of the whole conversation.
func (v *View) Whole(history bool) bool {
	return v.Knows("messages") && (!history || !v.compacted())
}

// compacted reports whether the context begins with the summary of a compaction, which a system message may precede.
func (v *View) compacted() bool {
	messages := v.Context.Messages
	return slices.ContainsFunc(messages[:min(2, len(messages))], func(m json.RawMessage) bool {
		role, _ := rawjson.GetString(m, "role")
		return role == "compactionSummary"
	})
}

// Last returns the newest entry on the path with one of the types, of those that were read. ok is false if there is none.
func (v *View) Last(types ...session.Type) (e session.Entry, ok bool) {
	for _, i := range v.recent {
		if slices.Contains(types, v.Part.Type(i)) {
			e, err := v.Part.Entry(i)
			return e, err == nil
		}
	}
	return e, false
}

// Shows reports whether the messages of v are the newest of the context at a leaf of d, which is the session read whole.
func (v *View) Shows(d *session.Document, leaf session.Leaf, blobs session.BlobSource) (bool, error) {
	if d.Header().ID != v.Header.ID || d.Dialect() != v.Part.Dialect() || d.LeafID(leaf) != v.LeafID {
		return false, nil
	}
	newest, count, err := newestOf(d, leaf, blobs, len(v.Context.Messages))
	if err != nil || v.Knows("messages") && count != len(v.Context.Messages) {
		return false, err
	}
	return slices.EqualFunc(newest, v.Context.Messages, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }), nil
}

// newestOf returns the newest n messages of the context at a leaf, and the number of all. It keeps no others in memory.
func newestOf(d *session.Document, leaf session.Leaf, blobs session.BlobSource, n int) (newest []json.RawMessage, count int, err error) {
	state, err := d.ContextState(leaf)
	if err != nil {
		return nil, 0, err
	}
	if count = state.MessageCount; count < n {
		return nil, count, nil
	}
	if d.Dialect() != session.Omp { // whose messages depend on each other
		return newestPlaces(d, leaf, blobs, n, count)
	}
	_, all, err := session.StreamContext(d, leaf, blobs)
	if err != nil {
		return nil, count, err
	}
	at := 0
	for m, err := range all {
		if err != nil {
			return nil, count, err
		}
		if at++; at > count-n {
			newest = append(newest, bytes.Clone(m))
		}
	}
	return newest, count, nil
}

func newestPlaces(d *session.Document, leaf session.Leaf, blobs session.BlobSource, n, count int) (newest []json.RawMessage, _ int, err error) {
	c, err := paging.Open(d, leaf, blobs)
	if err != nil {
		return nil, count, err
	}
	for place := c.Len() - 1; place >= 0 && len(newest) < n; place-- {
		m, err := c.Message(place)
		if err != nil {
			return nil, count, err
		}
		if m != nil {
			newest = append(newest, m)
		}
	}
	slices.Reverse(newest)
	return newest, count, nil
}
