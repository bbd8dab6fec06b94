//go:build !noteam

package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/catalog"
	"github.com/xcsh-ls/xcsh-ls/team/connect"
	"github.com/xcsh-ls/xcsh-ls/team/gitremote"
	"github.com/xcsh-ls/xcsh-ls/team/identity"
	"github.com/xcsh-ls/xcsh-ls/team/pg"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
	"github.com/xcsh-ls/xcsh-ls/team/replicate"
)

// teamLink is the store of the user's team in this process, as the live sessions and the commands use it.
type teamLink struct {
	r        *replicate.Replicator
	catalog  *catalog.Catalog
	projects *teamProjects
	log      *zap.Logger

	mu       sync.Mutex
	managers []*agent.Manager // that learn of events; guarded by mu
	finished bool             // guarded by mu
}

// openTeam returns the parts of the store, if one may be set up. It starts nothing and connects to nothing, and without a store it
// opens no file.
func openTeam(p place, s lsp.Settings, folders func() []string, log *zap.Logger) teamParts {
	var at []string
	if folders != nil {
		at = folders()
	}
	source := p.teamSource(s, at)
	if !source.configured() {
		return teamParts{}
	}
	t := &teamLink{log: log.Named("team")}
	t.r = replicate.New(p.replication(s, source, at, t))
	t.projects = &teamProjects{r: t.r}
	t.catalog = catalog.New(catalog.Config{
		Connected: t.r.Connected, Key: t.r.Key, State: t.projects.state, Fs: p.fs, Dir: source.dir, Clock: publish.SystemClock{},
		Changed: t.listChanged(folders),
	})
	return teamParts{shared: t, team: t, report: t.reportTo}
}

// replication returns the configuration of the replicator.
func (p place) replication(s lsp.Settings, source teamSource, folders []string, t *teamLink) replicate.Config {
	host, _ := os.Hostname() // only for a label
	here := identity.Surroundings{Getenv: os.Getenv, Host: host}
	if len(folders) > 0 {
		here.Folder = folders[0]
	}
	return replicate.Config{
		Open: func() (team.Store, connect.Address, error) {
			address, c, err := source.find()
			if err != nil {
				return nil, address, err
			}
			store, err := pg.Open(c)
			return store, address, err
		},
		Fs: p.fs, Dir: source.dir, Sessions: p.store, Library: p.finder,
		Git: p.git(), Hosts: s.Team.Hosts, Alias: s.Team.Alias,
		Device: here, Secrets: commands.KnownSecrets(p.fs, p.finder), Image: p.image,
		FlushFor: s.Team.Flush, Event: t.event, Log: t.log,
	}
}

// git is how the remotes of repositories are found.
func (p place) git() gitremote.Machine {
	return gitremote.Machine{Fs: p.fs, Home: p.env.Home, Config: gitremote.ConfigFiles(p.env.Home, os.Getenv), Real: filepath.EvalSymlinks}
}

// image returns an image that a session names by its hash.
func (p place) image(h team.Sum) ([]byte, error) {
	missing := error(fault.New(fault.NotFound, "No image %s on this machine.", h))
	for _, root := range p.finder.Roots {
		blobs := p.store.BlobsFor(filepath.Join(root.Sessions, "x.jsonl"))
		if blobs == nil {
			continue
		}
		b, err := blobs.Blob(h.String())
		if err == nil {
			return b, nil
		}
		if !fault.Is(err, fault.NotFound) {
			missing = err
		}
	}
	return nil, missing
}

// Begin implements [agent.Shared].
func (t *teamLink) Begin(ctx context.Context, path string) (end func(), err error) {
	return t.r.Begin(ctx, path)
}

// Wrote implements [agent.Shared].
func (t *teamLink) Wrote(path string) { t.r.Touched(path) }

// Leaving sends the rest of a session before its file is moved to the trash.
func (t *teamLink) Leaving(ctx context.Context, path string) {
	if state := t.r.State(path); state.Phase != publish.Pending && state.Phase != publish.Waiting {
		return
	}
	t.r.TurnEnded(path)
	t.r.Flush(ctx)
}

// start implements [ownTeam].
func (t *teamLink) start() { t.r.Start(context.Background()) }

// finish implements [ownTeam].
func (t *teamLink) finish(ctx context.Context) (unsent string, err error) {
	t.mu.Lock()
	finished := t.finished
	t.finished = true
	t.mu.Unlock()
	if finished {
		return "", nil
	}
	t.catalog.Close()
	left := t.r.Flush(ctx)
	return unsentText(left), t.r.Close(ctx)
}

// unsentText returns a sentence about the sessions that wait, with the reason, "" if there are none.
func unsentText(left publish.Left) string {
	text := left.String()
	if text != "" && left.Err != nil {
		text += " " + left.Err.Error()
	}
	return text
}

// reportTo passes events to a manager from now on.
func (t *teamLink) reportTo(m *agent.Manager) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.managers = append(t.managers, m)
}

func (t *teamLink) reported() []*agent.Manager {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.managers
}

