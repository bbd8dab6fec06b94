package upkeep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Why a session is moved to the trash, and why others stay regardless of their age. The
// names are part of the wire protocol.
const (
	purgeOld       = "old"        // it is not among the newest of its folder
	keepLive       = "live"       // it is open in this server
	keepLocked     = "locked"     // another living process has it open
	keepUnreadable = "unreadable" // its content is unknown
	keepNewer      = "newer"      // a newer program wrote it
	keepDamaged    = "damaged"    // lines of it cannot be read
	keepNewest     = "newest"     // continuing in its folder would open it
	keepContinued  = "continued"  // continuing in a terminal would open it
	keepTitled     = "titled"     // a user named it
	keepLabelled   = "labelled"   // an entry of it has a label
	keepDescribed  = "described"  // a user described it
	keepParent     = "parent"     // a session that stays was forked from it
)

// purgeWords are the reasons as text for users.
var purgeWords = map[string]string{
	keepLive:       "It is open here.",
	keepLocked:     "Another program has it open.",
	keepUnreadable: "It cannot be read.",
	keepNewer:      "A newer program wrote it.",
	keepDamaged:    "Lines of it are damaged.",
	keepNewest:     "It is the newest of its folder.",
	keepContinued:  "A terminal would continue it.",
	keepTitled:     "A user named it.",
	keepLabelled:   "It has a label.",
	keepDescribed:  "A user described it.",
	keepParent:     "A session that stays was forked from it.",
}

// PurgeItem is a session in a plan. Its JSON is part of the protocol.
type PurgeItem struct {
	ID       string `json:"id"` // "" when there is no header
	Path     string `json:"path"`
	Name     string `json:"name"`
	Reason   string `json:"reason"`
	Message  string `json:"message" jsonschema:"The reason as a sentence."`
	LastUsed string `json:"lastUsed" jsonschema:"ISO 8601; never later than now."`
	Size     int64  `json:"size" jsonschema:"Bytes."`

	ModTime time.Time `json:"-"`
}

// PurgePlan lists the sessions that would be moved to the trash and those that never are,
// the one used last first.
type PurgePlan struct {
	Plan, Protected []PurgeItem
}

// Purge describes a purge of the sessions of a folder, or of all folders.
type Purge struct {
	Store  *session.Store
	Finder library.Finder
	Cwd    string                 // the folder
	All    bool                   // every folder; Cwd is ignored
	Keep   int                    // how many sessions of each folder stay
	Live   func(path string) bool // reports whether the session is open in this server
}

// Plan decides which sessions would be moved to the trash; see planPurge. It changes
// nothing on disk. The errors are of kind invalidArgument if Cwd is not absolute, and of
// kind cancelled.
func (p Purge) Plan(ctx context.Context) (PurgePlan, error) {
	scope, err := readPurgeScope(ctx, p.Finder, p.Cwd, p.All)
	if err != nil {
		return PurgePlan{}, err
	}
	markLocked(p.Store, scope.Sessions)
	for i := range scope.Sessions {
		if s := &scope.Sessions[i]; p.Live(s.Path) {
			s.Keep = keepLive
		}
	}
	return planPurge(scope.Sessions, scope.Forks, p.Keep, p.Finder.Now()), nil
}

// planPurge decides which sessions would be moved to the trash so that of every folder the
// keep sessions used last stay. It is pure. forks are the parents, ids or paths, that
// sessions elsewhere name. Protected sessions count towards keep and stay beyond it too;
// with keep 0 only they stay. A session that cannot be read completely is never in the
// plan.
//
// The time of a session's last use is that of its newest entry, a future time counting as
// now; of sessions with the same time the file changed last goes first, then the later id.
func planPurge(sessions []purgeSession, forks []string, keep int, now time.Time) PurgePlan {
	p := planning{now: now, keep: keep, forks: map[string]bool{}, places: map[string]int{}, seen: map[newestOf]bool{}}
	sorted := slices.Clone(sessions)
	// As a program finds the session to continue: by the file's modification time, unmodified.
	slices.SortFunc(sorted, func(a, b purgeSession) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), library.ByName(b.Path, a.Path))
	})
	p.protectNewest(sorted)
	slices.SortFunc(sorted, p.byUse)
	clear(p.seen)
	p.protectNewest(sorted)
	gone := p.beyondKeep(sorted)
	for _, parent := range forks {
		p.addFork(parent)
	}
	p.protectParents(sorted, gone)
	return p.plan(sorted, gone)
}

