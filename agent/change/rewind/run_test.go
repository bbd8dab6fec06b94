package rewind

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// newDesk returns a desk on the disk, or in memory.
func newDesk(t testing.TB, onDisk bool) *desk {
	t.Helper()
	d := &desk{fs: afero.NewMemMapFs(), root: filepath.FromSlash("/desk")}
	if onDisk {
		root, err := filepath.EvalSymlinks(t.TempDir())
		require.NoError(t, err)
		d.fs, d.root = afero.NewOsFs(), root
	}
	require.NoError(t, d.fs.MkdirAll(filepath.Join(d.root, "contents"), 0o700))
	require.NoError(t, d.fs.MkdirAll(filepath.Join(d.root, "session", "changes"), 0o700))
	d.documents = change.NoDocuments{}
	return d
}

func (d *desk) edit(t testing.TB, texts map[string][2]string) *editor {
	t.Helper()
	e := &editor{fs: d.fs, file: filepath.Join(d.root, "editor.json"), at: d.at, disk: func(path, text string) {
		require.NoError(t, afero.WriteFile(d.fs, path, []byte(text), 0o644))
	}}
	all := map[string]string{}
	for path, pair := range texts {
		all[d.work(path)] = pair[0]
	}
	require.NoError(t, e.set(all))
	d.documents = e
	return e
}

func TestAllOfARewind(t *testing.T) {
	t.Parallel()
	for name, onDisk := range map[string]bool{"disk": true, "memory": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, onDisk)
			was, will := withDisk(before, "b\n"), withDisk(after, "a\n")
			if onDisk {
				was, will = withLinks(was, "b"), withLinks(will, "../elsewhere")
			}
			d.lay(t, was)
			e := d.edit(t, texts)
			job := d.job(t, was, will, nil)
			steps := job.Steps[:0]
			for _, s := range job.Steps {
				if s.Path != d.work("clean.go") {
					steps = append(steps, s) // it is changed as a document, and saved
				}
			}
			job.Steps = append(steps, d.job(t, nil, nil, texts).Steps...)
			done, err := d.runner().Run(t.Context(), job)
			require.NoError(t, err)
			require.NotEmpty(t, done.ID)
			require.Equal(t, []string{d.work("open.go")}, done.Unsaved)
			require.Equal(t, will, d.now(t))
			require.Equal(t, map[string]string{d.work("open.go"): "package a // unsaved\n", d.work("clean.go"): "a\n"}, e.texts())
			require.Equal(t, 1, d.records(t))
			d.requireClean(t)
		})
	}
}

// TestAFileThatSomebodyWroteMeanwhile: at any step, all files are as before, and the other program's file stays.
// Proves: RW-08, RW-09
func TestAFileThatSomebodyWroteMeanwhile(t *testing.T) {
	t.Parallel()
	steps := map[string]int{}
	count := newDesk(t, true)
	count.lay(t, before)
	count.at = func(step string) { steps[step]++ }
	_, err := count.runner().Run(t.Context(), count.job(t, before, after, nil))
	require.NoError(t, err)
	for _, victim := range []string{"edited.go", "renamed.txt", "deleted.txt"} {
		for step, times := range steps {
			for n := range times {
				d := newDesk(t, true)
				d.lay(t, before)
				seen := 0
				wrote := false
				d.at = func(s string) {
					if s != step {
						return
					}
					if seen++; seen == n+1 {
						wrote = true
						require.NoError(t, afero.WriteFile(d.fs, d.work(victim), []byte("somebody's"), 0o644))
					}
				}
				job := d.job(t, before, after, nil)
				_, err := d.runner().Run(t.Context(), job)
				at := fmt.Sprintf("%s at %s %d", victim, step, n)
				require.True(t, wrote, at)
				d.requireClean(t)
				got := d.now(t)
				require.Equal(t, "somebody's", got[victim].text, at)
				got[victim] = before[victim]
				if err != nil {
					require.Equal(t, fault.Stale, fault.KindOf(err), at)
					require.Equal(t, 0, d.records(t), at)
					if _, ok := before[victim]; !ok {
						delete(got, victim)
					}
					require.Equal(t, before, got, at)
					continue
				}
				require.Equal(t, 1, d.records(t), at) // it was written behind the swap
				got[victim] = after[victim]
				if _, ok := after[victim]; !ok {
					delete(got, victim)
				}
				require.Equal(t, after, got, at)
			}
		}
	}
}

