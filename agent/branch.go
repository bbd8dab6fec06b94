package agent

import (
	"context"
	"encoding/json"

	changes "github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// BranchOptions control what happens to the abandoned branch when the leaf moves.
type BranchOptions struct {
	Summary      string // is stored at the new leaf and shown to the model
	Summarize    bool   // let the model write it, if Summary is empty
	Instructions string // focus of the model's summary
}

// Branch moves the leaf within the file. A user message or an extension's message is
// left again: the leaf becomes its parent and its text is returned, to be edited and
// sent again. An empty id moves before the first entry. The summary, or without one an entry that
// marks the place, is appended at the new leaf, so that every program that loads the file
// continues there. A summary that the model writes can be aborted, as a turn can; then, as after
// any failure, the leaf is where it was.
func (s *Session) Branch(ctx context.Context, entryID string, o BranchOptions) (editorText string, err error) {
	if seat, err := s.hosted(ctx); err != nil {
		return "", err
	} else if seat != nil {
		return s.hostedBranch(ctx, seat, entryID, o)
	}
	var r *run // while the model writes the summary
	err = s.idle(ctx, "moving to another branch", func() error {
		log := s.current()
		target, text, err := branchTarget(log, entryID)
		if err != nil {
			return err
		}
		editorText = text
		end, err := s.m.BeginShared(ctx, log.Path())
		if err != nil {
			return err
		}
		defer func() {
			if r == nil { // otherwise the end of the run calls it
				end()
			}
		}()
		if err := s.askHooks(ctx, hook.Event{
			Name: hook.BeforeTree, EntryID: entryID, OldLeafID: log.LeafID(),
			UserWantsSummary: o.Summary != "" || o.Summarize, CustomInstructions: o.Instructions,
		}); err != nil {
			return refusal(err, "the branch change")
		}
		if o.Summary != "" || !o.Summarize {
			return s.moveLeaf(ctx, log, entryID, newLeaf{target: target, summary: o.Summary})
		}
		// Before the request to the model: a summary that cannot be stored is not worth its price.
		if err := log.Claim(); err != nil {
			return err
		}
		r = s.begin(log, end, func(ctx context.Context, r *run) {
			summary, err := s.summariseBranch(ctx, log, target, o.Instructions)
			if err == nil {
				err = s.moveLeaf(ctx, log, entryID, newLeaf{target: target, summary: summary})
			}
			r.out.Err = err
		})
		return nil
	})
	if err == nil && r != nil {
		r.wait(ctx)
		err = providerFault(r.out.Err)
	}
	if err != nil {
		return "", err
	}
	return editorText, nil
}

// newLeaf is the place to which the leaf moves.
type newLeaf struct {
	target  string // the entry, "" for before the first
	summary string // is appended there
	theirs  bool   // another program writes the branch; nothing is appended
}

// moveLeaf moves the leaf.
func (s *Session) moveLeaf(ctx context.Context, log *session.Log, entryID string, to newLeaf) (err error) {
	was := log.LeafID()
	switch {
	case to.summary != "":
		_, err = log.BranchWithSummary(to.target, to.summary)
	case to.theirs:
		err = setLeaf(log, to.target)
	default:
		err = s.markLeaf(log, to.target)
	}
	if err != nil {
		return err
	}
	s.notifyHooks(ctx, hook.Event{Name: hook.Tree, EntryID: entryID, OldLeafID: was, NewLeafID: log.LeafID()})
	s.changed(ReasonTree, log.Path())
	return nil
}

// markLeaf moves the leaf and appends an entry there, because a program that loads the file takes the last entry for
// the leaf. In a session that can't be written, the leaf only moves in memory.
func (s *Session) markLeaf(log *session.Log, target string) error {
	if log.LeafID() == target && target != "" {
		return nil // nothing moves
	}
	_, err := log.AppendAt(target, session.DraftCustom(changes.BranchedType, json.RawMessage(`{"v":1}`)))
	switch {
	case err == nil:
		return nil
	case log.LeafID() == target: // only the write failed; the next append repeats it
		s.emit(log, event.NotSaved{ErrorMessage: err.Error()})
		return nil
	case fault.Is(err, fault.Busy), fault.Is(err, fault.NewerVersion):
		return setLeaf(log, target)
	}
	return err
}

// setLeaf moves the leaf in memory.
func setLeaf(log *session.Log, target string) error {
	if target == "" {
		return log.ResetLeaf()
	}
	return log.Branch(target)
}

// summariseBranch asks the model for a summary of the entries since the entry at which the branch to
// target leaves the current one.
func (s *Session) summariseBranch(ctx context.Context, log *session.Log, target, instructions string) (string, error) {
	entries, err := abandonedEntries(log, target)
	if err != nil {
		return "", err
	}
	c, err := log.ContextState()
	if err != nil {
		return "", err
	}
	p, _, err := s.summarising(ctx, log, c)
	if err != nil {
		return "", err
	}
	s.setCompacting(true)
	defer s.setCompacting(false)
	branch := compaction.PrepareBranch(entries, p.model.Window(), s.m.cfg.Compaction)
	answer := ""
	if q, ok := branch.Question(instructions); ok {
		if answer, err = s.ask(ctx, log, q); err != nil {
			return "", err
		}
	}
	summary, _ := branch.Summary(answer)
	return summary, nil
}

// abandonedEntries returns the entries of the current branch that are not on the way to target,
// oldest first.
func abandonedEntries(log *session.Log, target string) (entries []session.Entry, err error) {
	err = log.View(func(d *session.Document, leaf session.Leaf) error {
		var kept []int
		if target != "" {
			kept = d.PathTo(session.At(target))
		}
		for n, i := range d.PathTo(leaf) {
			if n < len(kept) && kept[n] == i {
				continue // paths begin at the root, so that their common part comes first
			}
			e, err := d.Entry(i)
			if err != nil {
				return err
			}
			entries = append(entries, e)
		}
		return nil
	})
	return entries, err
}

// branchTarget returns the entry that becomes the leaf, "" for before the first, and the text that
// is returned to the editor.
func branchTarget(log *session.Log, entryID string) (target, text string, err error) {
	if entryID == "" {
		return "", "", nil
	}
	err = log.View(func(d *session.Document, _ session.Leaf) error {
		i, err := d.Index(entryID)
		if err != nil {
			return err
		}
		e, err := d.Entry(i)
		if err != nil {
			return err
		}
		switch {
		case e.Role() == "user":
			text = session.MessageText(e.Message())
		case e.Type == session.TypeCustomMessage:
			text = session.MessageText(e.Raw)
		default:
			target = entryID
			return nil
		}
		if p := d.Parent(i); p >= 0 {
			parent, err := d.Entry(p)
			if err != nil {
				return err
			}
			target = parent.ID
		}
		return nil
	})
	return target, text, err
}