// planning is the making of one plan.
type planning struct {
	now    time.Time
	keep   int
	forks  map[string]bool // the parents of sessions that stay
	places map[string]int  // by folder: number of kept sessions
	seen   map[newestOf]bool
}

// newestOf is the key for which there is one newest session: each program continues its
// own.
type newestOf struct {
	folder string
	origin session.Dialect
}

// lastUsed is when the session was used, never later than now.
func (p *planning) lastUsed(s purgeSession) time.Time {
	at := s.LastEntry
	if at.IsZero() {
		at = s.ModTime
	}
	if at.After(p.now) {
		return p.now
	}
	return at
}

// byUse orders the session used last first.
func (p *planning) byUse(a, b purgeSession) int {
	return cmp.Or(p.lastUsed(b).Compare(p.lastUsed(a)), b.ModTime.Compare(a.ModTime), cmp.Compare(b.ID, a.ID), library.ByName(b.Path, a.Path))
}

func (p *planning) protectNewest(sorted []purgeSession) {
	for i := range sorted {
		s := &sorted[i]
		if s.Keep == keepUnreadable {
			continue // no program would continue it
		}
		of := newestOf{s.Folder, s.Origin}
		if !p.seen[of] && s.Keep == "" {
			s.Keep = keepNewest
		}
		p.seen[of] = true
	}
}

// beyondKeep returns which of the sessions may be removed, by their index in the order.
func (p *planning) beyondKeep(sorted []purgeSession) []bool {
	gone := make([]bool, len(sorted))
	for i, s := range sorted {
		gone[i] = s.Keep == "" && p.places[s.Folder] >= p.keep
		p.places[s.Folder]++
	}
	return gone
}

// addFork records the parent of a session that stays. It may be a path that is spelled in
// another way here, so the file's name is sufficient.
func (p *planning) addFork(parent string) {
	if parent == "" {
		return
	}
	p.forks[parent] = true
	if i := strings.LastIndexAny(parent, `/\`); i >= 0 {
		p.forks[parent[i+1:]] = true
	}
}

// protectParents keeps the sessions from which kept sessions were forked, and in turn
// their own parents.
func (p *planning) protectParents(sorted []purgeSession, gone []bool) {
	for i, s := range sorted {
		if !gone[i] {
			p.addFork(s.Parent)
		}
	}
	for again := true; again; {
		again = false
		for i := range sorted {
			s := &sorted[i]
			if gone[i] && (s.ID != "" && p.forks[s.ID] || p.forks[filepath.Base(s.Path)]) {
				gone[i], s.Keep, again = false, keepParent, true
				p.addFork(s.Parent)
			}
		}
	}
}

func (p *planning) plan(sorted []purgeSession, gone []bool) PurgePlan {
	plan := PurgePlan{Plan: []PurgeItem{}, Protected: []PurgeItem{}}
	for i, s := range sorted {
		item := PurgeItem{
			ID: s.ID, Path: s.Path, Name: s.Name, Reason: s.Keep, Message: purgeWords[s.Keep],
			LastUsed: session.FormatTime(p.lastUsed(s)), Size: s.Size, ModTime: s.ModTime,
		}
		switch {
		case gone[i]:
			item.Reason, item.Message = purgeOld, fmt.Sprintf("It is not among the %d of its folder that were used last.", p.keep)
			plan.Plan = append(plan.Plan, item)
		case s.Keep != "":
			if s.LockedBy != "" {
				item.Message = "Another program has it open (" + s.LockedBy + ")."
			}
			plan.Protected = append(plan.Protected, item)
		}
	}
	return plan
}

// Token identifies the plan: it changes as soon as a session of the plan or a protected
// one changes. The size of an open session does not count, because the program that has it
// open writes to it, which does not affect the plan.
func (p PurgePlan) Token() string {
	var b strings.Builder
	for _, items := range [][]PurgeItem{p.Plan, p.Protected} {
		fmt.Fprintln(&b, len(items))
		for _, i := range items {
			fmt.Fprintf(&b, "%q %q %s", i.ID, filepath.ToSlash(i.Path), i.Reason)
			if i.Reason != keepLive && i.Reason != keepLocked {
				fmt.Fprintf(&b, " %d %d", i.Size, i.ModTime.UnixNano())
			}
			fmt.Fprintln(&b)
		}
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:16])
}
