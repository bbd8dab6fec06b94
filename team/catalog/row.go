package catalog

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
)

// The longest texts of a row, in characters.
const (
	maxTitle = 200
	maxName  = 64
	maxID    = 200
)

// row is a session of the store, with bounded texts that can be shown.
type row struct {
	team.Info
	seen time.Time // by the clock of this machine
}

// newRow returns a session that the store returned.
func newRow(i team.Info, now time.Time) row {
	i.Title, i.FirstPrompt = line(i.Title, maxTitle), visible.Text(short(i.FirstPrompt, maxTitle))
	i.Owner, i.Writer, i.HeaderID = line(i.Owner, maxName), line(i.Writer, maxName), line(i.HeaderID, maxID)
	i.Messages, i.Bytes, i.Variant = max(0, i.Messages), max(0, i.Bytes), max(0, i.Variant)
	i.Created, i.Modified = bounded(i.Created), bounded(i.Modified)
	if math.IsNaN(i.Cost) || math.IsInf(i.Cost, 0) || i.Cost < 0 {
		i.Cost = 0
	}
	if i.Dialect > session.Omp {
		i.Dialect = session.Xcsh
	}
	return row{i, now}
}

// line returns the beginning of a text on one line, without characters that cannot be seen.
func line(text string, most int) string { return visible.Line(short(strings.TrimSpace(text), most)) }

// short cuts a text to a number of characters.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n := 0
	for i := range text {
		if n++; n > most {
			return strings.ToValidUTF8(text[:i], string(utf8.RuneError))
		}
	}
	return text
}

// bounded returns a time whose year has four digits.
func bounded(t time.Time) time.Time {
	if y := t.Year(); y < 1970 || y > 9999 {
		return time.Unix(0, 0).UTC()
	}
	return t.UTC()
}

// after orders rows: the session that was modified last comes first.
func after(a, b row) int {
	if c := b.Modified.Compare(a.Modified); c != 0 {
		return c
	}
	return strings.Compare(b.SID.String(), a.SID.String())
}

// same reports whether a list shows two rows alike. The time that a writer has left passes by itself.
func (r row) same(o row) bool {
	r.WriterLeft, o.WriterLeft, r.seen, o.seen = 0, 0, time.Time{}, time.Time{}
	if !r.Modified.Equal(o.Modified) || !r.Created.Equal(o.Created) {
		return false
	}
	r.Modified, r.Created, o.Modified, o.Created = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	return r == o
}

// teamOf describes a session of the store. s is the state of its file here, the zero State without one.
func (c *Catalog) teamOf(r row, s publish.State) *library.Team {
	t := &library.Team{SID: r.SID.String(), Owner: r.Owner, Variant: r.Variant, Visible: "me", Deleted: r.Deleted}
	if r.Visible == team.Shared {
		t.Visible = "team"
	}
	if left := r.WriterLeft - c.c.Clock.Now().Sub(r.seen); r.Writer != "" && left > 0 {
		t.Writer, t.WriterLeftMs = r.Writer, left.Milliseconds()
	}
	if s.SID != r.SID {
		return t
	}
	t.Unsent, t.Newer = s.Unsent, s.Newer
	if s.Phase == publish.Sent {
		t.Newer = max(0, r.Bytes-s.Agreed)
	}
	return t
}

// info describes a session without a file here.
func (c *Catalog) info(r row) library.Info {
	i := library.Info{
		ID: r.HeaderID, Title: r.Title, FirstMessage: r.FirstPrompt, MessageCount: r.Messages, Size: r.Bytes,
		Created: session.FormatTime(r.Created), ModTime: r.Modified, Origin: r.Dialect.String(), Team: c.teamOf(r, publish.State{}),
	}
	i.Team.Remote = !c.c.Local(r.SID)
	return library.DescribeRemote(i, c.c.Clock.Now())
}
