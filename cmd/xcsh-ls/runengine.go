package main

import (
	"errors"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hosting"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// cancelQuestion cancels a question of an extension. That it does not wait any more is no failure.
func cancelQuestion(live *agent.Session, id string) {
	_ = live.Answer(id, engine.Answer{Cancelled: true})
}

// engineEvent prints the events of an engine to standard error. It requires mu.
func (p *textPrinter) engineEvent(e event.Event) {
	switch e := e.(type) {
	case event.QuestionAsked:
		fmt.Fprintf(p.err, "An extension asks %q. The question was cancelled because no one can answer it.\n", visible.Line(e.Title))
	case event.EngineChanged:
		if e.State == string(engine.Failed) && e.Details != "" {
			fmt.Fprintln(p.err, visible.Text(e.Details))
		}
	}
}

// engineAdvice adds the advice for a shell to the failure of an engine.
func engineAdvice(err error, live *agent.Session) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	switch {
	case f.Kind == fault.Provider && f.Data["class"] == commands.ClassLogin:
		return advised(f, fmt.Sprintf("Run 'xcsh-ls login %s' in a terminal, then try again.", live.Engine().Name), false)
	case f.Kind == fault.ArgumentNeeded && f.Data["field"] == hosting.FieldFork:
		return advised(f, "Start a new session, or pass --engine own.", false)
	}
	return err
}

// advised returns an error with advice behind its message, or in place of it.
func advised(f *fault.Error, advice string, alone bool) error {
	c := *f
	if !alone {
		advice = c.Message + " " + advice
	}
	c.Message = advice
	return &c
}
