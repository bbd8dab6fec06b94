package commands

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	exporter "github.com/xcsh-ls/xcsh-ls/session/export"
)

// FollowScheme is the scheme of the documents of followed sessions: xcsh-team:/SID.md.
const FollowScheme = "xcsh-team"

// FollowURI returns the address of the document of a session of the store.
func FollowURI(sid string) string { return FollowScheme + ":/" + sid + ".md" }

// followedSID is the inverse of [FollowURI]. Clients may add an empty host.
func followedSID(uri string) (sid string, ok bool) {
	rest, ok := strings.CutPrefix(uri, FollowScheme+":")
	if !ok {
		return "", false
	}
	sid, ok = strings.CutSuffix(strings.TrimLeft(rest, "/"), ".md")
	return sid, ok && validSID(sid)
}

const (
	maxFollowed = 16 // sessions; the one that was begun first ends for another one
	// maxFollowedBytes limits what is kept of one session. Of a larger one, the newest lines are.
	maxFollowedBytes = 16 << 20
)

// Follows are the sessions of the store that a client reads along, in memory. It is safe for concurrent use; nil follows none.
type Follows struct {
	ctx     context.Context //nolint:containedctx // it is the life of the server, to which the sessions belong
	changed func(uri string)
	most    int // bytes per session

	mu    sync.Mutex
	of    []*followed // in the order in which they began; guarded by mu
	ended bool        // guarded by mu
	going sync.WaitGroup
}

// NewFollows returns the followed sessions of a client, at first none. They end with ctx. changed is called when a document has changed,
// never concurrently for the same document; it may wait for the client.
func NewFollows(ctx context.Context, changed func(uri string)) *Follows {
	return &Follows{ctx: ctx, changed: changed, most: maxFollowedBytes}
}

// start follows a session, unless it is followed already.
func (f *Follows) start(team Team, store *session.Store, of teamSubject) *followed {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.IndexFunc(f.of, func(o *followed) bool { return o.sid == of.sid && !o.hasEnded() }); i >= 0 {
		return f.of[i]
	}
	f.of = slices.DeleteFunc(f.of, func(o *followed) bool { return o.sid == of.sid })
	if len(f.of) == maxFollowed {
		f.of[0].cancel()
		f.of = slices.Delete(f.of, 0, 1)
	}
	ctx, cancel := context.WithCancel(f.ctx)
	o := &followed{teamSubject: of, most: f.most, cancel: cancel, first: make(chan struct{}), wake: make(chan struct{}, 1), done: make(chan struct{}), store: store}
	if f.ended {
		cancel()
		o.err = fault.New(fault.Cancelled, "The server is shutting down.")
		o.end(nil)
		return o
	}
	f.of = append(f.of, o)
	f.going.Go(func() {
		defer close(o.done)
		defer cancel()
		o.end(team.Follow(ctx, of.sid, of.cwd, o.add))
	})
	f.going.Go(func() {
		for {
			select {
			case <-o.wake:
				f.changed(FollowURI(of.sid))
			case <-o.done:
				if len(o.wake) > 0 && f.ctx.Err() == nil {
					f.changed(FollowURI(of.sid))
				}
				return
			}
		}
	})
	return o
}

// Stop ends the following of a session, whose document stays as it is.
func (f *Follows) Stop(sid string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.of {
		if o.sid == sid {
			o.cancel()
		}
	}
}

// Close ends all and waits until that is done.
func (f *Follows) Close() {
	if f == nil {
		return
	}
	f.mu.Lock()
	f.ended = true
	for _, o := range f.of {
		o.cancel()
	}
	f.mu.Unlock()
	f.going.Wait()
}

// Text returns the conversation of a followed session as Markdown. It returns a NotFound error for an address of no such session.
func (f *Follows) Text(ctx context.Context, uri string) (string, error) {
	found, err := f.at(uri)
	if err != nil {
		return "", err
	}
	return found.text(ctx)
}

// at returns the followed session with the address uri. The error is of kind notFound.
func (f *Follows) at(uri string) (*followed, error) {
	if sid, ok := followedSID(uri); ok && f != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if i := slices.IndexFunc(f.of, func(o *followed) bool { return o.sid == sid }); i >= 0 {
			return f.of[i], nil
		}
	}
	return nil, fault.New(fault.NotFound, "No session of the team store is followed at %q. Call xcsh.team.follow.", teamLine(uri, maxTeamTitle)).With("path", uri)
}

// followed is a session that is followed. It holds the bytes of its conversation.
type followed struct {
	teamSubject
	store  *session.Store // for the rules of files
	most   int            // the largest number of bytes that are kept
	cancel context.CancelFunc
	first  chan struct{} // closed when there is something to show, or the following has ended
	wake   chan struct{} // the document has changed
	done   chan struct{} // closed when the following has ended

	mu    sync.Mutex
	once  sync.Once
	head  []byte // the lines before the entries, if data does not begin with them; guarded by mu, like all below
	data  []byte // bytes that are in it do not change
	skip  bool   // the bytes up to the next line belong to a line that is left out
	cut   bool   // older lines are left out
	ended bool
	err   error
}

