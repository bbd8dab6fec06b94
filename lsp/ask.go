package lsp

import (
	"context"
	"sync/atomic"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/asking"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// AskParams are the parameters of xcsh/ask: the model, or a server that a tool uses, asks the user.
type AskParams struct {
	Cwd       string        `json:"cwd"`
	SessionID string        `json:"sessionId"`
	ID        string        `json:"id"`                // of the tool call
	From      string        `json:"from"`              // model or server
	Message   string        `json:"message,omitempty"` // above the questions
	Questions []AskQuestion `json:"questions"`
}

// AskQuestion is one of the questions of xcsh/ask.
type AskQuestion struct {
	ID          string      `json:"id"`
	Question    string      `json:"question"`
	Header      string      `json:"header,omitempty"`
	Kind        string      `json:"kind"` // choice, text, boolean, number or integer
	Options     []AskOption `json:"options,omitempty"`
	Multi       bool        `json:"multi,omitempty"`       // several options can be chosen
	Other       bool        `json:"other,omitempty"`       // custom can be an answer that is none of the options
	Recommended *int        `json:"recommended,omitempty"` // index of an option
	Optional    bool        `json:"optional,omitempty"`    // it can be left without an answer
	Initial     string      `json:"initial,omitempty"`     // of a text or number
}

// AskOption is an answer that can be chosen.
type AskOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Preview     string `json:"preview,omitempty"`
}

// AskResult is the answer to xcsh/ask. null means that the user closed the questions.
type AskResult struct {
	Answers  []asking.Answer `json:"answers,omitempty"`
	Declined bool            `json:"declined,omitempty"` // the user refuses to answer
}

// formless records that the client does not know xcsh/ask.
type formless struct{ atomic.Bool }

// askForm asks the user with xcsh/ask, if the client knows it. One that does not shows the events.
func (s *server) askForm(ctx context.Context, a agent.Asked) (agent.Answers, error) {
	if s.formless.Load() {
		return agent.Answers{}, asking.ErrElsewhere
	}
	raw, err := conn.EncodeJSON(askParams(a))
	if err != nil {
		return agent.Answers{}, err
	}
	var result *AskResult
	err = s.ask(ctx, MethodAsk, raw, &result)
	switch {
	case isUnknownMethod(err):
		s.formless.Store(true)
		return agent.Answers{}, asking.ErrElsewhere
	case err != nil:
		return agent.Answers{}, err
	case result == nil:
		return agent.Answers{Cancelled: true}, nil
	}
	return agent.Answers{List: result.Answers, Declined: result.Declined}, nil
}

func askParams(a agent.Asked) AskParams {
	p := AskParams{
		Cwd: a.Cwd, SessionID: a.SessionID, ID: a.ID, From: a.From, Message: visible.Text(a.Message), Questions: []AskQuestion{},
	}
	for _, f := range a.Fields {
		q := AskQuestion{
			ID: f.ID, Question: visible.Text(f.Title), Header: visible.Line(f.Header), Kind: string(f.Kind), Multi: f.Multi,
			Other: f.Other, Recommended: f.Recommended, Optional: f.Optional, Initial: visible.Text(f.Initial),
		}
		if q.Kind == "" {
			q.Kind = string(asking.Choice)
		}
		for _, o := range f.Options {
			q.Options = append(q.Options, AskOption{Label: o.Label, Description: visible.Text(o.Description), Preview: visible.Text(o.Preview)})
		}
		p.Questions = append(p.Questions, q)
	}
	return p
}
