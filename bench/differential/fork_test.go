//go:build peers

package differential

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// TestForks has both programs copy a session, and each read the other's copy.
// Proves: O-037, O-045
func TestForks(t *testing.T) {
	t.Parallel()
	run(t, 40, func(w *world) {
		file, ids := w.conversation(20)
		leaves := w.some(ids)
		source := w.requireSame(file, leaves)

		theirs := w.pi.file(w.pi.open("forkFrom", file, cwd, w.dir))
		w.requireCopy(source, w.requireSame(theirs, leaves), file)

		log, err := w.kit.Store.ForkFrom(file, cwd)
		require.NoError(w.t, err)
		require.NoError(w.t, log.Close())
		w.requireCopy(source, w.pis(log.Path(), leaves, true), source.Header["id"])
		w.requireCopy(source, w.ours(log.Path(), leaves, true), source.Header["id"])
		require.NoError(w.t, os.Remove(log.Path()))
	})
}

// requireCopy requires that two sessions differ only in their header.
func (w *world) requireCopy(source, fork answer, parent any) {
	w.t.Helper()
	require.NotEqual(w.t, source.Header["id"], fork.Header["id"])
	require.Equal(w.t, parent, fork.Header["parentSession"])
	fork.Header = source.Header
	require.Equal(w.t, source, fork)
}

// TestBranchesIntoFiles has both programs make a session of one branch of another.
// Proves: X-229, P-024
func TestBranchesIntoFiles(t *testing.T) {
	t.Parallel()
	compared := 0
	run(t, 40, func(w *world) {
		file, ids := w.conversation(25)
		end := pick(w, ids...)
		if w.r.IntN(3) == 0 {
			end = w.compactFromALabel(file, ids)
		}
		w.note("branch into a file at %s", end)
		source := w.ours(file, []any{end}, false)

		manager := w.pi.open("open", file)
		require.NoError(w.t, w.pi.call(manager, nil, "createBranchedSession", end))
		theirs := w.pi.file(manager)
		log, err := w.kit.Store.Open(file)
		require.NoError(w.t, err)
		fork, _, err := w.kit.Store.ForkAt(log, end, session.AtIt)
		require.NoError(w.t, err)
		require.NoError(w.t, fork.Close())
		require.NoError(w.t, log.Close())

		ours := w.pis(fork.Path(), nil, true)
		require.Equal(w.t, ours, w.withoutContexts(w.ours(fork.Path(), nil, true)))
		require.Equal(w.t, source.Contexts[0], ours.Context)
		require.NoError(w.t, os.Remove(fork.Path()))
		if _, err := os.Stat(theirs); err != nil {
			return // a branch without a conversation is only written with its first message
		}
		compared++
		branch := w.requireSame(theirs, nil)
		require.Equal(w.t, branch.Context, ours.Context)
		require.Equal(w.t, branch.Name, ours.Name)
		require.Equal(w.t, file, ours.Header["parentSession"])
		require.Equal(w.t, branch.Header["parentSession"], ours.Header["parentSession"])
		kept, labels := w.split(branch.Entries)
		keptByUs, labelsOfOurs := w.split(ours.Entries)
		require.Equal(w.t, kept, keptByUs)
		require.Equal(w.t, labels, labelsOfOurs)
	})
	require.NotZero(t, compared)
}

// compactFromALabel adds a compaction that keeps entries from a label on, which a branch in a file
// of its own does not have.
func (w *world) compactFromALabel(file string, ids []string) (end string) {
	w.t.Helper()
	m := w.pi.open("open", file)
	var label string
	require.NoError(w.t, w.pi.call(m, &label, "appendLabelChange", pick(w, ids...), "kept"))
	require.NoError(w.t, w.pi.call(m, nil, "appendMessage", w.message()))
	require.NoError(w.t, w.pi.call(m, nil, "appendCompaction", w.text(), label, 1))
	require.NoError(w.t, w.pi.call(m, &end, "appendMessage", w.message()))
	w.note("pi compacts from the label %s", label)
	return end
}

func (w *world) withoutContexts(a answer) answer {
	a.Contexts = []shown{}
	return a
}

// split separates the copied entries from the labels, which are written again: those have other
// ids, and pi's keep their time.
func (w *world) split(entries []map[string]any) (kept []map[string]any, labels map[any]any) {
	labels = map[any]any{}
	for _, e := range entries {
		if e["type"] == "label" {
			labels[e["targetId"]] = e["label"]
			continue
		}
		kept = append(kept, e)
	}
	return kept, labels
}

// TestForkBeforeAMessage compares the fork that goes back before a message of the user's with pi's,
// which is a branch up to its parent.
// Proves: P-018, P-019
func TestForkBeforeAMessage(t *testing.T) {
	t.Parallel()
	run(t, 25, func(w *world) {
		file, _ := w.conversation(20)
		log, err := w.kit.Store.Open(file)
		require.NoError(w.t, err)
		for _, e := range w.pis(file, nil, false).Entries {
			id, _ := e["id"].(string)
			m, _ := e["message"].(object)
			fork, text, err := w.kit.Store.ForkAt(log, id, session.Before)
			if m["role"] != "user" {
				require.Error(w.t, err)
				continue
			}
			require.NoError(w.t, err)
			require.Equal(w.t, session.MessageText(w.json(m)), text)
			want := shown{Messages: []any{}, ThinkingLevel: "off"}
			if parent, ok := e["parentId"].(string); ok {
				want = w.pis(file, []any{parent}, false).Contexts[0]
			}
			require.NoError(w.t, fork.View(func(d *session.Document, leaf session.Leaf) error {
				require.Equal(w.t, want, w.contextAt(d, leaf))
				return nil
			}))
			require.NoError(w.t, fork.Close())
		}
		require.NoError(w.t, log.Close())
		forks, err := filepath.Glob(filepath.Join(filepath.Dir(w.dir), "*", "*"))
		require.NoError(w.t, err)
		require.Equal(w.t, []string{file}, forks, "the fork is in pi's directory")
	})
}
