//go:build !noteam

package main

import (
	"cmp"
	"context"
	"sync"

	"github.com/spf13/cobra"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
	"github.com/xcsh-ls/xcsh-ls/team/replicate"
)

// teamProjects finds the sessions of files.
type teamProjects struct {
	r *replicate.Replicator

	known sync.Map // from the path of a file to its team.SID, zero for none
}

// state returns the state of a file. One that this process did not send is known by what was sent before.
func (p *teamProjects) state(path string) publish.State {
	s := p.r.State(path)
	if !s.SID.IsZero() {
		return s
	}
	if sid, ok := p.known.Load(path); ok {
		s.SID, _ = sid.(team.SID)
		return s
	}
	s.SID, _ = p.r.SID(path)
	p.known.Store(path, s.SID)
	return s
}

// Mark implements [commands.Team].
func (t *teamLink) Mark(infos []library.Info) { t.catalog.Mark(infos) }

// Find implements [commands.Team].
func (t *teamLink) Find(ctx context.Context, cwd, target string) ([]library.Info, error) {
	return t.catalog.Find(ctx, cwd, target)
}

// Newest returns the session of the store that this user wrote last in the project of the folder cwd. ok is false if there is none, and
// also unless the user shares the project.
func (t *teamLink) Newest(ctx context.Context, cwd string) (info library.Info, ok bool, err error) {
	key := t.r.Key(cwd)
	if !t.r.Shares(key) {
		return library.Info{}, false, nil
	}
	mine, err := t.catalog.Mine(ctx)
	if err != nil {
		return library.Info{}, false, err
	}
	for _, s := range mine {
		if s.Project.Key == key && !s.Info.Team.Deleted {
			return s.Info, true, nil
		}
	}
	return library.Info{}, false, nil
}

// all returns the sessions of the store for the project of a folder, latest first, also those that have files here. It waits for the
// store.
func (t *teamLink) all(ctx context.Context, cwd, query string) ([]library.Info, error) {
	if t.r.Key(cwd) == "" {
		return nil, fault.New(fault.NotFound, "This folder has no remote repository and no name, so it has no sessions in the team store. Name it with: xcsh-ls team share --project NAME")
	}
	if query != "" {
		return t.catalog.Search(ctx, cwd, query)
	}
	return t.catalog.All(ctx, cwd)
}

// mine returns the user's own sessions of all projects, latest first.
func (t *teamLink) mine(ctx context.Context) ([]library.Info, error) {
	shared, err := t.catalog.Mine(ctx)
	infos := make([]library.Info, len(shared))
	for i, s := range shared {
		infos[i] = s.Info
		infos[i].Cwd = s.Project.Key
	}
	return infos, err
}

// connected returns the state after an attempt to connect, and what is not sent yet.
func (t *teamLink) connected(ctx context.Context) commands.TeamStatus {
	_, _, err := t.r.Connected(ctx)
	status := t.Status()
	if left, failed := t.r.Unsent(ctx); failed == nil && left.Sessions > status.UnsentSessions { // this process has not looked for changes
		status.UnsentSessions, status.UnsentBytes = left.Sessions, left.Bytes
	}
	if err != nil && status.Problem == "" {
		status.Problem, status.Kind = err.Error(), fault.KindOf(err)
		if status.State = "offline"; status.Kind != fault.Offline {
			status.State = "refused"
		}
	}
	return status
}

// push sends all sessions that the user shares, or those at paths. It prints what is left; the exit code is then 1.
func (t *teamLink) push(ctx context.Context, cmd *cobra.Command, paths []string) error {
	t.start()
	for _, path := range paths {
		t.r.TurnEnded(path)
	}
	var left publish.Left
	var err error
	if len(paths) > 0 {
		left = t.r.Flush(ctx)
	} else {
		left, err = t.r.Push(ctx)
	}
	if err != nil {
		return err
	}
	off := t.notSent(cmd, paths)
	if left.Sessions > 0 {
		return fault.New(cmp.Or(fault.KindOf(left.Err), fault.Offline), "%s", unsentText(left))
	}
	if off {
		return exitCode(exitFailed)
	}
	cmd.Println("Everything that you share is in the team store.")
	return nil
}

// notSent prints the files among paths that are not sent, and why. It reports whether there are any.
func (t *teamLink) notSent(cmd *cobra.Command, paths []string) (any bool) {
	reasons := map[publish.Phase]string{
		publish.Off: "it is not shared; see xcsh-ls team share", publish.Kept: "another device writes it", publish.Behind: "the store has newer lines",
		publish.Gone: "it was deleted from the store, or you may not write it", publish.Waiting: "the store cannot be reached", publish.Stuck: "it failed",
	}
	for _, path := range paths {
		s := t.r.State(path)
		reason, bad := reasons[s.Phase]
		if !bad {
			continue
		}
		any = true
		if s.Err != nil {
			reason = s.Err.Error()
		}
		cmd.PrintErrf("%s: not sent: %s\n", visible.Line(path), visible.Line(reason))
	}
	return any
}

// watch sends in the background until ctx ends.
func (t *teamLink) watch(ctx context.Context) {
	t.start()
	<-ctx.Done()
}
