package export

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// Redactor replaces secrets in a document as it is read. It finds what looks like a credential of a known kind, and
// what a name calls one; it cannot find a password that looks like any other word. The zero value is ready to
// use, for one document at a time.
type Redactor struct {
	about   map[string]int // in everything but the entries
	entries map[string]int // in the entries, of the pass that began last
	counts  map[string]int // that a replacement adds to
}

// Doc returns d as it is without its secrets.
func (r *Redactor) Doc(d Doc) Doc {
	r.about, r.entries = map[string]int{}, map[string]int{}
	r.counts = r.about
	d.Header = r.JSON(d.Header)
	d.Title, d.SystemPrompt = r.Text(d.Title), r.Text(d.SystemPrompt)
	tools := slices.Clone(d.Tools)
	for i, t := range tools {
		tools[i] = Tool{Name: t.Name, Description: r.Text(t.Description), Parameters: r.JSON(t.Parameters)}
	}
	labels := make(map[string]string, len(d.Labels))
	for id, label := range d.Labels {
		labels[id] = r.Text(label)
	}
	d.Tools, d.Labels = tools, labels
	d.Entries = r.all(d.entries())
	d.Redacted = r.Counts
	return d
}

func (r *Redactor) all(entries iter.Seq2[json.RawMessage, error]) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		r.entries = map[string]int{}
		r.counts = r.entries
		for raw, err := range entries {
			if !yield(r.JSON(raw), err) {
				return
			}
		}
	}
}

// Counts returns how many secrets of each kind were replaced, once the entries were read.
func (r *Redactor) Counts() map[string]int {
	sum := maps.Clone(r.about)
	for name, n := range r.entries {
		sum[name] += n
	}
	return sum
}

// JSON returns v without the secrets in its strings. Every other byte is the same; when there are none, v itself.
func (r *Redactor) JSON(v []byte) []byte {
	if !mayHoldSecret(v) {
		return v
	}
	var out []byte
	done := 0
	var key string
	for i := 0; ; {
		at := bytes.IndexByte(v[i:], '"')
		if at < 0 {
			break
		}
		start := i + at
		end := stringEnd(v, start)
		token := v[start:end]
		i = end
		if isKey(v[end:]) {
			key, _ = rawjson.StringPrefix(token, 80)
			continue // a key is a name, not a place for a secret
		}
		if changed, ok := r.value(key, token); ok {
			out = append(append(out, v[done:start]...), changed...)
			done = end
		}
		key = ""
	}
	if done == 0 {
		return v
	}
	return append(out, v[done:]...)
}

// value returns the string token, the value of key, without its secrets.
func (r *Redactor) value(key string, token []byte) (changed []byte, ok bool) {
	if key == "" && !mayHoldSecret(token) {
		return nil, false
	}
	s, ok := rawjson.String(token)
	if !ok {
		return nil, false
	}
	if isSecretName(key) && looksSecret(s) && !strings.ContainsAny(s, " \n") {
		r.counts[namedSecret]++
		return rawjson.Quote(replacement(namedSecret)), true
	}
	if key == "data" && len(s) > 1000 && strings.IndexByte(s, ' ') < 0 {
		return nil, false // an image, in which anything can turn up by chance
	}
	text := r.Text(s)
	if text == s {
		return nil, false
	}
	return rawjson.Quote(text), true
}

// stringEnd returns where the string that begins at v[start] ends.
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
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// Text returns s without its secrets.
func (r *Redactor) Text(s string) string {
	if s == "" {
		return s
	}
	for _, k := range secrets() {
		s = r.replace(k, s)
	}
	return r.named(s)
}

func (r *Redactor) replace(k secret, s string) string {
	if k.also != "" && !strings.Contains(s, k.also) || !slices.ContainsFunc(k.hints, func(h string) bool { return strings.Contains(s, h) }) {
		return s
	}
	var out strings.Builder
	done := 0
	for _, m := range k.pattern.FindAllStringSubmatchIndex(s, -1) {
		from, to := m[2*k.group], m[2*k.group+1]
		if strings.HasPrefix(s[from:to], replacedBy) {
			continue
		}
		out.WriteString(s[done:from])
		out.WriteString(replacement(k.name))
		r.counts[k.name]++
		done = to
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}

// named replaces the values of assignments to names of secrets, in whatever language: a name, a colon or an equals
// sign, perhaps quotes, and the value.
func (r *Redactor) named(s string) string {
	var out strings.Builder
	done := 0
	for i := 0; i < len(s); {
		n := strings.IndexAny(s[i:], "=:")
		if n < 0 {
			break
		}
		at := i + n
		i = at + 1
		if !isSecretName(nameBefore(s[:at])) {
			continue
		}
		from, to := valueAfter(s, at+1)
		if from < done || !looksSecret(s[from:to]) {
			continue
		}
		out.WriteString(s[done:from])
		out.WriteString(replacement(namedSecret))
		r.counts[namedSecret]++
		done, i = to, to
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}

// nameBefore returns the word that s ends with, quotes and spaces behind it not counted.
func nameBefore(s string) string {
	s = s[max(0, len(s)-80):]
	s = strings.TrimRight(s, " \t\"'`\\")
	return s[strings.LastIndexFunc(s, func(c rune) bool {
		return c != '_' && c != '-' && (c < '0' || '9' < c) && (c < 'A' || 'Z' < c) && (c < 'a' || 'z' < c)
	})+1:]
}

// valueAfter returns where the value that is assigned at s[i] begins and ends.
func valueAfter(s string, i int) (from, to int) {
	for i < len(s) && strings.IndexByte(" \t=\\\"'`", s[i]) >= 0 {
		i++
	}
	n := strings.IndexAny(s[i:], " \t\r\n\"'`,;&|\\")
	if n < 0 {
		n = len(s) - i
	}
	return i, i + n
}

// mayHoldSecret reports whether it is worth looking for secrets in v.
func mayHoldSecret(v []byte) bool {
	for _, k := range secrets() {
		for _, h := range k.hints {
			if bytes.Contains(v, []byte(h)) {
				return true
			}
		}
	}
	return nameHint(v)
}

// nameHint reports whether v holds what every name of a secret holds.
func nameHint(v []byte) bool {
	for i := range v {
		switch v[i] | 0x20 {
		case 'k', 's', 't', 'p', 'c':
			for _, h := range nameHints {
				if len(v)-i >= len(h) && strings.EqualFold(string(v[i:i+len(h)]), h) {
					return true
				}
			}
		}
	}
	return false
}

var nameHints = []string{"key", "secret", "token", "passw", "passphrase", "dbpass", "db_pass", "credential"}

// redactedText says what was replaced, "" when nothing was.
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
