package export

import (
	"bytes"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

// learned is the result of a first pass over a document: the secrets that can be recognized
// without their context, such as a password from a prompt that a tool prints later, and the
// entries that contain secrets.
type learned struct {
	secrets map[string]string // to their kinds
	entries map[int]bool
	found   bool // in the current entry
	done    bool
}

// mostLearned is the maximum number of secrets to search for in the whole document.
const mostLearned = 100

// learn reads d once, so that the scanner recognizes each secret everywhere in the document. It
// stops at an error of the messages or entries; rendering fails with the same error.
func (r *Redactor) learn(d Doc) {
	r.learned = &learned{secrets: map[string]string{}, entries: map[int]bool{}}
	r.to = &report{}
	for _, text := range []string{d.Title, d.SystemPrompt} {
		r.Text(text)
	}
	r.JSON(d.Header)
	for m, err := range d.messages() {
		if err != nil {
			break
		}
		r.JSON(m)
	}
	n := 0
	for raw, err := range d.entries() {
		if err != nil {
			break
		}
		r.learned.found = false
		r.JSON(raw)
		if r.learned.found {
			r.learned.entries[n] = true
		}
		n++
	}
	r.learned.done = true
	if len(r.learned.secrets) > 0 {
		r.Scanner = r.scanner().Learned(r.learned.secrets)
	}
}

// note records findings during the first pass.
func (l *learned) note(text string, found []redact.Finding) {
	if l == nil || l.done {
		return
	}
	l.found = true
	for _, f := range found {
		secret := text[f.From:f.To]
		if !f.Doubtful && len(l.secrets) < mostLearned && redact.IsLearnable(secret) {
			l.secrets[secret] = f.Kind
		}
	}
}

// isIn reports whether entry n may contain a secret.
func (l *learned) isIn(n int, raw []byte) bool {
	if l.entries[n] {
		return true
	}
	for secret := range l.secrets {
		// JSON may escape these characters.
		if plain := strings.IndexAny(secret, "<>&/"); plain > 3 {
			secret = secret[:plain]
		}
		if bytes.Contains(raw, []byte(secret)) {
			return true
		}
	}
	return false
}
