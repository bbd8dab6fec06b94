package lsp

import (
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// forward sends an event of the sessions to the client. It does not block. The sessions emit the
// events of a command before the command returns, so the client gets them before the answer. A
// notification about the sessions on disk replaces a waiting one about the same folder; no other
// event is merged.
func (s *server) forward(e agent.Event) {
	switch e := e.(type) {
	case agent.RunEvent:
		s.forwardRun(EventParams(e))
		s.pending.sessionEvent(e.Cwd, e.Event)
		switch ev := e.Event.(type) {
		case event.AgentEnd:
			s.transcripts.mayHaveChanged()
		case event.ForeignBranch:
			s.questionBranch(e, ev)
		case event.QuestionAsked:
			s.questionAsked(EventParams(e), ev.Question)
		case event.QuestionGone:
			s.questions.end(engineQuestion{e.SessionID, ev.ID})
		case event.LargeSession:
			s.showMessage(commands.LevelInfo, ev.Text)
		case event.TeamForked:
			s.showMessage(commands.LevelInfo, ev.Text())
		case event.Notice:
			s.showNotice(ev)
		}
	case agent.SessionChanged:
		if e.Reason != agent.ReasonTree && e.Reason != agent.ReasonReload {
			s.branches.next(s.work, e.Cwd, "") // a question about the previous session
		}
		s.pending.outdated(e.Cwd)
		s.notify(MethodSessionChanged, SessionChangedParams{
			Cwd: e.Cwd, SessionID: e.SessionID, Seq: e.Seq,
			Reason: string(e.Reason), PreviousSessionFile: e.PreviousSessionFile,
		}, "")
	case agent.SessionState:
		summary, _ := e.Summary.(commands.Summary) // only commands resume sessions early
		s.notify(MethodSessionState, SessionStateParams{
			Cwd: e.Cwd, SessionID: e.SessionID, State: e.State, Summary: summary, Repairs: e.Repairs, Pending: []string{},
		}, "")
		s.transcripts.mayHaveChanged()
	case agent.ModelsChanged:
		s.notify(MethodModelsChanged, ModelsChangedParams{}, MethodModelsChanged)
	case agent.SessionsChanged:
		s.notify(MethodSessionsChanged, SessionsChangedParams{Cwd: e.Cwd}, MethodSessionsChanged+"\x00"+e.Cwd)
		s.transcripts.mayHaveChanged()
	default:
		s.log.Debug("an event without a wire form")
	}
}

// forwardRun queues an event of a turn. Each update of a running tool contains all of its output so
// far, so only the newest waiting one keeps it.
func (s *server) forwardRun(e EventParams) {
	full, err := conn.EncodeJSON(e)
	n := conn.Notification{Method: MethodEvent, Params: full, Session: e.SessionID}
	if update, ok := e.Event.(event.ToolUpdate); ok && err == nil {
		update.PartialResult = nil
		e.Event = update
		n.Brief, err = conn.EncodeJSON(e)
		n.Outdates = e.SessionID + "\x00" + update.ToolCallID
	}
	if err != nil {
		s.log.Error("an event could not be encoded", zap.Error(err))
		return
	}
	s.conn.Notify(n)
}

// showNotice shows a warning or an error of an extension of the engine, which the user has to see wherever they look. Other notices
// are only events.
func (s *server) showNotice(n event.Notice) {
	switch n.Level {
	case event.Warning:
		s.showMessage(commands.LevelWarning, n.Text)
	case event.Failure:
		s.showMessage(commands.LevelError, n.Text)
	}
}

// notify queues a notification. It replaces a waiting one with the same merge key, unless the key is
// "".
func (s *server) notify(method string, params any, merge string) {
	raw, err := conn.EncodeJSON(params)
	if err != nil {
		s.log.Error("a notification could not be encoded", zap.String("method", method), zap.Error(err))
		return
	}
	s.conn.Notify(conn.Notification{Method: method, Params: raw, Merge: merge})
}
