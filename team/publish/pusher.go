package publish

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/filestat"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// pusher sends one file. One goroutine at a time uses it.
type pusher struct {
	c     *Config
	rules *ruleCache
	path  string

	id    string // of the header; all fields below are about this session
	bound binding
	out   *shipping.Outgoing // agrees with the store; nil if the file has to be compared
	next  *shipping.Outgoing // of the generation that is being staged; nil without one
	tail  team.Sum           // of the lines before the end of out or next
	info  fs.FileInfo        // of the file in the last step; nil before the first one
	looks int                // comparisons since lines were sent
	size  sizer

	shown    described
	version  version   // of the file in the last step
	changed  time.Time // when the file changed last, as far as this process knows
	hurry    bool      // the step is one of a Flush: texts are filed at once
	newer    int64     // bytes of the store that the file lacks, in the phase Behind
	heard    bool      // followers were not notified of the last append yet
	notified time.Time // of the last notification
	images   images
	unsent   int64
	project  projectID
}

// binding is the session of the store that the file belongs to.
type binding struct {
	sid    team.SID
	gen    int
	fence  int64
	agreed shipping.Point // the body that this machine and the store agreed on last
	known  bool           // agreed is set
	fork   team.SID       // of the fork that is being made, else zero
}

// projectID is a project with its number in the store.
type projectID struct {
	team, key string
	id        int
}

// version is what changes with a file. The FileInfo of storage in memory describes the current file and not that of its time.
type version struct {
	size     int64
	modified time.Time
}

// permit is a user's consent to send a session.
type permit struct {
	key      string
	folder   string
	decision consent.Project
	single   bool // the user chose this very session
}

// outcome is the result of a step.
type outcome struct {
	phase  Phase
	more   bool          // another step may follow at once
	moved  bool          // lines arrived
	after  time.Duration // for Kept, or until followers are notified; 0 if nothing is due
	writer team.DeviceID
	texts  bool  // all lines are in the store, and only the description of the session is not
	err    error // of Gone, Stuck and Behind
}

// step makes one call that changes the store, at most, and the calls that prepare it. An error means that the step can be
// repeated.
func (p *pusher) step(ctx context.Context) (outcome, error) {
	f, err := open(p.c.Fs, p.path)
	if fault.Is(err, fault.NotFound) {
		p.reset("") // if the file appears again, the state file has its session
		return outcome{phase: Off}, nil
	}
	if fault.Is(err, fault.Damaged) { // also a file whose first line is being written
		return outcome{phase: Off}, nil
	}
	if err != nil {
		return outcome{}, err
	}
	defer f.Close()
	if id := f.head.Header().ID; id != p.id {
		p.reset(id)
	}
	may, ok, err := p.permitted(f)
	if err != nil || !ok {
		p.unsent = 0
		return outcome{phase: Off}, err
	}
	p.load(may)
	p.verify(f, allowed(may.decision.Redact))
	p.unsent, p.newer = f.body.Size(), 0
	if p.out != nil {
		p.unsent -= p.out.File().Len
	}
	s := &sending{pusher: p, f: f, may: may}
	if s.store, s.user, err = p.c.Store(); err != nil {
		return outcome{}, err
	}
	return s.step(ctx)
}

// reset forgets the session of the file.
func (p *pusher) reset(id string) {
	*p = pusher{c: p.c, rules: p.rules, path: p.path, id: id, size: p.size, hurry: p.hurry}
}

// permitted returns the consent for the session, if there is one.
func (p *pusher) permitted(f *opened) (permit, bool, error) {
	d, err := p.c.Consent()
	if err != nil {
		return permit{}, false, err
	}
	h := f.head.Header()
	if h.Cwd == "" || len(d.Projects) == 0 {
		return permit{}, false, nil
	}
	project, _ := p.c.Project(h.Cwd, d) // an error means that it has no key
	if project.Key == "" || !d.Sends(project.Key, h.ID, h.Timestamp) {
		return permit{}, false, nil
	}
	return permit{project.Key, project.Folder, d.Projects[project.Key], d.Sessions[h.ID] == consent.All}, true, nil
}

// load reads the state file before the first step.
func (p *pusher) load(may permit) {
	if p.info != nil {
		return
	}
	versions := allowed(may.decision.Redact)
	s, ok := p.c.States.Load(p.id, filepath.Base(p.path), func(version int) (shipping.Rules, error) {
		if slices.Contains(versions, version) {
			return p.rules.of(version)
		}
		return shipping.Rules{}, fault.New(fault.NewerVersion, "Lines do not leave by these rules.")
	})
	if !ok {
		return
	}
	sid, err := team.ParseSID(s.SID)
	if err != nil || s.Gen < 1 {
		return
	}
	p.out, p.tail = s.Out, s.Tail
	p.shown = described{own: s.Own, digest: s.Digest, head: s.Head, sum: s.Shown}
	p.bound = binding{sid: sid, gen: s.Gen, fence: s.Fence, agreed: s.Out.Out(), known: s.Fork == ""}
	if s.Fork != "" {
		if p.bound.fork, err = team.ParseSID(s.Fork); err != nil {
			p.out = nil
		}
	}
}

