package agent

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// planContext is the type of the message that oh-my-pi adds before each prompt in plan mode. Its
// ACP agent records nothing else of the mode.
const planContext = "plan-mode-context"

// endedInPlanMode reports whether oh-my-pi left the session in plan mode without recording that: the
// newest prompt was sent in plan mode, and no entry changed the mode since.
func endedInPlanMode(d *session.Document, leaf session.Leaf) (ended bool, err error) {
	if d.Dialect() != session.Omp {
		return false, nil
	}
	for i, typ := range d.Recent(leaf) {
		switch {
		case typ == session.TypeModeChange:
			return false, nil
		case typ != session.TypeMessage, d.Role(i) != provider.RoleUser:
			continue
		}
		before := d.Parent(i)
		if before < 0 || d.Type(before) != session.TypeCustomMessage {
			return false, nil
		}
		e, err := d.Entry(before)
		customType, _ := rawjson.GetString(e.Raw, "customType")
		return customType == planContext, err
	}
	return false, nil
}

// sessionMode is the mode of a session.
type sessionMode struct {
	name     string
	data     json.RawMessage
	recorded bool // in the file

	paused string // the plan file of the plan mode that is paused
}

// planFile returns the plan file as the session names it, "" if it does not.
func (m sessionMode) planFile() string {
	if m.name == PlanPaused {
		return m.paused
	}
	file, _ := rawjson.GetString(m.data, "planFilePath")
	return file
}

// modeOf returns the mode of a session at leaf. pi knows no modes and its contexts have none, but a
// mode that another program or [Session.SetMode] recorded in a file of pi counts here.
func modeOf(d *session.Document, leaf session.Leaf) (sessionMode, error) {
	c, err := d.ContextState(leaf)
	m := sessionMode{name: c.Mode, data: c.ModeData, recorded: true}
	if err != nil || m.name == PlanMode {
		return m, err
	}
	if d.Dialect() == session.Pi {
		m, err = modeInPi(d, leaf, m)
	} else if ended, endedErr := endedInPlanMode(d, leaf); ended {
		m, err = sessionMode{name: PlanMode}, endedErr
	} else {
		err = endedErr
	}
	if err == nil && m.name == PlanPaused {
		m.paused, err = pausedPlan(d, leaf)
	}
	return m, err
}

// pausedPlan returns the plan file of the newest plan mode on a path. The programs do not record it
// when they pause.
func pausedPlan(d *session.Document, leaf session.Leaf) (file string, err error) {
	for i, typ := range d.Recent(leaf) {
		if typ != session.TypeModeChange {
			continue
		}
		e, err := d.Entry(i)
		if change := e.AsModeChange(); err != nil || change.Mode == PlanMode {
			return sessionMode{data: change.Data}.planFile(), err
		}
	}
	return "", nil
}

// modeInPi is the newest recorded mode on a path, or else none.
func modeInPi(d *session.Document, leaf session.Leaf, none sessionMode) (sessionMode, error) {
	for i, typ := range d.Recent(leaf) {
		if typ == session.TypeModeChange {
			e, err := d.Entry(i)
			change := e.AsModeChange()
			return sessionMode{name: change.Mode, data: slices.Clone(change.Data), recorded: true}, err
		}
	}
	return none, nil
}

// preparePlan notifies the user, with the first prompt, that a session is in plan mode, that plan mode is
// paused, or that the session is in a mode without effect here. If plan mode has no record yet, preparePlan writes one before the prompt hides that.
func (s *Session) preparePlan(log *session.Log) error {
	m, err := currentMode(log)
	text := map[string]string{
		PlanMode:   "Plan mode is on: the model can change only its plan file. " + s.m.cfg.Advice.endPlan(),
		PlanPaused: "Plan mode is paused: the model can make changes. " + s.m.cfg.Advice.resumePlan(),
		goalMode:   onlyOmp(goalMode), vibeMode: onlyOmp(vibeMode),
	}[m.name]
	if err != nil || text == "" {
		return err
	}
	if s.planShown.Swap(log) != log {
		s.emit(log, notice(text))
	}
	if m.recorded {
		return nil
	}
	return s.recordMode(log, PlanMode, "")
}

// The modes of oh-my-pi that have no effect here.
const (
	goalMode = "goal"
	vibeMode = "vibe"
)

func onlyOmp(mode string) string {
	return "This session is in " + mode + " mode, which only oh-my-pi has. It goes on here as an ordinary conversation."
}

func currentMode(log *session.Log) (m sessionMode, err error) {
	err = log.View(func(d *session.Document, leaf session.Leaf) error {
		m, err = modeOf(d, leaf)
		return err
	})
	return m, err
}

// recordMode appends a change of mode. file is the plan file of plan mode; "" is the usual one. After an
// error the mode may have changed all the same, until the server stops: see [session.Log.Append].
func (s *Session) recordMode(log *session.Log, mode, file string) error {
	var data json.RawMessage
	if mode == PlanMode && log.Persistent() {
		data = new(rawjson.Object).String("planFilePath", cmp.Or(file, planFile)).Bytes()
	}
	id, err := log.Append(session.DraftModeChange(mode, data))
	if id != "" {
		s.emit(log, event.ModeChanged{Mode: mode})
	}
	return err
}
