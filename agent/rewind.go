package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/patched"
	changeplan "github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/review"
	"github.com/xcsh-ls/xcsh-ls/agent/change/rewind"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Rewind plans how to undo changes of files, or carries out a plan completely or not at all. The result is a plan with a token, or the
// result of the rewind. Errors have the kinds busy (a turn or a rewind is running), stale (the plan is out of date), conflict with
// "paths" (without a token), notFound, denied, noSpace, readOnly, io and newerVersion. After an error nothing has changed.
func (s *Session) Rewind(ctx context.Context, a wire.RewindArgs) (result wire.RewindResult, err error) {
	a = s.absolute(a)
	if err := s.canMove(ctx, a); err != nil {
		return result, err
	}
	if a.DryRun == nil && a.PlanToken == "" || a.DryRun != nil && *a.DryRun {
		p, err := s.planRewind(ctx, s.current(), a)
		if err != nil {
			return result, err
		}
		s.shown(p)
		return p.wire(a), nil
	}
	summary := a.Summary
	if a.Conversation && a.Summarize && summary == "" {
		if summary, err = s.summaryForRewind(ctx, a); err != nil {
			return result, err
		}
	}
	err = s.idle(ctx, "rewinding files", func() error {
		err = s.sharing(ctx, s.current(), func() error {
			result, err = s.rewindNow(ctx, a, summary)
			return err
		})
		if v, vetoed := errors.AsType[veto](err); vetoed {
			result, err = wire.RewindResult{Rewound: new(false), CancelledBy: v.String()}, nil
		}
		return err
	})
	return result, err
}

// rewindPlan is a plan with its origin.
type rewindPlan struct {
	*changeplan.Plan
	known   reviewing
	leaf    string
	prompts int    // after the target
	target  string // of the leaf, if the conversation moves
	text    string // of the prompt, for editing
}

func (p *rewindPlan) wire(a wire.RewindArgs) wire.RewindResult {
	r := p.Wire(p.leaf)
	r.Prompts, r.Conversation = p.prompts, a.Conversation
	return r
}

// planRewind makes a plan for the target of the arguments.
func (s *Session) planRewind(ctx context.Context, log *session.Log, a wire.RewindArgs) (*rewindPlan, error) {
	known, err := s.withCalls(log)
	if err != nil {
		return nil, err
	}
	p := &rewindPlan{known: known, leaf: log.LeafID()}
	unrecorded, err := p.unrecorded(a)
	if err != nil {
		return nil, err
	}
	if (a.Hunks != nil || a.Paths != nil) && !unrecorded {
		in := s.m.reviewInput(ctx, known)
		in.Plan.Except, in.Plan.AcrossHead = a.Except, a.AcrossHead
		p.Plan, err = review.Undo(in, a.Hunks, a.Paths)
		return p, err
	}
	in := s.m.planInput(ctx, known)
	if in.Selection, err = p.selection(log, a); err != nil {
		return nil, err
	}
	in.Except, in.AcrossHead = slices.Clone(a.Except), a.AcrossHead
	for _, c := range in.Chains {
		if unrecorded && !slices.Contains(a.Paths, c.Path) {
			in.Except = append(in.Except, c.Path) // of a call that also changed a named one
		}
	}
	in.Head, in.Branch, _ = s.m.lookAtHead(ctx, known.folder, known.book)
	if err := patched.Derive(&in, known.all, known.calls); err != nil {
		return nil, err
	}
	p.Plan, err = changeplan.Make(in)
	return p, err
}

// unrecorded reports whether the named paths are of calls without records, which have no hunks. The errors have the kinds notFound and
// invalidArgument.
func (p *rewindPlan) unrecorded(a wire.RewindArgs) (bool, error) {
	only := func(path string) bool {
		return len(p.known.book.Chain(path, nil)) == 0 && len(p.known.book.Pending(path)) == 0 && len(p.known.all.Chain(path, nil)) > 0
	}
	for _, h := range a.Hunks {
		if only(h.Path) {
			return false, fault.New(fault.NotFound,
				"The changes of %s were made without records, so single hunks can't be undone. Undo the call or the file.", h.Path).With("path", h.Path)
		}
	}
	n := 0
	for _, path := range a.Paths {
		if only(path) {
			n++
		}
	}
	if n > 0 && n < len(a.Paths) {
		return false, fault.New(fault.InvalidArgument,
			"Some of the files were changed without records. Undo them in a rewind of their own, or use before.").With("field", "paths")
	}
	return n > 0, nil
}

