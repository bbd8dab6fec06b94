package commands

import (
	"context"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Pulled is what was brought from the team store.
type Pulled struct {
	Bytes int64 `json:"bytes"`
}

// TeamNewest is a [Team] that knows the user's own sessions.
type TeamNewest interface {
	// Newest returns the session of the store that this user wrote last in the project of the folder cwd. ok is false if there is none, and
	// also unless the user shares the project.
	Newest(ctx context.Context, cwd string) (info library.Info, ok bool, err error)
}

// sharedResume resumes sessions that are, or may be, in the store. Without a store it is [resumeJob].
type sharedResume struct {
	env  *Env
	job  *resumeJob
	args ResumeArgs
}

// listed resumes a session of a list.
func (r sharedResume) listed(ctx context.Context, info library.Info) (ResumeResult, error) {
	if info.Team != nil && info.Team.Remote {
		return r.remote(ctx, info)
	}
	if result, done, err := r.local(ctx, info.Path, info.Name); done || err != nil {
		return result, err
	}
	return r.job.listed(ctx, r.args, info)
}

// file resumes a session that is named by its path.
func (r sharedResume) file(ctx context.Context, n namedFile) (ResumeResult, error) {
	if !n.isNew() {
		if result, done, err := r.local(ctx, n.path, n.name); done || err != nil {
			return result, err
		}
	}
	return r.job.file(ctx, n)
}

// elsewhere resumes a session of the store if none of this machine was found, which is the error missing.
func (r sharedResume) elsewhere(ctx context.Context, missing error) (ResumeResult, error) {
	if r.env.Team == nil || !fault.Is(missing, fault.NotFound) || r.args.Scope != "" && r.args.Scope != scopeTeam {
		return ResumeResult{}, missing
	}
	info, found, err := r.env.findInTeam(ctx, r.job.live.Cwd(), unquoted(r.args.Target), r.job.ask)
	if err != nil {
		return ResumeResult{}, err
	}
	if !found {
		return ResumeResult{}, missing
	}
	return r.remote(ctx, info)
}

// continued resumes the newest session of the store in a folder without a session. done is false if the folder has one, or the store none.
func (r sharedResume) continued(ctx context.Context) (result ResumeResult, done bool, err error) {
	mine, ok := r.env.Team.(TeamNewest)
	if !ok {
		return result, false, nil
	}
	if has, err := r.job.live.HasPrevious(ctx); has || err != nil {
		return result, false, err
	}
	info, ok, err := mine.Newest(ctx, r.job.live.Cwd())
	if err != nil {
		if _, known := teamProblem(err); !known {
			return result, false, err
		}
		r.env.UI.Notify(ctx, LevelWarning, fault.OneLine(err.Error())) // the user can begin a new one meanwhile
		return result, false, nil
	}
	if !ok {
		return result, false, nil
	}
	if info, ok = remoteInfo(info); !ok {
		return result, false, nil
	}
	r.job.leave = func(context.Context) error { return nil } // the user was asked
	result, err = r.remote(ctx, info)
	return result, true, err
}

// remote pulls a session of the store and makes it the live one.
func (r sharedResume) remote(ctx context.Context, info library.Info) (ResumeResult, error) {
	of := teamSubject{cwd: r.job.live.Cwd(), sid: info.Team.SID, name: teamLine(info.Name, maxTeamTitle)}
	how, err := r.whileBusy(ctx, of)
	if err != nil {
		return ResumeResult{}, err
	}
	if how == busyRead {
		return r.read(ctx, of)
	}
	if err := r.job.leave(ctx); err != nil {
		return ResumeResult{}, err
	}
	if err := r.claim(ctx, of, how); err != nil {
		return ResumeResult{}, err
	}
	path, err := r.pull(ctx, of)
	if err != nil {
		return ResumeResult{}, err
	}
	if how == busyFork {
		out, err := r.job.live.ForkFrom(ctx, path)
		return r.job.result(ctx, out, path, err)
	}
	out, err := r.job.open(ctx, path)
	return r.job.result(ctx, out, "", err)
}

// local prepares a session with a file on this machine: what the store has more is pulled. done is false if it is then resumed as any other.
// The store cannot prevent that: without an answer of the network, the file is what there is.
func (r sharedResume) local(ctx context.Context, path, name string) (result ResumeResult, done bool, err error) {
	if r.env.Team == nil || path == "" {
		return result, false, nil
	}
	of := teamSubject{cwd: r.job.live.Cwd(), sid: r.env.Team.SID(path), path: path, name: teamLine(name, maxTeamTitle)}
	if !validSID(of.sid) {
		return result, false, nil
	}
	one := []library.Info{{Path: path}}
	r.env.Team.Mark(one)
	known := one[0].Team
	if known == nil || known.Writer == "" && known.Newer == 0 {
		return result, false, nil
	}
	how := ""
	if known.Writer != "" {
		how, err = r.whileBusy(ctx, of)
		if _, unreachable := teamProblem(err); unreachable {
			return result, false, nil
		}
		if err != nil {
			return result, false, err
		}
	}
	if how == busyRead {
		result, err = r.read(ctx, of)
		return result, true, err
	}
	if err := r.claim(ctx, of, how); err != nil {
		return result, false, err
	}
	if _, err := r.pull(ctx, of); err != nil {
		if _, unreachable := teamProblem(err); !unreachable {
			return result, false, err
		}
		r.env.UI.Notify(ctx, LevelWarning, fault.OneLine(err.Error()))
	}
	if how != busyFork {
		return result, false, nil
	}
	if err := r.job.leave(ctx); err != nil {
		return result, false, err
	}
	out, err := r.job.live.ForkFrom(ctx, path)
	result, err = r.job.result(ctx, out, path, err)
	return result, true, err
}

// pull brings a session into a file and reports the progress.
func (r sharedResume) pull(ctx context.Context, of teamSubject) (path string, err error) {
	progress := r.env.UI.Progress(ctx, "Pulling "+of.name)
	defer func() { progress.End("") }()
	path, n, err := r.env.Team.Pull(ctx, of.sid, of.cwd, func(done, total int64) {
		if total <= 0 {
			progress.Report(megabytes(done), -1)
			return
		}
		progress.Report(fmt.Sprintf("%s of %s", megabytes(done), megabytes(total)), int(min(max(done, 0)*100/total, 100)))
	})
	if err == nil {
		r.job.pulled = &Pulled{Bytes: n}
	}
	return path, err
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(max(n, 0))/1e6) }

// read follows a session instead of resuming it.
func (r sharedResume) read(ctx context.Context, of teamSubject) (result ResumeResult, err error) {
	if result.Following, err = r.env.follow(ctx, of); err != nil {
		return ResumeResult{}, err
	}
	result.Repairs = []session.Problem{}
	if result.Session, err = stateOf(ctx, r.job.live); err != nil {
		return ResumeResult{}, err
	}
	err = r.job.live.View(func(d *session.Document, leaf session.Leaf) error {
		result.Summary, err = summarise(d, leaf)
		return err
	})
	return result, err
}
