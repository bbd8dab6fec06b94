package export

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

// Redactor replaces secrets in a document as it is read. It is for one document at a time. The zero value is ready to
// use.
type Redactor struct {
	// Scanner finds the secrets. Nil means a scanner without the user's own keys.
	Scanner *redact.Scanner
	// Doubtful also replaces strings that are not certain to be a secret.
	Doubtful bool

	learned *learned
	about   report // about everything except the messages and the entries
	said    report // about the messages, in the latest pass
	entries report // about the entries, in the latest pass
	to      *report
	at      string          // the current position in the document
	names   map[string]bool // results of redact.IsName
	tokens  []edit          // reused
	text    []byte          // reused for decoded texts
	rounds  int             // limit of Line; 0: mostRounds. Only tests change it.
}

// Doc returns d without its secrets.
func (r *Redactor) Doc(d Doc) Doc {
	r.learn(d)
	r.about, r.said, r.entries = report{}, report{}, report{}
	r.to = &r.about
	d.Header = r.jsonAt("header", d.Header)
	d.Title, d.SystemPrompt = r.TextAt("title", d.Title), r.TextAt("system prompt", d.SystemPrompt)
	d.Model, d.FileName = r.TextAt("model", d.Model), r.TextAt("file name", d.FileName)
	tools := slices.Clone(d.Tools)
	for i, t := range tools {
		tools[i] = Tool{Name: t.Name, Description: r.TextAt("tools", t.Description), Parameters: r.jsonAt("tools", t.Parameters)}
	}
	labels := make(map[string]string, len(d.Labels))
	for id, label := range d.Labels {
		labels[id] = r.TextAt("labels", label)
	}
	d.Tools, d.Labels = tools, labels
	d.Messages = r.messages(d.messages())
	d.Entries = r.all(d.entries())
	d.Redacted = r.Counts
	return d
}

func (r *Redactor) all(entries iter.Seq2[json.RawMessage, error]) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		r.entries = report{}
		r.to = &r.entries
		n := 0
		for raw, err := range entries {
			if err == nil && r.learned.isIn(n, raw) {
				raw = r.jsonAt("", raw)
			}
			if !yield(raw, err) {
				return
			}
			n++
		}
	}
}

// messages yields messages without their secrets. They have no ids, so they are counted.
func (r *Redactor) messages(messages iter.Seq2[json.RawMessage, error]) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		r.said = report{}
		r.to = &r.said
		n := 0
		for raw, err := range messages {
			n++
			if err == nil && r.learned.isSaid(n-1) {
				raw = r.jsonAt("message "+strconv.Itoa(n), raw)
			}
			if !yield(raw, err) {
				return
			}
		}
	}
}

// TextAt is [Redactor.Text] for the text at a position in the document.
func (r *Redactor) TextAt(at, s string) string {
	r.at = at
	return r.Text(s)
}

// jsonAt is [Redactor.JSON] for the value at a position in the document. Without a position, the value is an entry.
func (r *Redactor) jsonAt(at string, v []byte) []byte {
	r.at = at
	if at == "" {
		id, _ := rawjson.GetString(v, "id")
		r.at = "entry " + id
	}
	return r.JSON(v)
}

// Text returns s without its secrets.
func (r *Redactor) Text(s string) string { return r.replaced("", s) }

// replaced returns the text that is the value of name without its secrets.
func (r *Redactor) replaced(name, s string) string {
	var found []redact.Finding
	if name == "" {
		found = r.scanner().Scan(s)
	} else {
		found = r.scanner().Named(name, s)
	}
	if found = redact.Settled(s, found); len(found) == 0 {
		return s
	}
	if r.to == nil {
		r.to = &r.about
	}
	r.learned.note(s, found)
	r.to.note(r.at, s, found, r.Doubtful)
	if !r.Doubtful {
		found = slices.DeleteFunc(found, func(f redact.Finding) bool { return f.Doubtful })
	}
	return redact.Replace(s, found)
}

func (r *Redactor) scanner() *redact.Scanner {
	if r.Scanner == nil {
		r.Scanner = redact.NewScanner()
	}
	return r.Scanner
}