// verify forgets what was sent if the file was rewritten, or if lines must not leave by the former rules any more.
func (p *pusher) verify(f *opened, versions []int) {
	was := p.info
	p.info = f.info
	p.noteChange(was)
	if p.out != nil && !p.fits(was, f, p.out, versions) {
		p.out = nil
		p.shown.redo()
	}
	if p.next != nil && !p.fits(was, f, p.next, versions) {
		p.next = nil
	}
}

// noteChange records when the file changed. was is the file of the step before, nil in the first one.
func (p *pusher) noteChange(was fs.FileInfo) {
	now, is := p.c.Clock.Now(), version{p.info.Size(), p.info.ModTime()}
	switch {
	case was == nil:
		if p.changed = is.modified; p.changed.After(now) {
			p.changed = now
		}
	case is != p.version:
		p.changed = now
	}
	p.version = is
}

// fits reports whether the file continues the lines of o. was is the file of the step before.
func (p *pusher) fits(was fs.FileInfo, f *opened, o *shipping.Outgoing, versions []int) bool {
	end := o.File().Len
	if was != nil && !filestat.Same(was, f.info) || end > f.body.Size() || !slices.Contains(versions, o.Rules().Version()) {
		return false
	}
	tail, err := shipping.TailSum(f.body, end)
	return err == nil && tail == p.tail // after an error the file is compared, which reports it
}

// remember records the agreement with the store, in memory and in the state file, which may be lost.
func (p *pusher) remember(f *opened) {
	if p.bound.fork.IsZero() {
		p.bound.agreed, p.bound.known = p.out.Out(), true
	}
	tail, err := shipping.TailSum(f.body, p.out.File().Len)
	if err != nil { // compared again, which reports the error
		p.out = nil
		return
	}
	p.tail = tail
	p.save()
}

// save writes the state file. Without it the file is compared again, and a fork that was begun may leave an empty variant.
func (p *pusher) save() {
	s := shipping.State{
		File: filepath.Base(p.path), SID: p.bound.sid.String(), Gen: p.bound.gen, Fence: p.bound.fence, Tail: p.tail, Out: p.out,
		Own: p.shown.own, Digest: p.shown.digest, Head: p.shown.head, Shown: p.shown.sum,
	}
	if !p.bound.fork.IsZero() {
		s.Fork = p.bound.fork.String()
	}
	_ = p.c.States.Save(p.id, s) // see above
}

// sending is a step of a pusher, with the store and the open file.
type sending struct {
	*pusher
	f     *opened
	may   permit
	store team.Store
	user  int
}

// agreed returns the length of the store's body up to which the file has it.
func (p *pusher) agreed() int64 {
	if p.out == nil {
		return 0
	}
	return p.out.Out().Len
}

// step chooses the call.
func (s *sending) step(ctx context.Context) (outcome, error) {
	switch {
	case s.next != nil:
		return s.stage(ctx)
	case s.out == nil:
		if lines, err := s.f.lines(0, 1); err != nil || lines == nil && s.bound.sid.IsZero() {
			return s.local(err)
		}
		return s.compare(ctx)
	case !s.bound.fork.IsZero():
		return s.fork(ctx)
	}
	return s.append(ctx)
}

// local is the outcome of an error of the file, or of a file without lines.
func (s *sending) local(err error) (outcome, error) {
	if err == nil {
		s.unsent = 0
		return outcome{phase: Sent}, nil
	}
	return outcome{}, err
}

// gone is the outcome for a session that was deleted or that the user may not write.
func (s *sending) gone() outcome {
	s.out, s.next, s.bound.fork = nil, nil, team.SID{}
	return outcome{phase: Gone, err: fault.New(fault.NotFound,
		"The session %s was deleted from the team store, or you may not write to it any more. It stays here.", filepath.Base(s.path)).With("path", s.path)}
}

// projectNumber returns the number of the project in the store.
func (s *sending) projectNumber(ctx context.Context) (int, error) {
	name, key := s.may.decision.Team, s.may.key
	if s.project.id == 0 || s.project.team != name || s.project.key != key {
		found, err := s.store.Project(ctx, name, key, strings.TrimPrefix(strings.TrimPrefix(key, "git:"), "name:"))
		if err != nil {
			return 0, err
		}
		s.project = projectID{name, key, found.ID}
	}
	return s.project.id, nil
}

// tell notifies followers, at most every 200 ms. It returns the time until the next notification is due, 0 for none.
func (p *pusher) tell(ctx context.Context, store team.Store) time.Duration {
	if !p.heard || p.out == nil {
		return 0
	}
	now := p.c.Clock.Now()
	if wait := telling - now.Sub(p.notified); wait > 0 && !p.notified.IsZero() {
		return wait
	}
	p.heard, p.notified = false, now
	store.Tell(ctx, p.bound.sid, p.out.Out().Len)
	return 0
}

// caughtUp is [shipping.CatchUp] for the file.
func (s *sending) caughtUp(ctx context.Context, version int, until int64) (*shipping.Outgoing, bool, error) {
	rules, err := s.rules.of(version)
	if err != nil {
		return nil, false, err
	}
	return shipping.CatchUp(ctx, s.f.fromStart(), rules, until)
}
