package agent

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/contents"
	"github.com/xcsh-ls/xcsh-ls/agent/change/patched"
	changeplan "github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/present"
	"github.com/xcsh-ls/xcsh-ls/agent/change/review"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// reviewing is the recorded changes of a session.
type reviewing struct {
	book   *change.Book
	store  *contents.Store
	folder string
	id     string // of the session
	dir    string // of its contents, "" in memory
	free   bool   // protected files may be rewound, too

	calls []patched.Call // of turns without records, and of undone ones; see withCalls
	all   *change.Book   // book with the calls as records; book itself without calls
}

// Changes returns the file changes of the session, compared with the present files. It writes nothing.
func (s *Session) Changes(ctx context.Context, q wire.ChangesQuery) (c wire.Changes, err error) {
	log := s.current()
	r, err := s.withCalls(log)
	if err != nil {
		return c, err
	}
	seq := s.m.lastSeq(r.id)
	var part part
	err = log.View(func(d *session.Document, leaf session.Leaf) error {
		part, err = partOf(d, leaf, q.Since)
		return err
	})
	if err != nil {
		return c, err
	}
	c, err = s.m.changes(ctx, r, q, part, false)
	c.Seq = int64(seq)
	return c, err
}

// sums returns the recorded changes of the whole session with only the paths and line counts of files. Snapshots and events use it, so it
// does not read the session for calls without records.
func (s *Session) sums(ctx context.Context) (c wire.Changes, err error) {
	r, err := s.reviewing(s.current())
	if err != nil {
		return c, err
	}
	return s.m.changes(ctx, r, wire.ChangesQuery{}, part{since: sinceSession}, true)
}

// ChangesOf is [Session.Changes] for a session file, which need not be live.
func (m *Manager) ChangesOf(ctx context.Context, path string, q wire.ChangesQuery) (c wire.Changes, err error) {
	if s := m.liveSession(path); s != nil {
		return s.Changes(ctx, q)
	}
	var part part
	r, err := m.reviewingOf(path, func(d *session.Document, r *reviewing) error {
		if part, err = partOf(d, session.AtLast(), q.Since); err != nil {
			return err
		}
		return r.takeCalls(m, d, new(patchReader))
	})
	if err != nil {
		return c, err
	}
	return m.changes(ctx, r, q, part, false)
}

// ChangeSide returns one side of the changes of a file. The error has the kind notFound.
func (s *Session) ChangeSide(ctx context.Context, q wire.SideQuery) (wire.Side, error) {
	r, err := s.reviewing(s.current())
	if err != nil {
		return wire.Side{}, err
	}
	return review.Side(s.m.reviewInput(ctx, r), q)
}

// ChangeSideOf is [Session.ChangeSide] for a session file, which need not be live.
func (m *Manager) ChangeSideOf(ctx context.Context, path string, q wire.SideQuery) (wire.Side, error) {
	if s := m.liveSession(path); s != nil {
		return s.ChangeSide(ctx, q)
	}
	r, err := m.reviewingOf(path, nil)
	if err != nil {
		return wire.Side{}, err
	}
	return review.Side(m.reviewInput(ctx, r), q)
}

// liveSession returns the live session with the file at path, nil if there is none.
func (m *Manager) liveSession(path string) *Session {
	cwd, ok := m.LiveIn(path)
	if !ok {
		return nil
	}
	return m.Live(cwd)
}

// reviewing returns the recorded changes of a session.
func (s *Session) reviewing(log *session.Log) (r reviewing, err error) {
	l := s.ledgerOf(log)
	r = reviewing{store: l.contents(), folder: s.cwd, id: log.Header().ID, dir: dirOf(log), free: s.ApprovalMode() == approval.Yolo}
	r.book, err = l.book()
	r.all = r.book
	return r, err
}

// reviewingOf returns the recorded changes of a session file. f may read the file.
func (m *Manager) reviewingOf(path string, f func(*session.Document, *reviewing) error) (r reviewing, err error) {
	if r.book, r.store, err = m.changesBookOf(path); err != nil {
		return r, err
	}
	r.all = r.book
	d, err := m.cfg.Store.Load(path)
	if err != nil {
		return r, session.Closing(err, d)
	}
	defer func() { _ = d.Close() }() // opened for reading only
	r.folder, r.id, r.dir = filepath.Clean(d.Header().Cwd), d.Header().ID, r.store.Dir()
	if f != nil {
		err = f(d, &r)
	}
	return r, err
}

// planInput returns the input of plans for the files of a session's folder in their present state, without a selection.
func (m *Manager) planInput(ctx context.Context, r reviewing) changeplan.Input {
	return m.lookInput(ctx, r, m.guarded(r.folder, r.free))
}

// lookInput is planInput with a function that says why a path is protected; nil for a look that leads to no change.
func (m *Manager) lookInput(ctx context.Context, r reviewing, why func(abs string) string) changeplan.Input {
	p := present.New(ctx, present.Options{
		Fs: m.disk(), Documents: m.cfg.Documents, Folder: r.folder, MaxFile: r.store.MaxFile(), Excluded: r.store.Excluded, Protected: why,
	})
	return changeplan.Input{
		Present: p.Look, Content: r.store.Get, Under: p.Under, Find: p.Find,
		Missing: func(err error) bool { return errors.Is(err, contents.ErrMissing) },
	}
}

