package teamtest

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/xcsh-ls/xcsh-ls/team"
)

// Said implements [team.Store].
func (s *Store) Said(ctx context.Context, sid team.SID, from, to int64, t []team.Text) error {
	return s.locked(ctx, func(v *Server, u *user) error {
		c := v.mayLocked(u, sid, 2)
		if c == nil {
			if len(t) == 0 {
				return nil
			}
			return team.DeniedSession(sid)
		}
		c.texts = slices.DeleteFunc(slices.Clone(c.texts), func(t team.Text) bool { return t.Off >= from && t.Off < to })
		for _, text := range t {
			text.Entry, text.Body = team.PlainText(text.Entry), team.PlainText(text.Body)
			c.texts = append(c.texts, text)
		}
		return nil
	})
}

// Search implements [team.Store]. It knows words, phrases in quotes, and words after a minus.
func (s *Store) Search(ctx context.Context, projects []int, query string, limit int) (hits []team.Hit, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		var found []*sharedSession
		for _, c := range v.sessions {
			if slices.Contains(projects, c.project) && v.mayLocked(u, c.sid, 1) != nil {
				found = append(found, c)
			}
		}
		slices.SortFunc(found, func(a, b *sharedSession) int { return b.modified.Compare(a.modified) })
		for _, c := range found {
			texts := slices.Clone(c.texts)
			slices.SortStableFunc(texts, func(a, b team.Text) int { return int(b.Off - a.Off) })
			for _, t := range texts {
				if excerpt, ok := matches(t.Body, team.PlainText(query)); ok && len(hits) < limit {
					hits = append(hits, team.Hit{SID: c.sid, Off: t.Off, Kind: t.Kind, Entry: t.Entry, Excerpt: excerpt})
				}
			}
		}
		return nil
	})
	return hits, err
}

// term is a part of a query: a word or a phrase, and its minus.
var term = regexp.MustCompile(`(-?)(?:"([^"]*)"|(\S+))`)

// matches reports whether a text matches a query, and returns it with the first words marked.
func matches(text, query string) (excerpt string, ok bool) {
	words := " " + strings.Join(split(text), " ") + " "
	excerpt = text
	for _, m := range term.FindAllStringSubmatch(query, -1) {
		wanted := split(m[2] + m[3])
		if len(wanted) == 0 {
			continue
		}
		if strings.Contains(words, " "+strings.Join(wanted, " ")+" ") == (m[1] == "-") {
			return "", false
		}
		for _, w := range wanted {
			excerpt = regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(w)+`\b`).ReplaceAllString(excerpt, "<b>$0</b>")
		}
		ok = ok || m[1] == ""
	}
	return excerpt, ok
}

// split returns the words of a text in small letters.
func split(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
