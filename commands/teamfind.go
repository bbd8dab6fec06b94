package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// teamSubject is a session of the store.
type teamSubject struct {
	cwd  string // the folder of the call
	sid  string
	path string // of its file on this machine, "" if it has none
	name string // for the user
}

// teamSession returns the session of the store that a call names: a session of this machine, or else one that is only in the store.
func (env *Env) teamSession(ctx context.Context, s Subject) (teamSubject, error) {
	if err := env.needTeam(ctx); err != nil {
		return teamSubject{}, err
	}
	l, err := env.resolver().locate(ctx, s)
	if fault.Is(err, fault.NotFound) && s.Source != "" {
		cwd, cwdErr := env.cwd(ctx, s.Folder)
		if cwdErr != nil {
			return teamSubject{}, cwdErr
		}
		info, found, findErr := env.findInTeam(ctx, cwd, s.Source, env.ask())
		if findErr != nil {
			return teamSubject{}, findErr
		}
		if found {
			return teamSubject{cwd: cwd, sid: info.Team.SID, name: info.Name}, nil
		}
	}
	if err != nil {
		return teamSubject{}, err
	}
	path := l.file()
	sid := env.Team.SID(path)
	if path == "" || !validSID(sid) {
		return teamSubject{}, fault.New(fault.NotFound, "This session is not in the team store. Share it with xcsh.team.share.").With("path", path)
	}
	return teamSubject{cwd: l.cwd, sid: sid, path: path, name: teamLine(sessionName(env.Finder, path), maxTeamTitle)}, nil
}

// findInTeam returns the session of the store that target names. If there are several, it asks the user.
func (env *Env) findInTeam(ctx context.Context, cwd, target string, ask prompter) (info library.Info, found bool, err error) {
	infos, err := env.Team.Find(ctx, cwd, target)
	if err != nil {
		return info, false, err
	}
	var shown []library.Info
	for _, i := range infos {
		if i, ok := remoteInfo(i); ok {
			if i.Team.SID == target {
				return i, true, nil
			}
			shown = append(shown, i)
		}
	}
	switch len(shown) {
	case 0:
		return info, false, nil
	case 1:
		return shown[0], true, nil
	}
	info, err = ask.which(ctx, shown, ambiguousInTeam(target, shown))
	return info, err == nil, err
}

// maxCandidates is the largest number of sessions in an ambiguous error about the store.
const maxCandidates = 50

func ambiguousInTeam(target string, infos []library.Info) error {
	type candidate struct {
		SID      string `json:"sid"`
		ID       string `json:"id"`
		Name     string `json:"name"`
		Owner    string `json:"owner"`
		Modified string `json:"modified"`
	}
	candidates := []candidate{}
	for _, i := range infos[:min(len(infos), maxCandidates)] {
		candidates = append(candidates, candidate{i.Team.SID, i.ID, i.Name, i.Team.Owner, i.Modified})
	}
	return fault.New(fault.Ambiguous, "%d sessions of the team store match %q.", len(infos), teamLine(target, maxTeamTitle)).With("candidates", candidates)
}

func noSessionInTeam() error {
	return fault.New(fault.NotFound, "No session of this project is in the team store, or none that you may read.")
}

// PullByID brings the session of the store into a file for the folder cwd whose id in the header or in the store is exactly id. found is false
// if there is none, or no store.
func (env *Env) PullByID(ctx context.Context, cwd, id string) (path string, found bool, err error) {
	if env.Team == nil || id == "" {
		return "", false, nil
	}
	infos, err := env.Team.Find(ctx, cwd, id)
	if err != nil {
		return "", false, err
	}
	for _, i := range infos {
		i, ok := remoteInfo(i)
		if ok && (i.ID == id && i.Team.Variant == 0 || i.Team.SID == id) {
			path, _, err = env.Team.Pull(ctx, i.Team.SID, cwd, func(int64, int64) {})
			return path, err == nil, err
		}
	}
	return "", false, nil
}