// reviewInput returns the input of one review.
func (m *Manager) reviewInput(ctx context.Context, r reviewing) *review.Input {
	in := &review.Input{Book: r.book, Plan: m.planInput(ctx, r), Session: r.id}
	in.Plan.Head, in.Plan.Branch, in.AtHead = m.lookAtHead(ctx, r.folder, r.book)
	return in
}

// changes describes the file changes of a part of a session. See [review.Scope] for sums.
func (m *Manager) changes(ctx context.Context, r reviewing, q wire.ChangesQuery, part part, sums bool) (c wire.Changes, err error) {
	if q.Path != "" && !filepath.IsAbs(q.Path) {
		return c, fault.New(fault.InvalidArgument, "The path %s is not absolute.", fault.OneLine(q.Path)).With("field", "path")
	}
	scope := review.Scope{Keep: part.keep, Path: q.Path, Pending: q.Pending, Hunks: q.Path != "", Sums: sums}
	if q.Path != "" {
		scope.Path = filepath.Clean(q.Path)
	}
	if q.Hunks != nil {
		scope.Hunks = *q.Hunks
	}
	c = wire.Changes{SessionID: r.id, Since: part.since, PromptID: part.prompt, Rewinds: rewindsOf(r.book), Interrupted: m.rewindInterrupted(r.dir)}
	if c.Files, c.Totals, err = review.Files(m.reviewInput(ctx, r), scope); err != nil {
		return c, err
	}
	records := recordsOf(r.all, part)
	c.Limits = changeplan.Limits(records)
	c.Complete = len(c.Limits) == 0 && !c.Interrupted
	if !slices.ContainsFunc(c.Limits, func(l wire.Limit) bool { return l.Kind == sourcePatch }) {
		return c, nil
	}
	if !slices.ContainsFunc(records, func(record *change.Record) bool {
		return !record.IsRewind() && !slices.Contains(record.Limits, sourcePatch)
	}) {
		c.Source = sourcePatch
	}
	if !q.Pending { // calls without records can't be reviewed
		err = m.addCalls(ctx, r, scope, &c)
	}
	return c, err
}

// recordsOf returns the records of a part.
func recordsOf(book *change.Book, part part) (records []*change.Record) {
	for _, record := range book.Records {
		if part.keep == nil || part.keep(record) {
			records = append(records, record)
		}
	}
	return records
}

// addCalls adds the files of calls without records.
func (m *Manager) addCalls(ctx context.Context, r reviewing, scope review.Scope, c *wire.Changes) error {
	calls := slices.DeleteFunc(slices.Clone(r.calls), func(call patched.Call) bool {
		record := r.all.Record(call.Entry)
		return record == nil || scope.Path != "" && call.Path != scope.Path || scope.Keep != nil && !scope.Keep(record) || !r.all.Active(record, call.Path)
	})
	in := m.planInput(ctx, r)
	in.Selection = changeplan.Of(r.all, scope.Keep)
	in.Chains = slices.DeleteFunc(in.Chains, func(chain changeplan.Chain) bool {
		return !slices.ContainsFunc(calls, func(call patched.Call) bool { return call.Path == chain.Path })
	})
	if err := patched.Derive(&in, r.all, r.calls); err != nil {
		return err
	}
	plans, err := changeplan.Make(in)
	if err != nil {
		return err
	}
	for _, f := range patched.Files(calls, plans, scope.Hunks) {
		c.Totals.Added, c.Totals.Removed = c.Totals.Added+f.Added, c.Totals.Removed+f.Removed
		i := slices.IndexFunc(c.Files, func(o wire.File) bool { return o.Path == f.Path })
		if i < 0 {
			c.Totals.Files++
			c.Files = append(c.Files, f)
			continue
		}
		o := &c.Files[i]
		o.Added, o.Removed, o.Records, o.Hunks = o.Added+f.Added, o.Removed+f.Removed, append(o.Records, f.Records...), append(o.Hunks, f.Hunks...)
		o.Rewindable, o.Reason, o.Text = f.Rewindable, f.Reason, f.Text
	}
	slices.SortFunc(c.Files, func(a, b wire.File) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// rewindsOf lists the rewinds, newest first.
func rewindsOf(b *change.Book) []wire.Rewind {
	list := []wire.Rewind{}
	rewinds, redoable := b.Rewinds()
	for _, r := range rewinds {
		list = append(list, wire.Rewind{ID: r.ID, Timestamp: r.Time.UTC().Format(time.RFC3339), Files: len(r.Changes), Redoable: redoable(r)})
	}
	return list
}

// rewindInterrupted reports whether a rewind of the session is unfinished.
func (m *Manager) rewindInterrupted(dir string) bool {
	return dir != "" && m.rewinderIn(dir).Interrupted()
}
