package replicate

import (
	"context"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team/connect"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
)

// shareVariable stands for the user's yes in a container. Its value is new:HOST. A repository can set variables in its containers, so that the
// host has to be that of the address, which comes from the user's own secrets.
const (
	shareVariable = "XCSH_TEAM_SHARE"
	newOf         = "new:"
	teamVariable  = "XCSH_TEAM" // the name of the team; empty for the user's only one
)

// Shares reports whether the user shares a project, or the variable of a container says so for one that they have not decided about.
func (r *Replicator) Shares(key string) bool {
	d, err := r.consent.Read()
	if err != nil || key == "" {
		return false
	}
	if p, decided := d.Projects[key]; decided {
		return p.Share != consent.Off
	}
	return strings.HasPrefix(r.c.Device.Getenv(shareVariable), newOf)
}

// agreeInContainer shares the project of the open folder as the variable says, unless the user decided about the project. It tries again
// while the store cannot be reached.
func (r *Replicator) agreeInContainer(ctx context.Context) {
	for {
		err := r.agreeOnce(ctx)
		r.mu.Lock()
		r.problem = err
		r.ringLocked()
		r.mu.Unlock()
		if err != nil {
			r.c.Log.Warn(shareVariable+" has no effect", zap.Error(err))
		}
		if err == nil || !isOffline(err) || !r.pause(ctx, lookTime, nil) {
			return
		}
	}
}

func (r *Replicator) agreeOnce(ctx context.Context) error {
	host, ok := strings.CutPrefix(r.c.Device.Getenv(shareVariable), newOf)
	if !ok || host == "" {
		return fault.New(fault.InvalidArgument, "%s must be new: and the host of the team store.", shareVariable).With("field", shareVariable)
	}
	folder := r.c.Device.Folder
	d, err := r.consent.Read()
	if err != nil || folder == "" {
		return err
	}
	project, _ := r.project(folder, d) // an error means that it has no key
	if _, decided := d.Projects[project.Key]; decided || project.Key == "" {
		return nil
	}
	_, address, err := r.opened()
	if err != nil {
		return err
	}
	if !isHostOf(host, address) {
		return fault.New(fault.Denied, "%s names %s, which is not the host of the team store. Nothing is sent.", shareVariable, fault.OneLine(host)).With("field", shareVariable)
	}
	s := Sharing{Cwd: folder, Scope: ScopeNew, Team: r.c.Device.Getenv(teamVariable)}
	p, err := r.propose(ctx, s)
	if err != nil {
		return err
	}
	if p.other {
		return fault.New(fault.Refused, "The team store at %s is another one than the one that you agreed to. Nothing is sent until you share the project again.", server(address))
	}
	return r.Share(ctx, s, p.token())
}

// isHostOf reports whether all hosts of an address are named, separated by commas.
func isHostOf(named string, a connect.Address) bool {
	names := strings.Split(strings.ToLower(named), ",")
	for _, host := range a.Hosts {
		if host == "" || !slices.Contains(names, strings.ToLower(host)) {
			return false
		}
	}
	return len(a.Hosts) > 0
}
