package session

import (
	"context"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/internal/own"
)

// A title has three places. xcsh reads the header; pi the newest session_info entry; omp the
// slot before the header, which hides the other two. In a file that follows xcsh's rules both
// the header and an entry are written, so that pi's list shows the title too. xcsh and omp
// ignore the entry.
//
// A header has no time. So that the newer of two different titles wins, an entry that
// repeats the header's title says so (see [own.Title]): then whatever the header holds is as
// new or newer. An entry that does not is a later rename by pi.

// draftSessionInfo records a title in pi's form. inHeader says that the header has it too.
func draftSessionInfo(name string, inHeader bool) *Draft {
	d := draft(TypeSessionInfo).str("name", name)
	if inHeader {
		d.raw(own.TitleInHeader, []byte("true"))
	}
	return d
}

// EntryTitle returns the title in a session_info entry, and whether the entry only repeats the title of the header.
func EntryTitle(raw []byte) (title string, repeated bool) { return own.Title(raw) }

// noteTitle records the title of a session_info entry, unless omp's slot hides it.
func (d *Document) noteTitle(t Type, raw []byte) {
	if t != TypeSessionInfo || d.hasSlot {
		return
	}
	name, repeated := own.Title(raw)
	d.named, d.piName = true, name
	switch {
	case repeated && d.header.HasTitle:
		d.title = Title{Text: d.header.Title, Source: d.header.TitleSource}
	case name == "":
		d.title = Title{}
	default:
		d.title = Title{Text: name, Source: "user"} // pi's names always come from a user
	}
}

// SetTitle sets the session's title where the programs that may read the file look for it:
// the header and a session_info entry, omp's title slot, or in pi's files the entry alone. It
// cleans the text; an empty one is an InvalidArgument error. An automatic title never
// replaces one that the user set: then changed is false.
func (l *Log) SetTitle(title Title) (changed bool, err error) {
	if title.Text = CleanTitle(title.Text); title.Text == "" {
		return false, fault.New(fault.InvalidArgument, "A session title cannot be empty.").With("field", "title")
	}
	if err := l.settle(context.Background()); err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.writable(); err != nil {
		return false, err
	}
	if err := l.sync(); err != nil {
		return false, err
	}
	if err := l.writable(); err != nil {
		return false, err
	}
	if l.doc.title.Source == "user" && title.Source == "auto" {
		return false, nil
	}
	return l.storeTitle(title)
}

func (l *Log) storeTitle(title Title) (changed bool, err error) {
	if l.revived() {
		if err := l.create(); err != nil {
			return false, err
		}
	}
	switch {
	case l.doc.hasSlot && l.path != "" && !l.pending:
		previous := l.doc.title.Text
		if changed, err = l.overwriteSlot(title); err != nil || !changed {
			return false, err
		}
		err = l.record(draftTitleChange(title, previous))
	case l.form() == Pi:
		err = l.record(draftSessionInfo(title.Text, false))
	default:
		if err = l.titleInHeader(title); err == nil && l.doc.piName != title.Text && l.showsInPi() {
			// After the header: without its entry a new title is only missing in pi's list.
			err = l.record(draftSessionInfo(title.Text, true))
		}
	}
	if err == nil {
		l.doc.title = title
	}
	return err == nil, err
}

// record adds an entry and writes it.
func (l *Log) record(d *Draft) error {
	l.add(d)
	l.latch(l.persist(false))
	return l.err
}

// titleInHeader replaces the title in the header, which rewrites the file.
func (l *Log) titleInHeader(title Title) error {
	header := rawjson.SetString(l.doc.HeaderLine(), "title", title.Text)
	if title.Source != "" {
		header = rawjson.SetString(header, "titleSource", title.Source)
	}
	if l.path == "" || l.pending {
		l.doc.header, _ = ParseHeader(header)
		return nil
	}
	if err := l.rewrite(header); err != nil {
		return err
	}
	l.latch(nil) // a rewrite writes whatever was missing
	return nil
}

// showsInPi reports whether an entry of pi's may be added to a session whose title is in its
// header. In a file that only its content makes xcsh's, the first such entry would turn it
// into pi's.
func (l *Log) showsInPi() bool {
	if l.doc.named {
		return true
	}
	marks := l.doc.marks
	marks.pi = true
	return l.form() == Xcsh && GuessDialect(l.doc.hasSlot, l.doc.header, marks) == l.doc.dialect
}

// titleForPi adds the entry that shows the session's title in pi's list, if the session has a
// title in its header only: that of a new session, or of a copy. A failure to write it is
// only logged, since the next append tries again.
func (l *Log) titleForPi() {
	l.mu.Lock()
	defer l.mu.Unlock()
	title := l.doc.title
	if title.Text == "" || l.doc.piName == title.Text || !l.doc.header.HasTitle || !l.showsInPi() {
		return
	}
	err := l.record(draftSessionInfo(title.Text, true))
	if err != nil {
		l.store.Log.Warn("pi cannot show the title of a session", zap.String("path", l.path), zap.Error(err))
	}
}
