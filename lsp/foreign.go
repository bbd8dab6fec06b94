package lsp

import (
	"context"
	"errors"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/commands"
)

// branchQuestions are the open questions about other programs' branches, one per folder. It is
// safe for concurrent use.
type branchQuestions struct {
	mu   sync.Mutex
	open map[string]branchQuestion // by folder; guarded by mu
}

// branchQuestion is a question that was asked. It stays open after the user closed it, so that a
// growing branch does not ask again.
type branchQuestion struct {
	branchID string
	withdraw context.CancelFunc
}

// next replaces the question about a folder's session. It returns the context of the new one, or nil
// if there is nothing to ask.
func (q *branchQuestions) next(parent context.Context, cwd, branchID string) context.Context {
	q.mu.Lock()
	defer q.mu.Unlock()
	was := q.open[cwd]
	if was.branchID == branchID {
		return nil
	}
	if was.withdraw != nil {
		was.withdraw()
	}
	delete(q.open, cwd)
	if branchID == "" {
		return nil
	}
	ctx, withdraw := context.WithCancel(parent)
	if q.open == nil {
		q.open = map[string]branchQuestion{}
	}
	q.open[cwd] = branchQuestion{branchID, withdraw}
	return ctx
}

// questionBranch asks the user of a client without an interface for sessions about another program's
// branch. It does not block, and nothing waits for the answer.
func (s *server) questionBranch(run agent.RunEvent, e event.ForeignBranch) {
	ctx := s.branches.next(s.work, run.Cwd, e.BranchID)
	if ctx == nil {
		return
	}
	go func() {
		defer s.recoverPanic("the question about another branch")
		select {
		case <-s.ready:
		case <-ctx.Done():
			return
		}
		if s.config.hooks() {
			return // it has shown the event
		}
		i := commands.Unasked
		if !s.config.restricted() { // there every choice would be refused
			var err error
			if i, err = (clientUI{s}).Ask(ctx, commands.BranchQuestion(e)); err != nil {
				return
			}
		}
		switch {
		case i == commands.Unasked:
			s.showMessage(commands.LevelInfo, e.Text)
		case i >= 0:
			s.chooseBranch(run.Cwd, e.BranchID, agent.BranchChoices[i])
		}
	}()
}

// chooseBranch runs the command for an answer.
func (s *server) chooseBranch(cwd, branchID string, choice agent.BranchChoice) {
	err := s.runOwn(commands.ChooseBranchName, commands.ChooseBranchArgs{Folder: commands.Folder{Cwd: cwd}, Choice: choice, BranchID: branchID})
	if err != nil && !errors.Is(err, context.Canceled) {
		s.showMessage(commands.LevelError, err.Error())
	}
}
