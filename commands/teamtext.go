package commands

import (
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// Texts of the store were written by other users. They are shown in one line, without control characters, and no longer than these
// numbers of UTF-16 units.
const (
	maxTeamName  = 80   // of a user, a device or a team
	maxTeamTitle = 200  // of a title or an id
	maxTeamText  = 2000 // of a first message
)

// teamLine returns one line of a text of the store.
func teamLine(s string, most int) string {
	return visible.Line(rawjson.UTF16Prefix(strings.ToValidUTF8(s, "\uFFFD"), most))
}

// maxTeamLines is the largest number of lines of a question about the store.
const maxTeamLines = 60

// teamLines returns a text of several lines in which nothing is hidden.
func teamLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = teamLine(strings.TrimSuffix(lines[i], "\r"), maxTeamText)
	}
	return strings.Join(lines[:min(len(lines), maxTeamLines)], "\n")
}

// maxSID is the length of the longest id of a session in the store.
const maxSID = 64

// validSID reports whether s can be the id of a session in the store. Such an id is part of a document's address.
func validSID(s string) bool {
	if s == "" || len(s) > maxSID {
		return false
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return false
		}
	}
	return true
}

// remoteInfo returns what is shown of a session of the store without a file here. ok is false for one that cannot be shown.
func remoteInfo(i library.Info) (_ library.Info, ok bool) {
	if i.Team == nil || !validSID(i.Team.SID) {
		return i, false
	}
	t := *i.Team
	t.Remote, t.Unsent = true, 0
	t.Owner, t.Writer, t.Visible = teamLine(t.Owner, maxTeamName), teamLine(t.Writer, maxTeamName), teamLine(t.Visible, maxTeamName)
	i.Team, i.Path, i.Live, i.LockedBy = &t, "", false, ""
	for text, most := range map[*string]int{
		&i.ID: maxTeamTitle, &i.Slug: maxTeamTitle, &i.Cwd: maxTeamText, &i.Title: maxTeamTitle, &i.Name: maxTeamTitle, &i.FirstMessage: maxTeamText,
		&i.Created: maxTeamName, &i.Modified: maxTeamName, &i.TimeAgo: maxTeamName, &i.ParentSession: maxTeamTitle, &i.Origin: maxTeamName, &i.EntryID: maxTeamTitle,
	} {
		*text = teamLine(*text, most)
	}
	if i.Name == "" {
		i.Name = t.SID
	}
	if i.ModTime.IsZero() {
		i.ModTime, _ = time.Parse(time.RFC3339, i.Modified) // otherwise it is the oldest
	}
	if i.Snippet != nil {
		i.Snippet = remoteSnippet(*i.Snippet)
	}
	return i, true
}

// remoteSnippet returns a snippet whose ranges are within its text.
func remoteSnippet(s library.Snippet) *library.Snippet {
	text := teamLine(s.Text, maxTeamText)
	if text != s.Text {
		return &library.Snippet{Text: text, Ranges: [][2]int{}} // the ranges are those of another text
	}
	units, within := rawjson.UTF16Len(text), [][2]int{}
	for _, r := range s.Ranges {
		if 0 <= r[0] && r[0] < r[1] && r[1] <= units {
			within = append(within, r)
		}
	}
	return &library.Snippet{Text: text, Ranges: within}
}

// teamProblem returns an error of the store as a problem of a list, which shows the rest. ok is false for any other error.
func teamProblem(err error) (_ session.Problem, ok bool) {
	kind := fault.KindOf(err)
	if kind != fault.Offline && kind != fault.Refused {
		return session.Problem{}, false
	}
	return session.Problem{Kind: session.ProblemKind(kind), Message: fault.OneLine(err.Error())}, true
}
