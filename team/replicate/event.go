package replicate

import (
	"fmt"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
)

// EventKind is the kind of an [Event].
type EventKind int

// The kinds of events, with the fields that they set beside Path and SID.
const (
	StateChanged  EventKind = iota // State, Unsent; neither Path nor SID
	WriterChanged                  // Owner, Device: another device writes the session
	Forked                         // Origin, By, Device, At: the file is now the fork SID of Origin, which By continued
	Gone                           // Err: the session was deleted from the store, or may not be written
	Failed                         // Err: the session is not sent for a reason that does not pass
	Titled                         // Title: a user chose another title in the store
)

// Event is a change that users are notified of.
type Event struct {
	Kind   EventKind
	Path   string // of the session file; "" if it is not known
	SID    team.SID
	Origin team.SID

	State  string // see [Status]
	Unsent int    // sessions

	Owner, By, Device string
	At                time.Time
	Title             string
	Err               error
}

func (e Event) key() string { return fmt.Sprint(e.State, e.Unsent) }

// published passes on an event of the publisher.
func (r *Replicator) published(e publish.Event) {
	event := Event{Path: e.Path, SID: e.SID, Origin: e.Origin, Title: e.Title, Err: e.Err, At: r.c.Clock.Now()}
	switch e.Kind {
	case publish.Forked:
		event.Kind = Forked
		event.By, event.Device = r.lastWriter(e.Origin)
	case publish.Titled:
		event.Kind = Titled
	default:
		event.Kind = Failed
		if fault.Is(e.Err, fault.NotFound) {
			event.Kind = Gone
		}
	}
	r.c.Event(event)
}

// lastWriter returns the user and the device that wrote a session last, "" if that takes too long.
func (r *Replicator) lastWriter(sid team.SID) (owner, device string) {
	ctx, cancel := r.limited(r.life, turnWait)
	defer cancel()
	store, _, err := r.Connected(ctx)
	if err != nil {
		return "", ""
	}
	w, err := store.Writer(ctx, sid)
	if err != nil {
		return "", ""
	}
	return w.Owner, w.Label
}
