package replicate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/connect"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/identity"
)

// The scopes of a [Sharing].
const (
	ScopeNew     = "new"     // the sessions of the project that begin from now on
	ScopeAll     = "all"     // all sessions of the project
	ScopeSession = "session" // one session
	ScopeOff     = "off"     // none: the project pauses, or one session is taken out
)

// Sharing says which sessions of a project are sent.
type Sharing struct {
	Cwd     string
	Scope   string
	Path    string // of the session file, for ScopeSession and for one session with ScopeOff; "" otherwise
	Visible string // team or me; "" means team
	Team    string // "" means the user's only team
	Name    string // of a project without a remote; "" takes the name that was given before
}

// proposal is a Sharing with everything that the user agrees to.
type proposal struct {
	Sharing
	project identity.Project // with the key
	single  file             // for Path
	before  consent.Decisions
	after   consent.Decisions // without those about other projects that end
	team    team.Membership
	hello   team.Hello
	address connect.Address
	device  string
	other   bool // the store is another one than before
	sent    []file
	kept    []file
}

// Share records the user's consent, or its end. token is that of a [Plan]; the error is of kind stale if what would be sent, where to or who
// reads it has changed since. ScopeOff needs no token and no store.
func (r *Replicator) Share(ctx context.Context, s Sharing, token string) error {
	p, err := r.propose(ctx, s)
	if err != nil {
		return err
	}
	if token != p.token() && (token != "" || p.Scope != ScopeOff) {
		return fault.New(fault.Stale, "The conversations that would be sent, the store or its readers have changed since the plan was made. Nothing is sent. Make a new plan and confirm it.")
	}
	if p.other && p.Scope != ScopeOff {
		if err := r.compareAll(); err != nil { // before the consent: what was agreed with the other store says nothing about this one
			return err
		}
	}
	if err := r.consent.Change(p.changes(r.c.Clock.Now())...); err != nil {
		return err
	}
	r.wake()
	r.lookAgain()
	r.pub.Retry()
	return nil
}

// propose checks a Sharing, and finds out what it means.
func (r *Replicator) propose(ctx context.Context, s Sharing) (p *proposal, err error) {
	p = &proposal{Sharing: s}
	if !slices.Contains([]string{ScopeNew, ScopeAll, ScopeSession, ScopeOff}, s.Scope) {
		return nil, fault.New(fault.InvalidArgument, "%q is no scope. Use new, all, session or off.", s.Scope).With("field", "scope")
	}
	if p.Visible = cmp.Or(s.Visible, string(consent.Team)); p.Visible != string(consent.Team) && p.Visible != string(consent.Me) {
		return nil, fault.New(fault.InvalidArgument, "%q is no visibility. Use team or me.", s.Visible).With("field", "visible")
	}
	if p.before, err = r.consent.Read(); err != nil {
		return nil, err
	}
	if err := r.findProject(p); err != nil {
		return nil, err
	}
	if s.Scope == ScopeOff {
		p.after = p.decisions()
		return p, nil
	}
	if err := r.findStore(ctx, p); err != nil {
		return nil, err
	}
	p.after = p.decisions()
	return p, r.findFiles(ctx, p)
}

// findProject sets the project.
func (r *Replicator) findProject(p *proposal) error {
	if p.Path != "" {
		var ok bool
		if p.single, ok = r.read(p.Path); !ok {
			return fault.New(fault.InvalidArgument, "%s is no session file of a folder, so it cannot be shared.", p.Path).With("field", "source")
		}
		p.Cwd = p.single.cwd
	} else if p.Scope == ScopeSession {
		return fault.New(fault.InvalidArgument, "Name the session to share.").With("field", "source")
	}
	var err error
	p.project, _ = r.project(p.Cwd, p.before) // an error means that it has no key
	if p.project.Key != "" {
		p.Name = "" // only a project without a remote has one
		return nil
	}
	if p.Name == "" {
		return fault.New(fault.ArgumentNeeded, "This folder has no remote repository, so the project needs a name that is the same on every machine.").
			With("input", "text").With("field", "name").With("offer", p.project.Offer)
	}
	p.project.Key, err = identity.NewName(p.Name)
	if alias := p.before.Alias[p.project.Key]; identity.Valid(alias) {
		p.project.Key = alias
	}
	return err
}

