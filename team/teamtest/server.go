package teamtest

import (
	"slices"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/team"
)

const (
	leaseTime  = 30 * time.Second
	followTime = 90 * time.Second
	listTime   = time.Minute         // between two changes of a list by appends
	trashTime  = 30 * 24 * time.Hour // before a deleted session is purged
)

// Server holds the sessions of a store in memory. [Server.Connect] returns the [Store] of a user. It is
// safe for concurrent use.
type Server struct {
	id team.UUID

	mu       sync.Mutex
	now      time.Time         // the server's clock; every use advances it
	changes  team.Cursor       // the number of the last change
	users    map[string]*user  // by login role
	teams    map[string]levels // by name
	devices  map[team.DeviceID]device
	projects []*project // by ID - 1
	sessions map[team.SID]*sharedSession
	ears     map[*ear]bool
}

type user struct {
	id   int
	role string
	gone bool
}

// device is a device of the user who registered it first.
type device struct {
	owner *user
	label string
}

// levels are the rights of the members of a team: 1 reads, 2 writes, 3 administers.
type levels map[*user]int

type project struct {
	team  string
	key   string
	blobs map[team.Sum][]byte
}

// sharedSession is a session with its body.
type sharedSession struct {
	sid      team.SID
	project  int
	owner    *user
	visible  team.Visibility
	headerID string
	variant  int
	dialect  session.Dialect
	fileName string
	created  time.Time
	head     team.Head // Bytes, Rev, and the fields of lists

	modified time.Time
	deleted  time.Time   // zero if it is not in the trash
	touched  team.Cursor // the last change for lists

	tip    team.Tip // Gen, Len, Sum, Fence, Device
	until  time.Time
	listed time.Time
	heard  time.Time
	grown  team.Cursor // the last change of the body

	bodies map[int][]segment // by generation, also staged and old ones
	texts  []team.Text
	blobs  map[team.Sum]bool
}

type segment struct {
	off   int64
	bytes []byte
	sum   team.Sum
}

func (s segment) end() int64 { return s.off + int64(len(s.bytes)) }

// NewServer returns a store without users.
func NewServer() *Server {
	return &Server{
		id: team.NewUUID(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		users: map[string]*user{}, teams: map[string]levels{}, devices: map[team.DeviceID]device{},
		sessions: map[team.SID]*sharedSession{}, ears: map[*ear]bool{},
	}
}

// Advance moves the server's clock.
func (v *Server) Advance(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = v.now.Add(d)
}

// Member gives a user a level in a team. It adds the user and the team if necessary. Level 0 removes the
// user from the team.
func (v *Server) Member(role, name string, level int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	u := v.users[role]
	if u == nil {
		u = &user{id: len(v.users) + 1, role: role}
		v.users[role] = u
	}
	if v.teams[name] == nil {
		v.teams[name] = levels{}
	}
	delete(v.teams[name], u)
	if level > 0 {
		v.teams[name][u] = level
	}
}

// Leave marks a user as gone.
func (v *Server) Leave(role string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.users[role].gone = true
}

// tickLocked returns the time, which is never the same twice.
func (v *Server) tickLocked() time.Time {
	v.now = v.now.Add(time.Microsecond)
	return v.now
}

// changedLocked returns the number of a new change.
func (v *Server) changedLocked() team.Cursor {
	v.changes++
	return v.changes
}

// levelLocked returns the level of a user in the project's team, 0 without one.
func (v *Server) levelLocked(u *user, id int) int {
	if u == nil || u.gone || id < 1 || id > len(v.projects) {
		return 0
	}
	return v.teams[v.projects[id-1].team][u]
}

// mayLocked returns the session if the user has this level for it and it is not deleted.
func (v *Server) mayLocked(u *user, sid team.SID, level int) *sharedSession {
	s := v.sessions[sid]
	if s == nil || !s.deleted.IsZero() || !v.seesLocked(u, s, level) {
		return nil
	}
	return s
}

// seesLocked reports whether the user has this level for the session, deleted or not.
func (v *Server) seesLocked(u *user, s *sharedSession, level int) bool {
	return v.levelLocked(u, s.project) >= level && (s.visible == team.Shared || s.owner == u)
}

// sameIDLocked returns the sessions of a project with this header id, by variant.
func (v *Server) sameIDLocked(project int, headerID string) (found []*sharedSession) {
	for _, s := range v.sessions {
		if s.project == project && s.headerID == headerID {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b *sharedSession) int { return a.variant - b.variant })
	return found
}