// selection returns the changes to undo, and sets the target of the conversation.
func (p *rewindPlan) selection(log *session.Log, a wire.RewindArgs) (changeplan.Selection, error) {
	book := p.known.all
	switch {
	case a.Paths != nil: // only of calls without records
		return changeplan.Of(book, func(r *change.Record) bool {
			return slices.ContainsFunc(book.ActivePaths(r), func(path string) bool { return slices.Contains(a.Paths, path) })
		}), nil
	case a.Records != nil:
		return changeplan.Exactly(book, a.Records)
	case a.ToolCallID != "":
		return changeplan.OfCall(book, a.ToolCallID)
	case a.Redo != nil:
		return changeplan.Redo(book, *a.Redo)
	case a.Before == nil && a.To == nil:
		return changeplan.Selection{}, fault.New(fault.ArgumentNeeded, "Specify which changes to undo.").With("input", "entry")
	}
	entryID, err := "", error(nil)
	if a.Before != nil {
		entryID = *a.Before
		if p.target, p.text, err = branchTarget(log, entryID); err != nil {
			return changeplan.Selection{}, err
		}
	} else {
		entryID, p.target = *a.To, *a.To
	}
	at := 0
	err = log.View(func(d *session.Document, _ session.Leaf) error {
		if at, err = d.Index(entryID); err != nil {
			return err
		}
		from := at + 1
		if a.Before != nil {
			from = at
		}
		for i := from; i < d.Len(); i++ {
			if prompt, err := isPrompt(d, i); err != nil {
				return err
			} else if prompt {
				p.prompts++
			}
		}
		return nil
	})
	return changeplan.Behind(book, at), err
}

// summaryForRewind lets the model write the summary of the abandoned branch.
func (s *Session) summaryForRewind(ctx context.Context, a wire.RewindArgs) (summary string, err error) {
	var r *run
	err = s.idle(ctx, "rewinding files", func() error {
		log := s.current()
		p, err := s.planRewind(ctx, log, a)
		if err != nil {
			return err
		}
		if err := s.possible(p, a); err != nil {
			return err
		}
		end, err := s.m.BeginShared(ctx, log.Path())
		if err != nil {
			return err
		}
		if err := log.Claim(); err != nil {
			end()
			return err
		}
		r = s.begin(log, end, func(ctx context.Context, r *run) {
			summary, r.out.Err = s.summariseBranch(ctx, log, p.target, a.Instructions)
		})
		return nil
	})
	if err != nil {
		return "", err
	}
	r.wait(ctx)
	return summary, providerFault(r.out.Err)
}

// possible checks the plan against the one that the user saw.
func (s *Session) possible(p *rewindPlan, a wire.RewindArgs) error {
	switch {
	case a.PlanToken != "" && p.Token(p.leaf) != a.PlanToken:
		if path := s.changedSince(a.PlanToken, p); path != "" {
			return fault.New(fault.Stale, "%s was changed since the plan was made, so no file was changed. Make a new plan.", path).With("path", path)
		}
		return fault.New(fault.Stale, "The plan is out of date, so no file was changed. Make a new plan.")
	case p.Conflicts > 0:
		var paths []string
		for _, x := range p.Paths {
			if x.Action == wire.Conflict {
				paths = append(paths, x.Path)
			}
		}
		return fault.New(fault.Conflict, "No file was changed, because the plan has conflicts (%d). Make a new plan to see them.", p.Conflicts).With("paths", paths)
	}
	return nil
}

