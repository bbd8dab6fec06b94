package agent

import (
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/history"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// History returns where prompts are remembered, nil when they are not.
func (m *Manager) History() *history.Store { return m.cfg.History }

// remembered is a prompt as the history takes it, and the history, which is nil for a session
// in memory: what leaves no trace there leaves none here.
func (s *Session) remembered(log *session.Log, in Input) (*history.Store, history.Prompt) {
	p := history.Prompt{Text: in.Text, Cwd: s.cwd, SessionID: log.Header().ID}
	if !log.Persistent() {
		return nil, p
	}
	return s.m.cfg.History, p
}

// answered tells a prompt's mark of a message that was recorded. From the first answer on the
// session has a file with the prompt in it.
func answered(mark *history.Mark, log *session.Log, message []byte) {
	if role, _ := rawjson.GetString(message, "role"); role == provider.RoleAssistant && log.OnDisk() {
		mark.Answered()
	}
}

// offerUnanswered tells of the prompts of the folder whose turns ended with their process.
func (s *Session) offerUnanswered() {
	for _, e := range s.m.cfg.History.Offer(s.cwd) {
		s.Report(notice(fmt.Sprintf("This prompt of %s was never answered, because the program ended; it is the newest of the prompt history: %s",
			e.Created.Local().Format("2006-01-02 15:04"), beginning(e.Prompt))))
	}
}

// beginning is the first line of a prompt, or as much of it as fits a message.
func beginning(prompt string) string {
	const most = 100 // UTF-16 code units
	line, rest, _ := strings.Cut(prompt, "\n")
	if short := rawjson.UTF16Prefix(line, most); short != line || rest != "" {
		return short + "…"
	}
	return line
}
