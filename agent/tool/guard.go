package tool

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/tamper"
)

// compareEvery is the time between two comparisons of the protected files while a background command
// is running.
const compareEvery = 3 * time.Second

// guard compares the protected files of a folder while background commands run in the sandbox.
//
// A foreground command's changes are undone at once, and made again if the user wants to keep them.
// Background commands run for hours, in which the user changes such files too: here the user is asked
// first, and changes are undone if the answer is no. If the session ends before the answer, they are
// undone and a copy is left in the temporary directory.
type guard struct {
	report func(text string)
	every  time.Duration

	// turn is the right to compare and change protected files. It is held while a
	// foreground command runs, which has a comparison of its own, but not while the user is asked.
	turn chan struct{}

	mu       sync.Mutex // guards the fields below
	running  int        // commands
	snapshot *tamper.Snapshot
	keep     Keeping
	asking   bool
	stop     context.CancelFunc // ends the watch
	ended    chan struct{}      // closed when it has ended
	poke     chan struct{}      // a command has ended
	notes    []string           // for the model
}

// Keeping asks the user whether changes stay, see [Permission].
type Keeping func(ctx context.Context, paths []string) error

// enter begins to compare for one more command.
func (g *guard) enter(cwd string, keep Keeping) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keep = keep
	if g.snapshot == nil {
		s, err := tamper.NewSnapshot(cwd, sandbox.GitDirs(cwd)...)
		if err != nil {
			return err
		}
		ctx, stop := context.WithCancel(context.Background())
		g.snapshot, g.stop, g.ended, g.poke = s, stop, make(chan struct{}), make(chan struct{}, 1)
		go g.watch(ctx, g.ended, g.poke)
	}
	g.running++
	return nil
}

// leave ends the comparisons for one command, after a last one.
func (g *guard) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	select {
	case g.poke <- struct{}{}:
	default:
	}
}

// watch compares until no command is running and all changes have been decided on.
func (g *guard) watch(ctx context.Context, ended chan<- struct{}, poke <-chan struct{}) {
	defer close(ended)
	tick := time.NewTicker(g.every)
	defer tick.Stop()
	for closing := ctx.Done(); ; {
		select {
		case <-tick.C:
		case <-poke:
		case <-closing:
			closing = nil
		}
		idle := g.idle() // before the comparison, which is then the last one
		g.check(ctx, true)
		if idle && g.finish() {
			return
		}
	}
}

// idle reports whether no command is running.
func (g *guard) idle() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running == 0
}

// finish ends the watch unless another command has started, or a question is still open.
func (g *guard) finish() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running > 0 || g.asking {
		return false
	}
	_ = g.snapshot.Close()
	g.stop()
	g.snapshot, g.keep = nil, nil
	return true
}

// close waits for the end of the watch, after the commands have ended. Questions are withdrawn.
func (g *guard) close() {
	g.mu.Lock()
	stop, ended := g.stop, g.ended
	g.mu.Unlock()
	if stop != nil {
		stop()
		<-ended
	}
	g.takeNotes() // the next conversation has nothing to do with them
}

// take takes the turn. It reports false if ctx ended first, which it does not regard as the end of a
// wait if the turn is free.
func (g *guard) take(ctx context.Context) bool {
	select {
	case g.turn <- struct{}{}:
		return true
	default:
	}
	select {
	case g.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (g *guard) give() { <-g.turn }

// check asks about new changes and undoes those that the user does not want. If ctx ends first, last
// decides whether they are undone or asked about again.
func (g *guard) check(ctx context.Context, last bool) {
	if !g.take(ctx) {
		return
	}
	s, keep, changes := g.compare()
	g.give()
	if len(changes) == 0 {
		return
	}
	err := keep(ctx, pathsOf(changes))
	if !g.take(context.WithoutCancel(ctx)) {
		return
	}
	defer g.give()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asking = false
	switch unanswered := ctx.Err() != nil; {
	case err == nil:
		s.Accept(changes)
		return
	case unanswered && !last:
		return
	case unanswered:
		g.report(saveUndone(changes))
	}
	left := s.Undo(changes)
	g.notes = append(g.notes, "Changes by background commands: "+protected{undone: changes, left: left}.undoneNote())
}

// compare returns new changes, of which none is being asked about.
func (g *guard) compare() (*tamper.Snapshot, Keeping, []tamper.Change) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.snapshot == nil || g.asking {
		return nil, nil, nil
	}
	changes := g.snapshot.Changes()
	g.asking = len(changes) > 0
	return g.snapshot, g.keep, changes
}

// foreground prepares for a command in the foreground, which compares protected files itself. It
// decides on earlier changes first. done must be called after the command, with the changes
// that the user kept.
func (g *guard) foreground(ctx context.Context) (done func(kept []string), err error) {
	g.check(ctx, false)
	if !g.take(ctx) {
		return nil, ctx.Err()
	}
	return func(kept []string) {
		g.acceptLocked(kept)
		g.give()
	}, nil
}

// approved prepares for the write of a file that the user approved, which is no change by a background
// command. done must be called after it.
func (b *Background) approved(ctx context.Context, path string) (done func()) {
	if b == nil || !b.guard.take(ctx) {
		return func() {}
	}
	return func() {
		b.guard.acceptLocked([]string{path})
		b.guard.give()
	}
}

// acceptLocked makes the content of files, which the user approved, part of the snapshot. The caller has
// the turn.
func (g *guard) acceptLocked(paths []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.snapshot == nil || len(paths) == 0 {
		return
	}
	changes := g.snapshot.Changes()
	g.snapshot.Accept(slices.DeleteFunc(changes, func(c tamper.Change) bool { return !slices.Contains(paths, c.Path) }))
}

func (g *guard) takeNotes() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	notes := g.notes
	g.notes = nil
	return notes
}

func pathsOf(changes []tamper.Change) []string {
	paths := make([]string, len(changes))
	for i, c := range changes {
		paths[i] = c.Path
	}
	return paths
}

// saveUndone copies changes that are undone without an answer, and returns a sentence for the user.
func saveUndone(changes []tamper.Change) string {
	what := "Protected files changed while a background command was running, and the changes could not be approved any more, so they were undone: " +
		strings.Join(pathsOf(changes), ", ") + "."
	disk := afero.NewOsFs()
	dir, err := afero.TempDir(disk, "", "xcsh-ls-undone-")
	if err != nil {
		return what
	}
	for i, c := range changes {
		if content, ok := c.Content(); ok {
			_ = afero.WriteFile(disk, filepath.Join(dir, strconv.Itoa(i)+"-"+filepath.Base(c.Path)), content, 0o600) // best effort
		}
	}
	return what + " Copies are in " + dir + "."
}
