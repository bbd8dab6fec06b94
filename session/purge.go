package session

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// PurgeReason says why a session would be thrown away, or why it is not. The names are
// part of the wire protocol.
type PurgeReason string

// Why a session goes, and why others stay whatever their age.
const (
	PurgeOld       PurgeReason = "old"        // it is not among the newest of its folder
	KeepLive       PurgeReason = "live"       // it is open in this server
	KeepLocked     PurgeReason = "locked"     // another living process has it open
	KeepUnreadable PurgeReason = "unreadable" // nobody can say what it is
	KeepNewer      PurgeReason = "newer"      // a newer program wrote it
	KeepDamaged    PurgeReason = "damaged"    // lines of it cannot be read
	KeepNewest     PurgeReason = "newest"     // its folder would be gone on with here
	KeepContinued  PurgeReason = "continued"  // a terminal would be gone on with here
	KeepTitled     PurgeReason = "titled"     // a person gave it a name
	KeepLabelled   PurgeReason = "labelled"   // an entry of it has a label
	KeepDescribed  PurgeReason = "described"  // a person described it
	KeepParent     PurgeReason = "parent"     // a session that stays was forked from it
)

// purgeWords say the reasons to a person.
var purgeWords = map[PurgeReason]string{
	KeepLive:       "It is open here.",
	KeepLocked:     "Another program has it open.",
	KeepUnreadable: "It cannot be read.",
	KeepNewer:      "A newer program wrote it.",
	KeepDamaged:    "Lines of it are damaged.",
	KeepNewest:     "It is the newest of its folder.",
	KeepContinued:  "A terminal would go on with it.",
	KeepTitled:     "A person gave it its name.",
	KeepLabelled:   "It has a label.",
	KeepDescribed:  "A person described it.",
	KeepParent:     "A session that stays was forked from it.",
}

// PurgeSession is a session file with what decides whether it may be thrown away.
type PurgeSession struct {
	Path, ID  string // no id: there is no header
	Name      string
	Parent    string // the session it was forked from: an id or a path, as written
	Folder    string // those with the same one compete for the places that are kept
	Origin    Dialect
	Size      int64 // bytes
	ModTime   time.Time
	LastEntry time.Time   // the latest time that an entry names; zero when none can be read
	Keep      PurgeReason // why it stays whatever its age; "" for none
	LockedBy  string      // who has it open, where that is known
}

// PurgeItem is a session in a plan. Its JSON is part of the protocol.
type PurgeItem struct {
	ID       string      `json:"id"` // "" when there is no header
	Path     string      `json:"path"`
	Name     string      `json:"name"`
	Reason   PurgeReason `json:"reason"`
	Message  string      `json:"message" jsonschema:"The reason as a sentence."`
	LastUsed string      `json:"lastUsed" jsonschema:"ISO 8601; never later than now."`
	Size     int64       `json:"size" jsonschema:"Bytes."`

	ModTime time.Time `json:"-"`
}

// PurgePlan says which sessions would be thrown away and which never are, the one used
// last first.
type PurgePlan struct {
	Plan, Protected []PurgeItem
}

// PlanPurge decides which sessions would be thrown away so that of every folder the keep
// used last stay. It is pure. forks are the parents, ids or paths, that sessions
// elsewhere name. What is protected counts towards keep and stays beyond it too; keep 0
// leaves nothing else. Nothing that cannot be read whole is ever in the plan.
//
// A session was used when its newest entry says, a time to come counting as now; of
// sessions with one time the file changed last goes first, then the later id.
func PlanPurge(sessions []PurgeSession, forks []string, keep int, now time.Time) PurgePlan {
	p := purge{now: now, keep: keep, forks: map[string]bool{}, places: map[string]int{}, seen: map[newestOf]bool{}}
	sorted := slices.Clone(sessions)
	// As a program finds the one to continue: by the file's time as it is.
	slices.SortFunc(sorted, func(a, b PurgeSession) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), byName(b.Path, a.Path))
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

// purge is the making of one plan.
type purge struct {
	now    time.Time
	keep   int
	forks  map[string]bool // what sessions that stay name as their parent
	places map[string]int  // by folder: how many are kept
	seen   map[newestOf]bool
}

// newestOf is what there is one newest session of: each program goes on with its own.
type newestOf struct {
	folder string
	origin Dialect
}

// lastUsed is when the session was used, never later than now.
func (p *purge) lastUsed(s PurgeSession) time.Time {
	at := s.LastEntry
	if at.IsZero() {
		at = s.ModTime
	}
	if at.After(p.now) {
		return p.now
	}
	return at
}

// byUse puts the session used last first.
func (p *purge) byUse(a, b PurgeSession) int {
	return cmp.Or(p.lastUsed(b).Compare(p.lastUsed(a)), b.ModTime.Compare(a.ModTime), cmp.Compare(b.ID, a.ID), byName(b.Path, a.Path))
}

func (p *purge) protectNewest(sorted []PurgeSession) {
	for i := range sorted {
		s := &sorted[i]
		if s.Keep == KeepUnreadable {
			continue // nobody would go on with it
		}
		of := newestOf{s.Folder, s.Origin}
		if !p.seen[of] && s.Keep == "" {
			s.Keep = KeepNewest
		}
		p.seen[of] = true
	}
}

// beyondKeep returns which of the sessions may go, by their place in the order.
func (p *purge) beyondKeep(sorted []PurgeSession) []bool {
	gone := make([]bool, len(sorted))
	for i, s := range sorted {
		gone[i] = s.Keep == "" && p.places[s.Folder] >= p.keep
		p.places[s.Folder]++
	}
	return gone
}

// addFork notes the parent of a session that stays. It may be written as a path that is
// spelled in another way here, so that the file's name will do.
func (p *purge) addFork(parent string) {
	if parent == "" {
		return
	}
	p.forks[parent] = true
	if i := strings.LastIndexAny(parent, `/\`); i >= 0 {
		p.forks[parent[i+1:]] = true
	}
}

// protectParents keeps what sessions that stay were forked from, and in turn what that
// was forked from.
func (p *purge) protectParents(sorted []PurgeSession, gone []bool) {
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
				gone[i], s.Keep, again = false, KeepParent, true
				p.addFork(s.Parent)
			}
		}
	}
}

func (p *purge) plan(sorted []PurgeSession, gone []bool) PurgePlan {
	plan := PurgePlan{Plan: []PurgeItem{}, Protected: []PurgeItem{}}
	for i, s := range sorted {
		item := PurgeItem{
			ID: s.ID, Path: s.Path, Name: s.Name, Reason: s.Keep, Message: purgeWords[s.Keep],
			LastUsed: FormatTime(p.lastUsed(s)), Size: s.Size, ModTime: s.ModTime,
		}
		switch {
		case gone[i]:
			item.Reason, item.Message = PurgeOld, fmt.Sprintf("It is not among the %d of its folder that were used last.", p.keep)
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

// Token stands for the plan: it is another one as soon as a session of the plan or a
// protected one is another one. How large an open session is does not count, because
// whoever has it open writes to it, and the plan is none the worse for that.
func (p PurgePlan) Token() string {
	var b strings.Builder
	for _, items := range [][]PurgeItem{p.Plan, p.Protected} {
		fmt.Fprintln(&b, len(items))
		for _, i := range items {
			fmt.Fprintf(&b, "%q %q %s", i.ID, filepath.ToSlash(i.Path), i.Reason)
			if i.Reason != KeepLive && i.Reason != KeepLocked {
				fmt.Fprintf(&b, " %d %d", i.Size, i.ModTime.UnixNano())
			}
			fmt.Fprintln(&b)
		}
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:16])
}
