package teamtest

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"sync/atomic"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// Store is a user's connection to a [Server]. It answers as pg.Store does. It is safe for concurrent use.
type Store struct {
	server *Server
	role   string
	device atomic.Pointer[team.DeviceID]
	closed atomic.Bool
}

var (
	_ team.Store    = (*Store)(nil)
	_ team.Follower = (*Store)(nil)
	_ team.Upkeep   = (*Store)(nil)
)

// Connect returns the store as a login role sees it. The role need not be known to the store.
func (v *Server) Connect(role string) *Store { return &Store{server: v, role: role} }

// Close implements [team.Store].
func (s *Store) Close() error {
	s.closed.Store(true)
	return nil
}

// locked runs f with the server's lock, as the user u, which is nil for a role that is no user.
func (s *Store) locked(ctx context.Context, f func(v *Server, u *user) error) error {
	if s.closed.Load() {
		return fault.New(fault.Offline, "The team store cannot be reached (memory: closed).")
	}
	if ctx.Err() != nil {
		return fault.New(fault.Cancelled, "The call to the team store was cancelled: %w.", ctx.Err())
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	u := s.server.users[s.role]
	if u == nil {
		return fault.New(fault.Denied, "The team store denies this to %s.", s.role)
	}
	return f(s.server, u)
}

// deviceID returns the device of Hello.
func (s *Store) deviceID() (team.DeviceID, error) {
	d := s.device.Load()
	if d == nil {
		return team.DeviceID{}, fault.New(fault.Internal, "The team store was used before Hello.")
	}
	return *d, nil
}

// Hello implements [team.Store].
func (s *Store) Hello(ctx context.Context, d team.Device) (h team.Hello, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		if u.gone {
			return fault.New(fault.Denied, "%s left.", s.role)
		}
		label := []rune(team.PlainText(d.Label))
		if known, ok := v.devices[d.ID]; !ok || known.owner == u {
			v.devices[d.ID] = device{u, string(label[:min(len(label), team.MaxLabel)])}
		}
		h = team.Hello{Speaks: []int{team.Protocol}, StoreID: v.id, Epoch: 1, User: u.id, Display: u.role}
		return nil
	})
	if fault.Is(err, fault.Denied) {
		return h, fault.New(fault.Refused, "The team store does not know the role %s.", s.role)
	}
	if err == nil {
		s.device.Store(&d.ID)
	}
	return h, err
}

// Project implements [team.Store].
func (s *Store) Project(ctx context.Context, name, key, _ string) (p team.Project, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		level := v.teams[name][u]
		i := slices.IndexFunc(v.projects, func(p *project) bool { return p.team == name && p.key == key })
		switch {
		case u.gone || level == 0 || i < 0 && level < 2:
			return team.NoProject(name, key)
		case i < 0:
			i = len(v.projects)
			v.projects = append(v.projects, &project{team: name, key: key, blobs: map[team.Sum][]byte{}})
		}
		p = team.Project{ID: i + 1, Team: name, Key: key}
		return nil
	})
	return p, err
}

// Teams implements [team.Store].
func (s *Store) Teams(ctx context.Context) (teams []team.Membership, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		for _, name := range slices.Sorted(maps.Keys(v.teams)) {
			if level := v.teams[name][u]; level > 0 && !u.gone {
				teams = append(teams, team.Membership{Team: name, Level: level, Readers: v.teams[name].readers()})
			}
		}
		return nil
	})
	return teams, err
}

// readers counts the members that are not gone.
func (l levels) readers() (n int) {
	for u := range l {
		if !u.gone {
			n++
		}
	}
	return n
}

// Projects implements [team.Store].
func (s *Store) Projects(ctx context.Context) (projects []team.Project, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		for i, p := range v.projects {
			if v.levelLocked(u, i+1) >= 1 {
				projects = append(projects, team.Project{ID: i + 1, Team: p.team, Key: p.key})
			}
		}
		return nil
	})
	return projects, err
}

// fileName is the check of the schema.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,150}\.jsonl$`)

// Open implements [team.Store].
func (s *Store) Open(ctx context.Context, o team.Opening) (known []team.Known, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		same := v.sameIDLocked(o.Project, o.HeaderID)
		if !slices.ContainsFunc(same, func(s *sharedSession) bool { return v.seesLocked(u, s, 1) }) {
			created, err := v.createLocked(u, o, len(same))
			if err != nil {
				return err
			}
			same = append(same, created)
		}
		for _, c := range same {
			if v.mayLocked(u, c.sid, 1) != nil {
				known = append(known, team.Known{SID: c.sid, Variant: c.variant, Visible: c.visible, Owner: c.owner.id})
			}
		}
		return nil
	})
	return known, err
}

// createLocked adds a session without bytes.
func (v *Server) createLocked(u *user, o team.Opening, variant int) (*sharedSession, error) {
	if v.levelLocked(u, o.Project) < 2 {
		return nil, fault.New(fault.Denied, "%s may not create sessions in this project.", u.role)
	}
	if n := len([]rune(o.HeaderID)); n < 1 || n > 200 || !fileName.MatchString(o.FileName) {
		return nil, fault.New(fault.InvalidArgument, "The header id or the file name is not valid.")
	}
	now := v.tickLocked()
	c := &sharedSession{
		sid: o.SID, project: o.Project, owner: u, visible: o.Visible, headerID: o.HeaderID, variant: variant,
		dialect: o.Dialect, fileName: o.FileName, created: o.Created, modified: now, listed: now,
		head:    team.Head{Bytes: slices.Clone(o.Head), Rev: 1, Title: team.PlainText(o.Title)},
		touched: v.changedLocked(), tip: team.Tip{Gen: 1, Sum: team.EmptySum},
		bodies: map[int][]segment{}, blobs: map[team.Sum]bool{},
	}
	c.grown = c.touched
	v.sessions[c.sid] = c
	return c, nil
}

// Head implements [team.Store].
func (s *Store) Head(ctx context.Context, sid team.SID) (h team.Head, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		c := v.mayLocked(u, sid, 1)
		if c == nil {
			return team.NoSession(sid)
		}
		h = team.Head{
			Bytes: slices.Clone(c.head.Bytes), Rev: c.head.Rev, FileName: c.fileName, Dialect: c.dialect,
			Variant: c.variant, HeaderID: c.headerID,
		}
		return nil
	})
	return h, err
}

// SetHead implements [team.Store].
func (s *Store) SetHead(ctx context.Context, sid team.SID, h team.Head) (rev int, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		c := v.mayLocked(u, sid, 2)
		if c == nil || c.head.Rev != h.Rev {
			return team.StaleHead(sid)
		}
		if !slices.Equal(c.head.Bytes, h.Bytes) {
			rev = 1
		}
		first := []rune(team.PlainText(h.FirstPrompt))
		c.head = team.Head{
			Bytes: slices.Clone(h.Bytes), Rev: c.head.Rev + rev, Title: team.PlainText(h.Title),
			FirstPrompt: string(first[:min(len(first), 200)]), Messages: h.Messages, Cost: h.Cost,
		}
		c.modified, c.touched = v.tickLocked(), v.changedLocked()
		rev = c.head.Rev
		return nil
	})
	return rev, err
}