// listChanged returns a function that announces another list of the store's sessions for the open folders of a project.
func (t *teamLink) listChanged(folders func() []string) func(key string) {
	return func(key string) {
		if folders == nil {
			return
		}
		for _, cwd := range folders() {
			if t.r.Key(cwd) != key {
				continue
			}
			for _, m := range t.reported() {
				m.ListChanged(cwd)
			}
		}
	}
}

// event passes on an event of the replicator.
func (t *teamLink) event(e replicate.Event) {
	for _, m := range t.reported() {
		switch e.Kind {
		case replicate.StateChanged:
			m.ReportTeamState(e.State, e.Unsent)
		case replicate.WriterChanged:
			m.ReportTeamWriter(e.SID.String(), e.Device, e.Owner)
		case replicate.Forked:
			m.ReportTeamForked(e.SID.String(), e.Origin.String(), e.By, e.At.UTC().Format(time.RFC3339))
		}
	}
	if e.Err != nil {
		t.log.Warn("a session is not sent", zap.String("path", e.Path), zap.Error(e.Err))
	}
}

// Status implements [commands.Team].
func (t *teamLink) Status() commands.TeamStatus {
	s := t.r.Status()
	r := commands.TeamStatus{
		State: s.State, Server: s.Server, User: s.User, TLS: s.TLS, UnsentSessions: s.UnsentSessions, UnsentBytes: s.UnsentBytes,
	}
	if !s.Since.IsZero() {
		r.Since = s.Since.UTC().Format(time.RFC3339)
	}
	if s.Problem != nil {
		r.Problem, r.Kind = s.Problem.Error(), fault.KindOf(s.Problem)
	}
	return r
}

// sharing is the same decision for the replicator.
func sharing(s commands.TeamSharing) replicate.Sharing {
	return replicate.Sharing{Cwd: s.Cwd, Scope: s.Scope, Path: s.Path, Visible: s.Visible, Team: s.Team, Name: s.Name}
}

// Plan implements [commands.Team].
func (t *teamLink) Plan(ctx context.Context, s commands.TeamSharing) (commands.TeamPlan, error) {
	p, err := t.r.Plan(ctx, sharing(s))
	return commands.TeamPlan{
		Server: p.Server, User: p.User, TLS: p.TLS, Team: p.Team, Project: p.Project, Readers: p.Readers, Sessions: p.Sessions, Bytes: p.Bytes,
		Older: p.Older, Redacted: p.Redacted, Examples: p.Examples, Text: p.Text, Token: p.Token,
	}, err
}

// Share implements [commands.Team].
func (t *teamLink) Share(ctx context.Context, s commands.TeamSharing, token string) error {
	return t.r.Share(ctx, sharing(s), token)
}

// List implements [commands.Team].
func (t *teamLink) List(ctx context.Context, cwd, query string, infos []library.Info) ([]library.Info, []session.Problem, error) {
	return t.catalog.List(ctx, cwd, query, infos)
}

// sid reads the id of a session in the store.
func sid(text string) (s team.SID, err error) {
	if s, err = team.ParseSID(text); err != nil {
		return s, fault.New(fault.InvalidArgument, "%s is not the whole id of a session in the team store.", text)
	}
	return s, nil
}

// Pull implements [commands.Team].
func (t *teamLink) Pull(ctx context.Context, id, cwd string, progress func(done, total int64)) (path string, bytes int64, err error) {
	s, err := sid(id)
	if err != nil {
		return "", 0, err
	}
	return t.r.Pull(ctx, s, cwd, progress)
}

// Writer implements [commands.Team].
func (t *teamLink) Writer(ctx context.Context, id string) (commands.TeamWriter, error) {
	s, err := sid(id)
	if err != nil {
		return commands.TeamWriter{}, err
	}
	w, err := t.r.Writer(ctx, s)
	return commands.TeamWriter{Owner: w.Owner, Device: w.Label, LeftMs: w.Left.Milliseconds(), Mine: w.Mine}, err
}

// Wait implements [commands.Team].
func (t *teamLink) Wait(ctx context.Context, id string) error {
	s, err := sid(id)
	if err != nil {
		return err
	}
	return t.r.Wait(ctx, s)
}

// Take implements [commands.Team].
func (t *teamLink) Take(ctx context.Context, id string, force bool) (fence int64, err error) {
	s, err := sid(id)
	if err != nil {
		return 0, err
	}
	return t.r.Take(ctx, s, force)
}

// Follow implements [commands.Team].
func (t *teamLink) Follow(ctx context.Context, id, cwd string, got func(b []byte, begin bool)) error {
	s, err := sid(id)
	if err != nil {
		return err
	}
	return t.r.Follow(ctx, s, cwd, func(b []byte, begin bool) error {
		got(b, begin)
		return nil
	})
}

// Delete implements [commands.Team].
func (t *teamLink) Delete(ctx context.Context, id string, undo bool) error {
	s, err := sid(id)
	if err != nil {
		return err
	}
	return t.r.Delete(ctx, s, undo)
}

// SID implements [commands.Team].
func (t *teamLink) SID(path string) string {
	if s, ok := t.r.SID(path); ok {
		return s.String()
	}
	return ""
}