// findStore sets the store and the team. It sends the login and nothing else.
func (r *Replicator) findStore(ctx context.Context, p *proposal) error {
	store, hello, err := r.Connected(ctx)
	if err != nil {
		return err
	}
	teams, err := store.Teams(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	p.hello, p.address, p.device = hello, r.conn.address, r.conn.device.Label
	r.mu.Unlock()
	p.other = p.before.StoreID != "" && p.before.StoreID != hello.StoreID.String()
	if p.team, err = choose(teams, p.Team); err != nil {
		return err
	}
	if p.team.Level < 2 {
		return fault.New(fault.Denied, "You may only read the sessions of the team %s. Ask its administrator for: xcsh-ls team grant %s --team %s --write", fault.OneLine(p.team.Team), fault.OneLine(hello.Display), fault.OneLine(p.team.Team))
	}
	return nil
}

// choose returns the team of this name, or the only one.
func choose(teams []team.Membership, name string) (team.Membership, error) {
	var names []string
	for _, t := range teams {
		if t.Team == name || name == "" && len(teams) == 1 {
			return t, nil
		}
		names = append(names, t.Team)
	}
	switch {
	case name != "":
		return team.Membership{}, fault.New(fault.NotFound, "You are in no team %q of this team store.", name).With("field", "team")
	case len(names) == 0:
		return team.Membership{}, fault.New(fault.Denied, "You are in no team of this team store. Ask its administrator to add you with: xcsh-ls team grant")
	}
	return team.Membership{}, fault.New(fault.ArgumentNeeded, "Select the team that can read the conversations.").
		With("input", "choice").With("field", "team").With("choices", names)
}

// decide returns the decision about the project.
func (p *proposal) decide() consent.Project {
	was, known := p.before.Projects[p.project.Key]
	if p.Scope == ScopeOff {
		if p.Path == "" {
			was.Share = consent.Off
		}
		return was
	}
	now := consent.Project{Team: p.team.Team, Share: consent.Off, Since: was.Since, Visible: consent.Visible(p.Visible), Redact: was.Redact || !known}
	if known && !p.other {
		now.Share = was.Share
	}
	switch p.Scope {
	case ScopeNew:
		if now.Share != consent.New {
			now.Since = ""
		}
		now.Share = consent.New
	case ScopeAll:
		now.Share = consent.All
	case ScopeSession:
		if now.Share != consent.Off { // its other sessions stay as they are
			now.Team, now.Visible = was.Team, was.Visible
		}
	}
	return now
}

// decisions returns the decisions after the consent. A project that begins now has no time yet.
func (p *proposal) decisions() consent.Decisions {
	d := p.before
	d.Projects, d.Sessions = maps.Clone(d.Projects), maps.Clone(d.Sessions)
	if d.Projects == nil {
		d.Projects = map[string]consent.Project{}
	}
	if d.Sessions == nil {
		d.Sessions = map[string]consent.Share{}
	}
	if _, known := d.Projects[p.project.Key]; known || p.Scope != ScopeOff {
		d.Projects[p.project.Key] = p.decide()
	}
	if p.Path != "" {
		d.Sessions[p.single.id] = map[bool]consent.Share{true: consent.Off, false: consent.All}[p.Scope == ScopeOff]
	}
	return d
}

// findFiles sets the existing sessions of the project that would be sent, and the others.
func (r *Replicator) findFiles(ctx context.Context, p *proposal) error {
	k := r.keys(p.before)
	for _, path := range r.c.Library.AllFiles() {
		if ctx.Err() != nil {
			return cancelled(ctx)
		}
		f, ok := r.read(path)
		if !ok || k.of(f.cwd).Key != p.project.Key && (p.Name == "" || k.of(f.cwd).Root != p.project.Root) {
			continue
		}
		if p.after.Sends(p.project.Key, f.id, f.began) {
			p.sent = append(p.sent, f)
		} else {
			p.kept = append(p.kept, f)
		}
	}
	for _, files := range [][]file{p.sent, p.kept} {
		slices.SortFunc(files, func(a, b file) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.path, b.path)) })
	}
	return nil
}

// token identifies everything that the user agrees to. The older sessions that stay here are not part of it.
func (p *proposal) token() string {
	type sentFile struct {
		ID   string
		Size int64
		At   time.Time
	}
	what := struct {
		Sharing
		Key, Store, Server, User, TLS string
		Team                          team.Membership
		Before, After                 consent.Project
		Session                       string
		Files                         []sentFile
	}{
		Sharing: p.Sharing, Key: p.project.Key, Store: p.hello.StoreID.String(), Server: server(p.address), User: p.hello.Display, TLS: security(p.address), Team: p.team,
		Before: p.before.Projects[p.project.Key], After: p.after.Projects[p.project.Key], Session: p.single.id,
	}
	for _, f := range p.sent {
		what.Files = append(what.Files, sentFile{f.id, f.size, f.at.UTC()})
	}
	text, _ := json.Marshal(what) // has no type that cannot be encoded
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// changes returns the changes of team.json.
func (p *proposal) changes(now time.Time) (all []consent.Change) {
	key := p.project.Key
	if p.Name != "" && p.Scope != ScopeOff {
		all = append(all, consent.SetName(p.project.Root, p.Name))
	}
	if project, known := p.after.Projects[key]; known {
		if p.Scope != ScopeOff {
			project.Since = cmp.Or(project.Since, now.UTC().Format("2006-01-02T15:04:05.000Z"))
			project.Agreed = fault.OneLine(p.hello.Display) + ", " + p.device
		}
		all = append(all, consent.SetProject(key, project))
	}
	if p.Path != "" {
		all = append(all, consent.SetSession(p.single.id, p.after.Sessions[p.single.id]))
	}
	if p.Scope == ScopeOff {
		return all
	}
	if p.other { // the consents for the former store are none for this one
		for _, other := range slices.Sorted(maps.Keys(p.before.Projects)) {
			if project := p.before.Projects[other]; other != key {
				project.Share = consent.Off
				all = append(all, consent.SetProject(other, project))
			}
		}
		for id := range p.before.Sessions {
			if p.before.Sessions[id] == consent.All && id != p.single.id {
				all = append(all, consent.SetSession(id, ""))
			}
		}
	}
	return append(all, consent.SetStoreID(p.hello.StoreID.String(), p.hello.Epoch))
}
