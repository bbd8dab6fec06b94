package commands

import (
	"context"
	"fmt"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var teamTake = New(Spec{
	Name: "xcsh.team.take", Title: "Take Over Session of Team", Flags: Palette | NeedsTrust, Arg: "source",
	Doc: "Make this device the writer of a session of the team store.",
}, runTeamTake)

var teamStatus = New(Spec{
	Name: "xcsh.team.status", Title: "Team Status", Flags: ReadOnly, Early: true,
	Doc: "Return the state of the team store and the number of unsent sessions and bytes. It connects to nothing.",
}, runTeamStatus)

// TeamTakeArgs are the arguments of xcsh.team.take.
type TeamTakeArgs struct {
	Subject
	Force bool `json:"force,omitempty" jsonschema:"Take it even while another device writes. Lines that it writes later become a fork."`
}

// TeamTakeResult is the right to write.
type TeamTakeResult struct {
	Fence int64 `json:"fence" jsonschema:"A number that grows with each change of the writer."`
}

func runTeamTake(ctx context.Context, env *Env, a TeamTakeArgs) (TeamTakeResult, error) {
	of, err := env.teamSession(ctx, a.Subject)
	if err != nil {
		return TeamTakeResult{}, err
	}
	fence, err := env.Team.Take(ctx, of.sid, a.Force)
	if err == nil {
		env.Sessions.ListChanged(of.cwd)
	}
	return TeamTakeResult{Fence: fence}, err
}

// TeamStatusArgs are the arguments of xcsh.team.status.
type TeamStatusArgs struct{ Folder }

func runTeamStatus(ctx context.Context, env *Env, _ TeamStatusArgs) (TeamStatus, error) {
	if err := ctx.Err(); err != nil {
		return TeamStatus{}, err
	}
	if env.Team == nil {
		return TeamStatus{State: "off"}, nil
	}
	s := env.Team.Status()
	s.Server, s.User, s.Problem = teamLine(s.Server, maxTeamTitle), teamLine(s.User, maxTeamName), teamLine(s.Problem, maxTeamText)
	return s, nil
}

// none reports whether there is no other writer.
func (w TeamWriter) none() bool { return w == TeamWriter{} }

// busy returns the error for a session that w writes.
func (w TeamWriter) busy() *fault.Error {
	return fault.New(fault.Busy, "%s", w.sentence()+" Read along, fork it, or take over.").
		With("owner", w.owner()).With("device", teamLine(w.Device, maxTeamName)).With("leftMs", w.LeftMs)
}

func (w TeamWriter) owner() string {
	if w.Owner == "" {
		return "Another user"
	}
	return teamLine(w.Owner, maxTeamName)
}

// sentence says who writes.
func (w TeamWriter) sentence() string {
	seconds := (max(w.LeftMs, 0) + time.Second.Milliseconds() - 1) / time.Second.Milliseconds()
	return fmt.Sprintf("%s writes in this session on %s (for %d s at least).", w.owner(), teamLine(w.Device, maxTeamName), seconds)
}
