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
	said    map[int]bool // the messages that contain secrets, by their numbers from 0
	found   bool         // in the current entry
	done    bool

	collecting bool     // of a part of the entries: secrets are only listed
	list       []secret // in the order of the entries
}

// secret is a secret that can be recognized when it stands alone.
type secret struct{ text, kind string }

// mostLearned is the maximum number of secrets to search for in the whole document.
const mostLearned = 100

// learn reads d once, so that the scanner recognizes each secret everywhere in the document. It
// stops at an error of the messages or entries; rendering fails with the same error.
func (r *Redactor) learn(d Doc) {
	r.learned = &learned{secrets: map[string]string{}, entries: map[int]bool{}, said: map[int]bool{}}
	r.to = &report{}
	for _, text := range []string{d.Title, d.SystemPrompt} {
		r.Text(text)
	}
	r.JSON(d.Header)
	r.learnAll(d.messages(), func(n int) { r.learned.said[n] = true })
	r.learnAll(d.entries(), func(n int) { r.learned.entries[n] = true })
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
		if s := (secret{text[f.From:f.To], f.Kind}); !f.Doubtful && len(l.secrets) < mostLearned && redact.IsLearnable(s.text) {
			l.add(s)
		}
	}
}

// add records a secret unless there are too many.
func (l *learned) add(s secret) {
	switch {
	case l.collecting:
		l.list = append(l.list, secret{strings.Clone(s.text), s.kind}) // the rest of the text is not kept
	case len(l.secrets) < mostLearned:
		l.secrets[strings.Clone(s.text)] = s.kind // an assignment replaces a known key, too
	}
}

// isSaid reports whether message n may contain a secret. A secret that was learned may be encoded in any of them.
func (l *learned) isSaid(n int) bool { return l.said[n] || len(l.secrets) > 0 }

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
