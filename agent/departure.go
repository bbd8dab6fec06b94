package agent

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// departure is a folder leaving its session for a new one because something happens to
// the session's file. Unlike other transitions it closes the session before that: a
// file that is open can be neither moved nor removed on every system.
type departure struct {
	transition
	leaf     string // where the session was
	atLast   bool
	stranded bool // the session could not be opened again
}

func (s *Session) departure() departure {
	d := departure{transition: transition{s: s, old: s.current(), replacement: replacement{
		reason: ReasonNew, after: hook.Switch,
		before: hook.Event{Name: hook.BeforeSwitch, Reason: "new"},
		open:   func() (*session.Log, error) { return s.m.create(s.cwd, session.NewOptions{For: s.program()}) },
	}}}
	// The newest entry is the leaf unless another one was chosen.
	_ = d.old.View(func(doc *session.Document, leaf session.Leaf) error {
		d.leaf = doc.LeafID(leaf)
		d.atLast = d.leaf == doc.LeafID(session.AtLast())
		return nil
	})
	return d
}

// run runs steps and turns a veto into an error. A session that could not be
// opened again is left for good.
func (d *departure) run(ctx context.Context, steps []step, what string) error {
	err := runSteps(ctx, steps)
	if d.stranded {
		d.announce()
	}
	return refusal(err, what)
}

// save makes the session durable. Nothing may happen to a file that lacks entries.
func (d *departure) save(context.Context) error {
	path := d.old.Path()
	if !d.old.OnDisk() {
		return fault.New(fault.NotFound, "The session has no file yet.").With("path", path)
	}
	if _, err := d.s.m.cfg.Store.Fs.Stat(path); err != nil {
		return &fault.Error{Kind: fault.NotFound, Message: "File not found: " + path, Data: map[string]any{"path": path}, Err: err}
	}
	return d.old.Flush()
}

func (d *departure) closeOld(context.Context) error { return d.old.Close() }

// closeFresh closes the new session unless it has to stay.
func (d *departure) closeFresh() error {
	if d.stranded {
		return nil
	}
	return d.closeTarget()
}

// comeBack makes the session live again, unchanged. When it cannot be opened again the
// folder keeps the new session, or gets one.
func (d *departure) comeBack() error {
	closeErr := d.old.Close() // the error of an earlier call is not repeated
	log, err := d.s.m.openFile(d.old.Path())
	if err == nil {
		d.restoreLeaf(log)
		d.old = log
		return errors.Join(closeErr, d.reactivate())
	}
	d.stranded = true
	if d.s.current() == d.old {
		fresh, createErr := d.s.m.create(d.s.cwd, session.NewOptions{For: d.s.program()})
		if createErr != nil {
			return errors.Join(err, createErr)
		}
		d.new = fresh
		_ = d.activate(context.Background()) // it sets a field
	}
	return errors.Join(closeErr, err)
}

func (d *departure) restoreLeaf(log *session.Log) {
	switch {
	case d.atLast:
	case d.leaf == "":
		if err := log.ResetLeaf(); err != nil {
			d.s.m.log.Warn("the leaf cannot be moved", zap.Error(err))
		}
	default:
		if err := log.Branch(d.leaf); err != nil {
			d.s.m.log.Warn("the leaf no longer exists", zap.String("entry", d.leaf), zap.Error(err))
		}
	}
}

// leave returns the steps until no session uses the file any more. askOthers, if any, is called
// after the folder's hooks have agreed.
func (d *departure) leave(askOthers ...step) []step {
	steps := append([]step{{name: "ask hooks", do: d.askHooks}}, askOthers...)
	return append(steps,
		step{name: "stop the user's commands", do: d.s.stopCommands},
		step{name: "end the engine", do: d.s.dismiss},
		step{name: "save the session", do: d.save},
		step{name: "open a new one", do: d.openTarget, undo: d.closeFresh},
		step{name: "make it the live session", do: d.activate, undo: d.comeBack},
		step{name: "close the session", do: d.closeOld},
	)
}