// TestEachFailingStepOfTheDisk: an error says that nothing was changed, and nothing was; or the file system is gone and the next
// process recovers.
// Proves: RW-10
func TestEachFailingStepOfTheDisk(t *testing.T) {
	t.Parallel()
	for _, mode := range []st.Mode{st.Once, st.Dead, st.Short} {
		for n := 1; ; n++ {
			d := newDesk(t, false)
			d.lay(t, before)
			base := d.fs
			job := d.job(t, before, after, nil)
			faulty := &st.FaultFs{Fs: base, At: n, Mode: mode}
			d.fs = faulty
			r := d.runner()
			r.Contents = contents{base, filepath.Join(d.root, "contents")}
			_, err := r.Run(t.Context(), job)
			reached := faulty.Fired()
			d.fs = base
			recovered, recoverErr := d.runner().Recover(t.Context(), false)
			at := fmt.Sprintf("%v %d: %v, %+v", mode, n, err, recovered)
			require.NoError(t, recoverErr, at)
			d.requireClean(t)
			got := d.now(t)
			if d.records(t) == 1 {
				require.Equal(t, after, got, at)
			} else {
				require.Error(t, err, at)
				require.Equal(t, before, got, at)
			}
			if !reached {
				require.NoError(t, err)
				break
			}
		}
	}
}

// TestTheUserGoesOnBehindTheRecord: the journal of a completed rewind can remain. Changes after it are the user's and don't undo the
// rewind.
func TestTheUserGoesOnBehindTheRecord(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	d.lay(t, before)
	job := d.job(t, before, after, nil)
	base := d.fs
	faulty := &st.FaultFs{Fs: base, At: 1, Mode: st.Dead, On: func(op, name string) bool { return op == "remove" && filepath.Base(name) == decided }}
	d.fs = faulty
	done, err := d.runner().Run(t.Context(), job)
	require.NoError(t, err, "it is carried out")
	require.NotEmpty(t, done.ID)
	require.True(t, faulty.Fired())
	d.fs = base
	require.True(t, d.runner().Interrupted())
	require.NoError(t, afero.WriteFile(d.fs, d.work("edited.go"), []byte("the user's"), 0o644))
	got, err := d.runner().Recover(t.Context(), false)
	require.NoError(t, err)
	require.Equal(t, Completed, got.Outcome)
	require.Equal(t, done.ID, got.ID)
	require.Equal(t, 1, d.records(t))
	now := d.now(t)
	require.Equal(t, "the user's", now["edited.go"].text)
	require.Equal(t, without(after, "edited.go"), without(now, "edited.go"))
	d.requireClean(t)
}

// Proves: RW-30
func TestDocuments(t *testing.T) {
	t.Parallel()
	unknown := fmt.Errorf("no answer: %w", change.ErrUnknown)
	for name, c := range map[string]struct {
		answer func(e *editor, edits []change.DocumentEdit) error
		kind   fault.Kind // "": it is carried out
	}{
		"made":    {nil, ""},
		"refused": {func(*editor, []change.DocumentEdit) error { return fault.New(fault.Denied, "The editor refused.") }, fault.Denied},
		"dropped": {func(*editor, []change.DocumentEdit) error { return unknown }, fault.Internal},
		"made, but the answer was lost": {func(e *editor, edits []change.DocumentEdit) error {
			return errors.Join(e.apply(edits), unknown)
		}, ""},
		"one made, and the answer was lost": {func(e *editor, edits []change.DocumentEdit) error {
			if len(edits) == 1 {
				return e.apply(edits) // the way back
			}
			return errors.Join(e.apply(edits[:1]), unknown)
		}, fault.Internal},
		"the user typed": {func(e *editor, edits []change.DocumentEdit) error {
			all := e.texts()
			all[edits[0].Path] += "typed"
			if err := e.set(all); err != nil {
				return err
			}
			return fault.New(fault.Stale, "Changed.").With("path", edits[0].Path)
		}, fault.Stale},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, false)
			d.lay(t, before)
			e := d.edit(t, texts)
			was := e.texts()
			job := d.job(t, before, after, nil)
			job.Steps = append(job.Steps, d.job(t, nil, nil, texts).Steps...)
			e.answer = c.answer
			_, err := d.runner().Run(t.Context(), job)
			if c.kind == "" {
				require.NoError(t, err)
				require.Equal(t, after, without(d.now(t), "clean.go"))
				require.Equal(t, "package a // unsaved\n", e.texts()[d.work("open.go")])
				return
			}
			require.Error(t, err)
			if c.kind != fault.Internal {
				require.Equal(t, c.kind, fault.KindOf(err))
			}
			require.Equal(t, before, d.now(t))
			require.Equal(t, 0, d.records(t))
			now := e.texts()
			for path, text := range was {
				if c.kind == fault.Stale && now[path] == text+"typed" {
					continue
				}
				require.Equal(t, text, now[path])
			}
			d.requireClean(t)
		})
	}
}

func without(files tree, path string) tree {
	files = maps.Clone(files)
	delete(files, path)
	return files
}

