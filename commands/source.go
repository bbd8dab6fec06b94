package commands

import (
	"context"
	"errors"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Subject is embedded in the arguments of commands that accept any session.
type Subject struct {
	Folder
	Source string `json:"source,omitempty" jsonschema:"The session: an ID, an ID prefix, a file name, a title, a path or a file: URI. Default: the folder's live session."`
}

// source returns the name of the session.
func (s *Subject) source() string { return s.Source }

// located is the session that a call names.
type located struct {
	cwd  string         // the folder of the call
	live *agent.Session // nil if the session is live in no folder
	path string         // as it was found; "" for the folder's live session
}

// file returns the session's file, "" for an in-memory session.
func (l located) file() string {
	if l.path == "" {
		return l.live.File()
	}
	return l.path
}

// locate returns the session that s names. It reads no session, and waits for room for an answer that needs it.
func (r resolver) locate(ctx context.Context, s Subject) (located, error) {
	l, err := r.named(ctx, s)
	if err == nil {
		err = waitForRoom(ctx)
	}
	return l, err
}

// named is locate without waiting.
func (r resolver) named(ctx context.Context, s Subject) (located, error) {
	cwd, err := r.cwd(ctx, s.Folder)
	if err != nil {
		return located{}, err
	}
	if s.Source == "" {
		live, err := r.sessions.Session(ctx, cwd)
		return located{cwd: cwd, live: live}, err
	}
	path, err := r.find(ctx, cwd, s.Source)
	if err != nil {
		return located{}, err
	}
	return r.at(cwd, path), nil
}

// locateToChange is locate for a command that changes the session. It opens the folder's live
// session even if s names another one.
func (r resolver) locateToChange(ctx context.Context, s Subject) (located, error) {
	cwd, err := r.cwd(ctx, s.Folder)
	if err != nil {
		return located{}, err
	}
	if _, err := r.sessions.Session(ctx, cwd); err != nil {
		return located{}, err
	}
	s.Cwd = cwd
	return r.locate(ctx, s)
}

// at returns the session whose file is at path. It may be live in any folder.
func (r resolver) at(cwd, path string) located {
	l := located{cwd: cwd, path: path}
	if at, isLive := r.sessions.LiveIn(path); isLive {
		l.live = r.sessions.Live(at)
	}
	return l
}

// subject is the content of the session that a command works on.
type subject struct {
	doc   *session.Document
	leaf  session.Leaf
	cwd   string         // the folder of the call
	path  string         // "" for an in-memory session
	live  *agent.Session // nil for a session that is read from its file
	store *session.Store
}

// blobs returns the session's images; it may be nil.
func (sub subject) blobs() session.BlobSource { return sub.store.BlobsFor(sub.path) }

// open calls f with the content of a session. A live session includes the entries that are
// not on disk yet; any other is read from its file, which does not change. f must not keep
// the document.
func (r resolver) open(l located, f func(sub subject) error) error {
	if l.live != nil {
		return l.live.View(func(d *session.Document, leaf session.Leaf) error {
			return f(subject{doc: d, leaf: leaf, cwd: l.cwd, path: l.live.File(), live: l.live, store: r.store})
		})
	}
	doc, err := r.store.Load(l.path)
	if err == nil {
		err = f(subject{doc: doc, leaf: session.AtLast(), cwd: l.cwd, path: l.path, store: r.store})
	}
	if doc != nil {
		err = errors.Join(err, doc.Close())
	}
	return err
}
