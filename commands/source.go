package commands

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Subject is embedded in the arguments of commands that can look at any session.
type Subject struct {
	Folder
	Source string `json:"source,omitempty" jsonschema:"The session: an id, an id prefix, a file name, a title, a path or a file: URI. Absent: the folder's live session."`
}

// subject is the session a command is about.
type subject struct {
	doc  *session.Document
	leaf session.Leaf
	path string         // "" for a session in memory
	live *agent.Session // nil for one that is only read
}

// withSource calls f with the session that s names. A session that is live in its
// folder is seen as it is there, entries that are not on disk yet included; any other
// is read from its file, which is never changed. f must not keep the document.
func (env *Env) withSource(ctx context.Context, s Subject, f func(cwd string, sub subject) error) error {
	cwd, err := env.cwd(ctx, s.Folder)
	if err != nil {
		return err
	}
	if s.Source == "" {
		live, err := env.Sessions.Session(ctx, cwd)
		if err != nil {
			return err
		}
		return viewLive(cwd, live, f)
	}
	path, err := env.find(ctx, cwd, s.Source)
	if err != nil {
		return err
	}
	if liveCwd, ok := env.Sessions.LiveIn(path); ok {
		if live := env.Sessions.Live(liveCwd); live != nil {
			return viewLive(cwd, live, f)
		}
	}
	doc, err := env.Store.Load(path)
	if err == nil {
		err = f(cwd, subject{doc: doc, leaf: session.AtLast(), path: path})
	}
	if doc != nil {
		err = errors.Join(err, doc.Close())
	}
	return err
}

func viewLive(cwd string, live *agent.Session, f func(string, subject) error) error {
	return live.View(func(d *session.Document, leaf session.Leaf) error {
		return f(cwd, subject{doc: d, leaf: leaf, path: live.File(), live: live})
	})
}

// find returns the file of the one session that target names.
func (env *Env) find(ctx context.Context, cwd, target string) (string, error) {
	return env.findBy(ctx, cwd, target, func(_ []session.Info, ambiguous error) (session.Info, error) { return session.Info{}, ambiguous })
}

// findOrAsk is find for a change that the person waits for: of several matches they choose.
func (env *Env) findOrAsk(ctx context.Context, cwd, target string) (string, error) {
	return env.findBy(ctx, cwd, target, func(matches []session.Info, ambiguous error) (session.Info, error) {
		return env.askWhich(ctx, matches, ambiguous)
	})
}

func (env *Env) findBy(ctx context.Context, cwd, target string, several func([]session.Info, error) (session.Info, error)) (string, error) {
	target = env.spelling(cwd, target)
	path, ok, err := env.Finder.TargetPath(cwd, target)
	if err != nil {
		return "", err
	}
	if ok && env.exists(path) {
		// Not asked what it is: a damaged session is a session to doctor and salvage.
		return path, nil
	}
	resolution, err := env.Finder.Resolve(ctx, cwd, target, session.ResolveOptions{})
	if err != nil {
		return "", err
	}
	info, err := resolution.One()
	if fault.Is(err, fault.Ambiguous) {
		info, err = several(resolution.Matches, err)
	}
	return info.Path, err
}

// spelling is target without the quotes around it, in which file managers copy paths, unless
// there is a file that has them in its name.
func (env *Env) spelling(cwd, target string) string {
	if path, ok, err := env.Finder.TargetPath(cwd, target); ok && err == nil && env.exists(path) {
		return target
	}
	return unquoted(target)
}

// unquoted takes off a pair of quotes around all of s.
func unquoted(s string) string {
	if n := len(s); n > 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}

func (env *Env) exists(path string) bool {
	_, err := env.Fs.Stat(path)
	return err == nil
}

// absolute resolves a path argument against the working directory of the call. ~/ is the
// home directory.
func (env *Env) absolute(cwd, path, field string) (string, error) {
	local, err := localPath(path)
	if err != nil || local == "" || strings.ContainsRune(local, 0) {
		return "", fault.New(fault.InvalidArgument, "%q is not a path or a file: URI of this machine.", path).With("field", field)
	}
	if rest, home := strings.CutPrefix(local, "~/"); home && env.Finder.Home != "" {
		local = filepath.Join(env.Finder.Home, rest)
	}
	if !filepath.IsAbs(local) {
		local = filepath.Join(cwd, local)
	}
	return filepath.Clean(local), nil
}