// add takes bytes of the conversation. It is the callback of [Team.Follow].
func (o *followed) add(b []byte, begin bool) {
	o.mu.Lock()
	if begin {
		o.head, o.data, o.skip, o.cut = nil, nil, false, false
	}
	for len(b) > 0 { // in parts, so that one call cannot exceed the limit by much
		if o.skip {
			end := bytes.IndexByte(b, '\n')
			if end < 0 {
				break
			}
			b, o.skip = b[end+1:], false
			continue
		}
		part := b[:min(len(b), max(o.most/2, 1))]
		o.data = append(o.data, part...)
		b = b[len(part):]
		o.trim()
	}
	o.mu.Unlock()
	o.changed()
}

// trim leaves out the oldest lines of a conversation that is too large. The caller has the lock.
func (o *followed) trim() {
	if len(o.head)+len(o.data) <= o.most {
		return
	}
	if o.head == nil {
		o.head = bytes.Clone(headOf(o.data))
	}
	kept := o.data[len(o.data)-o.most/2:]
	if line := bytes.IndexByte(kept, '\n'); line >= 0 {
		kept = kept[line+1:]
	} else {
		kept, o.skip = nil, true
	}
	o.data, o.cut = bytes.Clone(kept), true
}

// maxFollowedHead is the length of the longest header that is kept.
const maxFollowedHead = 64 << 10

// headOf returns the title and the header of a session file, empty if there is none.
func headOf(data []byte) []byte {
	end := 0
	for range 2 {
		n := bytes.IndexByte(data[end:], '\n')
		if n < 0 || end+n+1 > maxFollowedHead {
			return []byte{}
		}
		line := data[end : end+n]
		if end += n + 1; isHeader(line) {
			return data[:end]
		}
	}
	return []byte{}
}

func isHeader(line []byte) bool {
	of, ok := rawjson.GetString(line, "type")
	return ok && of == "session"
}

func (o *followed) end(err error) {
	o.mu.Lock()
	o.ended = true
	if err != nil && !fault.Is(err, fault.Cancelled) && !errors.Is(err, context.Canceled) {
		o.err = err
	}
	o.mu.Unlock()
	o.changed()
}

func (o *followed) changed() {
	o.once.Do(func() { close(o.first) })
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *followed) hasEnded() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}

// failure returns the error of a following that ended before there was anything to show.
func (o *followed) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended && len(o.data) == 0 {
		return o.err
	}
	return nil
}

// text returns the conversation as Markdown.
func (o *followed) text(ctx context.Context) (string, error) {
	o.mu.Lock()
	head, data, cut, err := o.head, o.data, o.cut, o.err
	o.mu.Unlock()
	data = data[:bytes.LastIndexByte(data, '\n')+1] // the rest of the line follows
	if len(head)+len(data) == 0 {
		if err != nil {
			return "", err
		}
		return "", nil
	}
	text, renderErr := o.render(ctx, head, data)
	if renderErr != nil {
		return "", renderErr
	}
	if cut {
		text = "> The beginning of this conversation is too large to be shown. Resume the session to read it whole.\n\n" + text
	}
	if err != nil {
		text += "\n\n> " + teamLine(err.Error(), maxTeamText) + "\n"
	}
	return text, nil
}

// view calls see with the conversation so far, as if it were a file. Without a whole line it returns the error with which the following
// has ended, or a NotFound error.
func (o *followed) view(see func(sub subject) error) error {
	o.mu.Lock()
	head, data, err := o.head, o.data, o.err
	o.mu.Unlock()
	data = data[:bytes.LastIndexByte(data, '\n')+1] // the rest of the line follows
	switch {
	case len(head)+len(data) > 0:
		return o.open(head, data, see)
	case err != nil:
		return err
	}
	return fault.New(fault.NotFound, "Nothing of the session %s has been read from the team store yet.", o.sid)
}

// open calls see with the bytes of a session file.
func (o *followed) open(head, data []byte, see func(sub subject) error) error {
	fs := afero.NewMemMapFs()
	path := "/" + o.sid + ".jsonl"
	if err := afero.WriteFile(fs, path, slices.Concat(head, data), 0o600); err != nil {
		return fault.New(fault.Internal, "The followed session cannot be read: %w.", err)
	}
	memory := session.NewStore(session.StoreConfig{
		Fs: fs, DirFor: func(string) (string, error) { return "/", nil }, IndexMax: -1, Now: o.store.Now, Log: o.store.Log,
	})
	return resolver{store: memory}.open(located{cwd: o.cwd, path: path}, see)
}

// render renders the bytes of a session file.
func (o *followed) render(ctx context.Context, head, data []byte) (text string, err error) {
	err = o.open(head, data, func(sub subject) error {
		doc, err := sub.fileDoc(ctx, "markdown")
		if err != nil {
			return err
		}
		doc.SystemPrompt, doc.Tools = "", nil // not part of the conversation
		var b strings.Builder
		err = exporter.Markdown(untilDone(ctx, transcriptLimit(&b)), doc)
		text = b.String()
		return err
	})
	return text, err
}
