package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var teamUnshare = New(Spec{
	Name: "xcsh.team.unshare", Title: "Remove Session from Team…", Flags: Palette | NeedsTrust, Input: InputSession, Arg: "source",
	Doc: "Move a session to the trash of the team store. Files on this and other machines stay.",
}, runTeamUnshare)

var teamUndelete = New(Spec{
	Name: "xcsh.team.undelete", Title: "Restore Session of Team…", Flags: Palette | NeedsTrust, Input: InputText, Arg: "sid",
	Doc: "Restore a session from the trash of the team store.",
}, runTeamUndelete)

// TeamUnshareArgs are the arguments of xcsh.team.unshare.
type TeamUnshareArgs struct {
	Folder
	Source  string `json:"source,omitempty" jsonschema:"The session: an ID, an ID prefix, a title, its ID in the store, a file name, a path or a file: URI. Default: ask the user."`
	Confirm *bool  `json:"confirm,omitempty" jsonschema:"Must be true to remove the session. Default: ask the user."`
}

// TeamUnshareResult is the session that was removed.
type TeamUnshareResult struct {
	SID string `json:"sid" jsonschema:"The argument for xcsh.team.undelete."`
}

func runTeamUnshare(ctx context.Context, env *Env, a TeamUnshareArgs) (TeamUnshareResult, error) {
	if err := env.needTeam(ctx); err != nil {
		return TeamUnshareResult{}, err
	}
	needed := fault.New(fault.InvalidArgument, "To remove a session from the team store, set \"confirm\" to true.").With("field", "confirm")
	if a.Confirm != nil && !*a.Confirm {
		return TeamUnshareResult{}, needed
	}
	of, err := env.teamSessionOrPick(ctx, a)
	if err != nil {
		return TeamUnshareResult{}, err
	}
	if a.Confirm == nil {
		kept := fault.New(fault.Cancelled, "Session %s was not removed from the team store.", of.name)
		text := `Remove "` + of.name + `" from the team store? It can be restored for a while. Files on this machine and on others stay.`
		if err := env.ask().confirm(ctx, text, "Remove", needed, kept); err != nil {
			return TeamUnshareResult{}, err
		}
	}
	if err := env.Team.Delete(ctx, of.sid, false); err != nil {
		return TeamUnshareResult{}, err
	}
	env.Sessions.ListChanged(of.cwd)
	return TeamUnshareResult{SID: of.sid}, nil
}

// teamSessionOrPick returns the session that the arguments name or, without one, the user picks. It is never the live session by default,
// because the session is removed.
func (env *Env) teamSessionOrPick(ctx context.Context, a TeamUnshareArgs) (teamSubject, error) {
	if a.Source != "" {
		return env.teamSession(ctx, Subject{Folder: a.Folder, Source: a.Source})
	}
	cwd, err := env.cwd(ctx, a.Folder)
	if err != nil {
		return teamSubject{}, err
	}
	info, err := env.resolver().pickTeam(ctx, cwd, "Select a session to remove from the team store")
	if err != nil {
		return teamSubject{}, err
	}
	return teamSubject{cwd: cwd, sid: info.Team.SID, path: info.Path, name: teamLine(info.Name, maxTeamTitle)}, nil
}

// TeamUndeleteArgs are the arguments of xcsh.team.undelete.
type TeamUndeleteArgs struct {
	Folder
	SID string `json:"sid" jsonschema:"The session's ID in the store, as xcsh.team.unshare returned it."`
}

// TeamUndeleteResult is empty.
type TeamUndeleteResult struct{}

func runTeamUndelete(ctx context.Context, env *Env, a TeamUndeleteArgs) (TeamUndeleteResult, error) {
	if err := env.needTeam(ctx); err != nil {
		return TeamUndeleteResult{}, err
	}
	cwd, err := env.cwd(ctx, a.Folder)
	if err != nil {
		return TeamUndeleteResult{}, err
	}
	if a.SID == "" {
		n := need{question: "The ID of the session in the team store", nothing: "No ID entered", input: InputText, field: "sid"}
		if a.SID, err = env.ask().text(ctx, n, "", ""); err != nil {
			return TeamUndeleteResult{}, err
		}
	}
	if !validSID(a.SID) {
		return TeamUndeleteResult{}, fault.New(fault.InvalidArgument, "%q is not the ID of a session in the team store.", a.SID).With("field", "sid")
	}
	if err := env.Team.Delete(ctx, a.SID, true); err != nil {
		return TeamUndeleteResult{}, err
	}
	env.Sessions.ListChanged(cwd)
	return TeamUndeleteResult{}, nil
}
