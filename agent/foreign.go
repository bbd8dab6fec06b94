package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/foreign"
)

// ForeignBranch is a branch on which another program continued the session, about which the
// user has not decided.
type ForeignBranch struct {
	BranchID string `json:"branchId" jsonschema:"The first entry of the branch, which stays the same while the branch grows."`
	EntryID  string `json:"entryId" jsonschema:"The newest entry of the branch."`
	Entries  int    `json:"entries" jsonschema:"How many entries the branch has that the current one lacks."`
	Program  string `json:"program,omitempty" jsonschema:"pi or omp; absent if the program is unknown."`
	Prompt   string `json:"prompt,omitempty" jsonschema:"The beginning of the newest prompt on the branch."`
	Text     string `json:"text" jsonschema:"A sentence for the user."`
}

// BranchChoice is the user's decision about another program's branch.
type BranchChoice string

// The decisions about another program's branch.
const (
	FollowBranch BranchChoice = "follow" // continue there
	StayOnBranch BranchChoice = "stay"   // continue here, and report that branch no more
	ForkBranch   BranchChoice = "fork"   // continue here in a new file; the other program keeps the old one
)

// BranchChoices are all decisions, in display order.
var BranchChoices = []BranchChoice{FollowBranch, StayOnBranch, ForkBranch}

// branchReports are the reports about other programs' branches in one session.
type branchReports struct {
	log   *session.Log // the session; another one has no reports yet
	shown *ForeignBranch
	kept  []string // the branches that the user decided to leave alone, by BranchID
}

// maxKept bounds the branches that a session remembers as decided.
const maxKept = 1000

// reportForeign publishes another program's branch when it appears, grows or is resolved.
// While a turn is running it does nothing: the turn reports at its end.
func (s *Session) reportForeign() {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	if s.isEnded() || s.isRunning() {
		return
	}
	log := s.current()
	found, exists := log.ForeignBranch()
	s.mu.Lock()
	if s.foreign.log != log {
		s.foreign = branchReports{log: log}
	}
	var now *ForeignBranch
	if exists && !slices.Contains(s.foreign.kept, found.Start) {
		now = branchOf(found)
	}
	was := s.foreign.shown
	s.foreign.shown = now
	s.mu.Unlock()
	switch {
	case now == nil && was == nil, now != nil && was != nil && *now == *was:
	case now == nil:
		s.emit(log, event.ForeignBranch{})
	default:
		s.emit(log, event.ForeignBranch(*now))
	}
}

func branchOf(b foreign.Branch) *ForeignBranch {
	return &ForeignBranch{
		BranchID: b.Start, EntryID: b.End, Entries: b.Entries, Program: b.Program, Prompt: b.Prompt, Text: b.Sentence(),
	}
}

// foreignIn returns the published branch of another program in log, nil if there is none.
func (s *Session) foreignIn(log *session.Log) *ForeignBranch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.foreign.log != log {
		return nil
	}
	return s.foreign.shown
}

// ForeignBranch returns the branch on which another program continued, even if the user has
// decided to stay. Without one it returns a NotFound error.
func (s *Session) ForeignBranch() (ForeignBranch, error) {
	b, err := s.foreignBranch(s.current(), "")
	return *branchOf(b), err
}

// ChooseBranch carries out the user's decision about another program's branch. branchID
// names it; "" is the current one. If there is none of that name, ChooseBranch returns a
// NotFound error; if a turn is running and the choice is not to stay, a Busy error.
func (s *Session) ChooseBranch(ctx context.Context, branchID string, c BranchChoice) (out Outcome, err error) {
	log := s.current()
	b, err := s.foreignBranch(log, branchID)
	if err != nil {
		return out, err
	}
	switch c {
	case FollowBranch:
		return s.followBranch(ctx, branchID)
	case ForkBranch:
		if leaf := log.LeafID(); leaf != "" {
			_, out, err = s.ForkAt(ctx, leaf, session.AtIt)
			return out, err
		}
		if err := s.CheckIdle("forking"); err != nil {
			return out, err
		}
		return s.New(ctx, session.NewOptions{}) // nothing of ours to copy
	default:
		s.keepBranch(log, b.Start)
		s.reportForeign()
		return out, nil
	}
}

func (s *Session) foreignBranch(log *session.Log, branchID string) (foreign.Branch, error) {
	b, ok := log.ForeignBranch()
	if !ok || branchID != "" && branchID != b.Start {
		return b, fault.New(fault.NotFound, "No other program has continued this session on another branch.").With("branchId", branchID)
	}
	return b, nil
}

// followBranch moves the leaf to the end of the other program's branch.
func (s *Session) followBranch(ctx context.Context, branchID string) (out Outcome, err error) {
	err = s.idle(ctx, "following another branch", func() error {
		log := s.current()
		b, err := s.foreignBranch(log, branchID) // it may have grown
		if err != nil {
			return err
		}
		err = s.askHooks(ctx, hook.Event{Name: hook.BeforeTree, EntryID: b.End, OldLeafID: log.LeafID()})
		if v, vetoed := errors.AsType[veto](err); vetoed {
			out.CancelledBy = v.String()
			return nil
		}
		if err == nil {
			err = s.reclaim(ctx) // a program is moved there when it is started again
		}
		if err == nil {
			err = s.moveLeaf(ctx, log, b.End, newLeaf{target: b.End, theirs: true})
		}
		out.Changed = err == nil
		return err
	})
	return out, err
}

// keepBranch remembers that the user decided to leave a branch alone.
func (s *Session) keepBranch(log *session.Log, branchID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.foreign.log != log {
		s.foreign = branchReports{log: log}
	}
	s.foreign.kept = append(s.foreign.kept, branchID)
	if over := len(s.foreign.kept) - maxKept; over > 0 {
		s.foreign.kept = s.foreign.kept[over:]
	}
}
