package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// askCompaction asks the hooks before a compaction, with the event e and the parts of the plan. It returns
// the compaction that a hook gave; nil if none did, or if it cannot be used, which a notice reports. The
// error is a [veto].
//
// Differs: the programs record every compaction of an extension. One that keeps entries which are not on
// the branch loses the whole conversation, because a context then begins with the summary alone.
func (s *Session) askCompaction(ctx context.Context, log *session.Log, plan *compaction.Plan, e hook.Event) (*session.Compaction, error) {
	e.Name, e.FirstKeptEntryID, e.TokensBefore = hook.BeforeCompact, plan.FirstKept, plan.TokensBefore
	d := s.m.hooks.Before(ctx, s.inSession(e))
	if d.Cancel {
		return nil, veto{d}
	}
	if err := ctx.Err(); err != nil || d.Compaction == nil { // hooks may take long
		return nil, err
	}
	given, err := completed(log, plan, *d.Compaction)
	if err != nil {
		hook := strings.TrimSpace("hook " + d.Compaction.By)
		s.emit(log, event.Notice{Text: fmt.Sprintf("The compaction of the %s was not used: %s. The model writes the summary instead.", hook, visible.Line(err.Error()))})
		return nil, nil
	}
	return given, nil
}

// completed returns the entry for a hook's compaction, in which the plan fills the gaps. It fails if the
// conversation could not continue from there.
func completed(log *session.Log, plan *compaction.Plan, c hook.Compaction) (*session.Compaction, error) {
	given := &session.Compaction{
		Summary: c.Summary, FirstKeptEntryID: plan.FirstKept, TokensBefore: number(int64(plan.TokensBefore)), Details: c.Details, FromExtension: true,
	}
	if c.TokensBefore != nil {
		given.TokensBefore = number(int64(*c.TokensBefore))
	}
	if c.FirstKeptEntryID == "" || c.FirstKeptEntryID == plan.FirstKept {
		return given, nil
	}
	given.FirstKeptEntryID = c.FirstKeptEntryID
	return given, log.View(func(d *session.Document, leaf session.Leaf) error { return canKeep(d, leaf, c.FirstKeptEntryID) })
}

// canKeep fails unless a context can begin with the entry firstKept, after a summary.
func canKeep(d *session.Document, leaf session.Leaf, firstKept string) error {
	found := false
	for _, i := range d.PathTo(leaf) {
		e, err := d.Entry(i)
		if err != nil {
			return err
		}
		found = found || e.ID == firstKept
		switch {
		case !found:
		case e.Role() == "toolResult":
			return fmt.Errorf("firstKeptEntryId %.40q would keep the result of a tool call without the call", firstKept)
		case e.Type == session.TypeMessage || e.Type == session.TypeCustomMessage || e.Type == session.TypeBranchSummary:
			return nil
		}
	}
	if !found {
		return fmt.Errorf("firstKeptEntryId %.40q is not an entry of the current branch", firstKept)
	}
	return nil // it has no message behind it
}
