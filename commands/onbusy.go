package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The values of [ResumeArgs.OnBusy]; "" is busyAsk.
const (
	busyAsk  = "ask"
	busyRead = "read" // follow it
	busyFork = "fork"
	busyWait = "wait" // until no other user writes
	busyTake = "take" // write all the same
	busyFail = "fail" // a Busy error, for clients that ask with their own means
)

// whileBusy decides how a session is resumed that another user may be writing: "" if none is, or one of the constants. It asks the user if
// the arguments say so; if the user cannot be asked, it returns a Busy error.
func (r sharedResume) whileBusy(ctx context.Context, of teamSubject) (how string, err error) {
	w, err := r.env.Team.Writer(ctx, of.sid)
	if err != nil || w.none() || w.Mine { // another device of the user hands over when its turn has ended
		return "", err
	}
	switch r.args.OnBusy {
	case "", busyAsk:
	case busyFail:
		return "", w.busy()
	default:
		return r.args.OnBusy, nil
	}
	answers := []string{busyRead, busyFork, busyWait, busyTake}
	i, err := r.job.ask.question(ctx, w.sentence(), "Read along", "Fork", "Take over when "+w.owner()+" is done", "Take over now")
	switch {
	case err != nil:
		return "", err
	case i == Unasked:
		return "", w.busy()
	case i < 0:
		return "", fault.New(fault.Cancelled, "No choice was made, so the session was not resumed.")
	}
	if answers[i] == busyTake {
		declined := fault.New(fault.Cancelled, "The session was not taken over.")
		text := w.owner() + " is writing. What they write from now on becomes a fork of this session. Take over now?"
		if err := r.job.ask.confirm(ctx, text, "Take over", w.busy(), declined); err != nil {
			return "", err
		}
	}
	return answers[i], nil
}

// claim waits for the session, or makes this device its writer, as it was decided.
func (r sharedResume) claim(ctx context.Context, of teamSubject, how string) error {
	switch how {
	case busyWait:
		progress := r.env.UI.Progress(ctx, "Waiting for "+of.name)
		defer func() { progress.End("") }()
		return r.env.Team.Wait(ctx, of.sid)
	case busyTake:
		_, err := r.env.Team.Take(ctx, of.sid, true)
		return err
	}
	return nil
}