// TestAHostileJournal: an untrusted folder has a session and a forged journal. It is ignored without a pointer.
func TestAHostileJournal(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	d.lay(t, tree{"victim": {text: "precious", mode: 0o600}})
	sha := d.contents().put(t, "evil")
	victim := change.Sum([]byte("precious"))
	raw := fmt.Sprintf(`{"v":1,"key":"k","steps":[{"path":%q,"temp":%q,"old":{"kind":"file","sha256":%q,"mode":384},"new":{"kind":"file","sha256":%q,"mode":493}}]}`,
		d.work("victim"), d.work(".xcsh-a.tmp"), victim, sha)
	for _, name := range []string{planned, decided, goBack} {
		require.NoError(t, afero.WriteFile(d.fs, filepath.Join(d.root, "session", "changes", name), []byte(raw), 0o600))
	}
	got, err := d.runner().Recover(t.Context(), false)
	require.NoError(t, err)
	require.Equal(t, Nothing, got.Outcome)
	require.Equal(t, "precious", d.now(t)["victim"].text)
	require.Equal(t, 0, d.records(t))
}

// TestAParentThatBecameALink: nothing is written through it.
// Proves: RW-24
func TestAParentThatBecameALink(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	was, will := tree{"dir/a": {text: "b", mode: 0o600}}, tree{"dir/a": {text: "a", mode: 0o600}}
	d.lay(t, was)
	job := d.job(t, was, will, nil)
	elsewhere := filepath.Join(d.root, "elsewhere")
	require.NoError(t, d.fs.Rename(d.work("dir"), elsewhere))
	require.NoError(t, os.Symlink(elsewhere, d.work("dir")))
	_, err := d.runner().Run(t.Context(), job)
	require.Equal(t, fault.Stale, fault.KindOf(err))
	got, err := afero.ReadFile(d.fs, filepath.Join(elsewhere, "a"))
	require.NoError(t, err)
	require.Equal(t, "b", string(got))
	d.requireClean(t)
}

// Proves: RW-22 (files of others inside)
func TestADirectoryThatIsNotEmpty(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true)
	was, will := tree{"shrunk/a": {text: "a", mode: 0o600}, "shrunk/user": {text: "u", mode: 0o600}}, tree{"shrunk": {text: "f", mode: 0o600}}
	d.lay(t, was)
	job := d.job(t, without(was, "shrunk/user"), will, nil)
	_, err := d.runner().Run(t.Context(), job)
	require.Equal(t, fault.Stale, fault.KindOf(err))
	require.Equal(t, was, d.now(t))
	d.requireClean(t)
}

// Proves: RW-13
func TestContentsThatAreMissingAreNoticedFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	d.lay(t, before)
	job := d.job(t, before, after, nil)
	require.NoError(t, d.fs.Remove(filepath.Join(d.root, "contents", job.Steps[3].Old.SHA256)))
	_, err := d.runner().Run(t.Context(), job)
	require.Equal(t, fault.IO, fault.KindOf(err))
	require.Equal(t, before, d.now(t))
	d.requireClean(t)
}

func TestACancelledRewind(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	d.lay(t, before)
	ctx, cancel := context.WithCancel(t.Context())
	d.at = func(step string) {
		if step == "stage" {
			cancel()
		}
	}
	_, err := d.runner().Run(ctx, d.job(t, before, after, nil))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, d.now(t))
	d.requireClean(t)
}

// withdrawing is an editor that notes which edits are not wanted any more.
type withdrawing struct {
	*editor
	late []change.DocumentEdit
}

func (w *withdrawing) Withdraw(_ string, edits []change.DocumentEdit) {
	w.late = append(w.late, edits...)
}

// TestEditsThatAreGivenUp: an editor that did not answer may make the edit later, after everything else was undone. The edit is withdrawn,
// unless the editor refused or made it.
// Proves: RW-30 (late)
func TestEditsThatAreGivenUp(t *testing.T) {
	t.Parallel()
	unknown := fmt.Errorf("no answer: %w", change.ErrUnknown)
	for name, c := range map[string]struct {
		answer func(e *editor, edits []change.DocumentEdit) error
		late   bool
	}{
		"dropped": {func(*editor, []change.DocumentEdit) error { return unknown }, true},
		"refused": {func(*editor, []change.DocumentEdit) error { return fault.New(fault.Denied, "The editor refused.") }, false},
		"made":    {func(e *editor, edits []change.DocumentEdit) error { return errors.Join(e.apply(edits), unknown) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, false)
			d.lay(t, before)
			w := &withdrawing{editor: d.edit(t, texts)}
			d.documents, w.answer = w, c.answer
			_, err := d.runner().Run(t.Context(), d.job(t, nil, nil, texts))
			require.Equal(t, name != "made", err != nil, "%v", err)
			require.Equal(t, c.late, len(w.late) == len(texts))
			require.Equal(t, c.late, len(w.late) > 0)
			for _, e := range w.late {
				require.Equal(t, texts[strings.TrimPrefix(e.Path, d.work("")+string(filepath.Separator))][1], e.Text)
			}
		})
	}
}