// rewindNow carries out a plan. The session is idle.
func (s *Session) rewindNow(ctx context.Context, a wire.RewindArgs, summary string) (result wire.RewindResult, err error) {
	log := s.current()
	if err := s.canMove(ctx, a); err != nil {
		return result, err
	}
	if !log.IsLent() {
		if err := log.Claim(); err != nil {
			return result, err // before a file changes
		}
	}
	if err := s.recoverRewind(ctx, log, false); err != nil {
		return result, err
	}
	p, err := s.planRewind(ctx, log, a)
	if err != nil {
		return result, err
	}
	if err := s.possible(p, a); err != nil {
		return result, err
	}
	if err := s.askAboutRewind(ctx, log, p, a, summary); err != nil {
		return result, err
	}
	unlock, err := tool.LockFiles(ctx, p.paths())
	if err != nil {
		return result, err
	}
	defer unlock()
	before := log.LeafID()
	done, commits, err := s.rewindFiles(ctx, log, p, a, summary)
	if err != nil {
		return result, err
	}
	files := len(p.Changes())
	s.notifyHooks(ctx, hook.Event{Name: hook.Rewind, Plan: &hook.RewindPlan{Files: files, Conversation: a.Conversation}})
	s.emit(log, event.Rewound{ID: done.ID, Files: files, Redo: a.Redo != nil, Conversation: a.Conversation})
	if a.Conversation {
		s.notifyHooks(ctx, hook.Event{Name: hook.Tree, EntryID: p.target, OldLeafID: before, NewLeafID: log.LeafID()})
		s.changed(ReasonTree, log.Path())
	}
	return wire.RewindResult{
		Rewound: new(true), ID: done.ID, Files: files, Unsaved: done.Unsaved, EditorText: p.text, LeafID: log.LeafID(), Commits: commits,
		Conversation: a.Conversation, Records: p.Records,
	}, nil
}

// canMove checks whether the conversation can move: a program that answers may have its own leaf.
func (s *Session) canMove(ctx context.Context, a wire.RewindArgs) error {
	if !a.Conversation {
		return nil
	}
	seat, err := s.hosted(ctx)
	if err == nil && seat != nil {
		return fault.New(fault.Denied, "%s manages the position in the conversation. Rewind the files without conversation: true, then move with xcsh.branch.", seat.Program().Name)
	}
	return err
}

// askAboutRewind runs the hooks before a rewind.
func (s *Session) askAboutRewind(ctx context.Context, log *session.Log, p *rewindPlan, a wire.RewindArgs, summary string) error {
	if err := s.askHooks(ctx, hook.Event{
		Name: hook.BeforeRewind, Plan: &hook.RewindPlan{Files: len(p.Changes()), Conflicts: p.Conflicts, Conversation: a.Conversation},
	}); err != nil || !a.Conversation {
		return err
	}
	return s.askHooks(ctx, hook.Event{
		Name: hook.BeforeTree, EntryID: p.target, OldLeafID: log.LeafID(), UserWantsSummary: summary != "", CustomInstructions: a.Instructions,
	})
}

// paths returns the paths that the plan changes.
func (p *rewindPlan) paths() (paths []string) {
	for _, x := range p.Changes() {
		paths = append(paths, x.Path)
	}
	return paths
}

// rewindFiles restores files and documents, and appends the record.
func (s *Session) rewindFiles(ctx context.Context, log *session.Log, p *rewindPlan, a wire.RewindArgs, summary string) (done rewind.Done, commits []string, err error) {
	if len(p.Changes()) == 0 && !a.Conversation {
		return done, p.Commits, fault.New(fault.NotFound, "There is nothing to undo: the files already have this state.")
	}
	if len(p.Changes()) == 0 {
		id, err := s.moveWithRewind(log, p, summary)
		return rewind.Done{ID: id}, p.Commits, err
	}
	job, err := s.rewindJob(p, a, summary)
	if err != nil {
		return done, nil, err
	}
	done, err = s.rewinder(log).Run(ctx, job)
	return done, p.Commits, err
}

// moveWithRewind moves the leaf if no file changes.
func (s *Session) moveWithRewind(log *session.Log, p *rewindPlan, summary string) (id string, err error) {
	if summary != "" {
		id, err = log.BranchWithSummary(p.target, summary)
	} else {
		id, err = log.AppendAt(p.target, session.DraftCustom(change.BranchedType, []byte(`{"v":1}`)))
	}
	if id != "" && err != nil {
		s.emit(log, event.NotSaved{ErrorMessage: err.Error()})
		err = nil
	}
	return id, err
}
