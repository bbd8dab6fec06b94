package library

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Finder finds session files. It changes nothing on disk except its own cache, keeps
// nothing in memory between calls and is safe for concurrent use. Fs and Now must be set.
type Finder struct {
	Fs         afero.Fs
	Roots      []Root // in the order of preference; at most one is Own
	Home, Temp string
	RealPath   func(string) (string, error) // nil: there are no symbolic links
	Now        func() time.Time
	SessionDir string // if set, all sessions are in it, flat, and Roots is ignored
	CacheDir   string // directory of the cache of lists; "": no cache
	IndexDir   string // directory of the index files of large sessions; "": none
	IndexMax   int64  // see [session.StoreConfig]
	AgentHome  string // directory of agent-base's own files; "": .agent in Home
}

func (f Finder) now() time.Time { return f.Now() }

// ListOptions narrow or widen a listing. The zero value gives the list of a picker.
type ListOptions struct {
	IncludeEmpty bool   // also sessions without messages
	SessionDir   string // instead of Finder.SessionDir
	AllText      bool   // fill Info.AllText, which requires reading every file

	// Query, unless blank, leaves only the sessions that fit all of its words, the best
	// first; see [Match].
	Query string

	// Skip is the number of sessions left out at the beginning of the list, and Limit that of the
	// sessions of the result, 0 for all. Only, if set, is the path of the only session of the result.
	// The time that a list takes depends mainly on the number of these sessions, the files that
	// are not in the cache aside.
	Skip, Limit int
	Only        string

	// Progress, when set, is called after each file, never twice at a time.
	Progress func(done, total int)

	// Each, if set and there is no query, is called with every session of the result in its
	// order, as soon as those before it are known, never concurrently.
	Each func(Info)
}

// List describes the sessions of cwd in every root, newest first; sessions changed at the
// same moment are in reverse order of their file names. It looks into every directory that
// cwd may have had. Sessions in them belong to the cwd that the header names, or to the
// directory if it names none. An explicit session directory is listed whole.
//
// A file or directory that cannot be read is a Problem that names it. The errors are of
// kind invalidArgument if cwd is not absolute, and of kind cancelled.
//
// Differs: the originals list every file of the directory, including sessions of another
// project whose path happens to be encoded alike, and they create it.
func (f Finder) List(ctx context.Context, cwd string, opts ListOptions) ([]Info, []session.Problem, error) {
	folders, own, err := f.foldersOf(cwd, f.Roots, opts.SessionDir)
	if err != nil {
		return nil, nil, err
	}
	return f.list(ctx, folders, opts, own)
}

// ListAll is [Finder.List] for every working directory. Sessions are files in the
// directories of a root, or in the root itself; deeper files are the transcripts of
// sub-agents.
func (f Finder) ListAll(ctx context.Context, opts ListOptions) ([]Info, []session.Problem, error) {
	return f.list(ctx, f.allFolders(opts.SessionDir), opts, owner{all: true})
}

// Describe describes the session file at path, which may be anywhere.
func (f Finder) Describe(path string) (Info, error) {
	return describeFile(f.Fs, path, f.rootOf(path), f.now(), true)
}

// describeBriefly is [Finder.Describe] without the texts of the conversation.
func (f Finder) describeBriefly(path string) (Info, error) {
	return describeFile(f.Fs, path, f.rootOf(path), f.now(), false)
}

func (f Finder) list(ctx context.Context, folders []folder, opts ListOptions, own owner) ([]Info, []session.Problem, error) {
	l := listing{f: f, opts: opts, own: own, whole: true, query: parseQuery(opts.Query), everywhere: own.all && len(folders) > 1}
	problems, err := l.look(ctx, folders, nil)
	defer l.close()
	if err == nil {
		err = l.run(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	page, err := l.page(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i := range l.found {
		if err := l.found[i].err; err != nil {
			problems = append(problems, listProblem(err)...)
		}
	}
	slices.SortFunc(problems, func(a, b session.Problem) int { return strings.Compare(a.Message, b.Message) })
	l.remember()
	return l.take(page), problems, nil
}

// NoHeaderFault returns a Damaged error for a file of the given size without a session header.
func NoHeaderFault(path string, size int64) error {
	what := "has no readable session header"
	if size == 0 {
		what = "is empty"
	}
	return fault.New(fault.Damaged, "%s %s; nothing was changed.", path, what).With("path", path)
}

// listProblem describes why a file is not in the list. A file of another project, or one
// that was deleted in the meantime, is not a problem.
func listProblem(err error) []session.Problem {
	switch {
	case errors.Is(err, errNotWanted), fault.Is(err, fault.NotFound):
		return nil
	case fault.Is(err, fault.Damaged):
		return []session.Problem{{Kind: session.NoHeader, Message: err.Error(), Lost: true}}
	default:
		return []session.Problem{{Kind: session.UnreadableFile, Message: err.Error(), Lost: true}}
	}
}

// cancelled is ctx's error as a fault, or nil.
func cancelled(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &fault.Error{Kind: fault.Cancelled, Message: "The listing was cancelled.", Err: err}
	}
	return nil
}