// isName is [redact.IsName] with a cache, because sessions use few different names.
func (r *Redactor) isName(name string) bool {
	is, known := r.names[name]
	if known {
		return is
	}
	const most = 1000
	if r.names == nil || len(r.names) == most {
		r.names = map[string]bool{}
	}
	is = redact.IsName(name)
	r.names[strings.Clone(name)] = is
	return is
}

// edit replaces a string in a JSON text.
type edit struct {
	from, to int
	text     []byte
}

// JSON returns v without the secrets in its strings. All other bytes are unchanged; without secrets the result is
// v itself.
func (r *Redactor) JSON(v []byte) []byte {
	r.tokens = r.tokens[:0]
	var w names
	for i := 0; ; {
		at := bytes.IndexByte(v[i:], '"')
		if at < 0 {
			break
		}
		start := i + at
		if i = stringEnd(v, start); i == len(v) && !rawjson.Valid(v[start:]) {
			break // the string has no end
		}
		if changed, ok := r.token(&w, v[start:i], isKey(v[i:])); ok {
			r.tokens = append(r.tokens, edit{start, i, changed})
		}
	}
	if len(r.tokens) == 0 {
		return v
	}
	var out []byte
	done := 0
	for _, e := range r.tokens {
		out = append(append(out, v[done:e.from]...), e.text...)
		done = e.to
	}
	return append(out, v[done:]...)
}

// leastText is the minimum length of a JSON string that is scanned if its name is not that of a secret.
const leastText = 8

// token returns a JSON string without its secrets; ok is false if it is unchanged.
func (r *Redactor) token(w *names, token []byte, isKey bool) (changed []byte, ok bool) {
	name := w.name()
	if isKey {
		w.key, name = keyOf(token), ""
	}
	if len(token) < leastText+2 && (name == "" || !r.isName(name)) {
		w.saw(token, isKey)
		return nil, false
	}
	s, ok := rawjson.StringIn(token, &r.text)
	w.saw(token, isKey)
	if !ok || s == "" {
		return nil, false
	}
	if name != "" && !r.isName(name) {
		name = ""
	}
	text := r.replaced(name, s)
	if text == s {
		return nil, false
	}
	return rawjson.Quote(text), true
}

// keyOf returns the name in a key, at most 80 characters of it. It shares the memory of the key if that has no escapes.
func keyOf(token []byte) string {
	const most = 80
	if len(token) <= most && bytes.IndexByte(token, '\\') < 0 {
		key, _ := rawjson.StringIn(token, new([]byte))
		return key
	}
	key, _ := rawjson.StringPrefix(token, most)
	return key
}

// names tracks the names of the values in a JSON text.
type names struct {
	key  string
	prev string // the name from the previous string: an option such as --token, or the value of "name"
	pair bool   // prev is the value of "name" and applies to "value"
}

// name returns the name of the next value.
func (w *names) name() string {
	if w.prev != "" && (!w.pair || w.key == "value") {
		return w.prev
	}
	return w.key
}

// saw records a string of the JSON text.
func (w *names) saw(token []byte, isKey bool) {
	if isKey {
		if !w.pair {
			w.prev = ""
		}
		return
	}
	w.prev, w.pair = "", false
	const longest = 80
	if len(token) > longest || len(token) < 4 {
		return
	}
	switch s := token[1 : len(token)-1]; {
	case w.key == "name" || w.key == "key" || w.key == "Name" || w.key == "Key":
		w.prev, w.pair = string(s), true
	case s[0] == '-' && !bytes.ContainsAny(s, "= "):
		w.prev = strings.TrimLeft(string(s), "-")
	}
}

// stringEnd returns the end of the string that begins at v[start].
func stringEnd(v []byte, start int) int {
	for i := start + 1; i < len(v); {
		n := bytes.IndexByte(v[i:], '"')
		if n < 0 {
			break
		}
		end := i + n
		slashes := 0
		for v[end-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end + 1
		}
		i = end + 1
	}
	return len(v)
}

// isKey reports whether the string in front of rest is the key of a member.
func isKey(rest []byte) bool {
	for len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\n') {
		rest = rest[1:]
	}
	return len(rest) > 0 && rest[0] == ':'
}

// redactedText returns a sentence about the replacements, "" if there were none.
func redactedText(counts map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] > 0 {
			parts = append(parts, name+" ×"+strconv.Itoa(counts[name]))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Secrets were replaced: " + strings.Join(parts, ", ") + "."
}
