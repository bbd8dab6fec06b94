//go:build unix

package rewind

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
)

// envChild makes a test program a process that rewinds the desk it names, or recovers it, and kills itself at a step.
const envChild = "XCSH_REWIND_CHILD"

// order is the job of a child.
type order struct {
	Root    string
	Job     *Job // nil: recover
	Kill    int  // at this step; 0: not at all
	Editor  bool // the documents are open
	Waiting bool // documents may still be opened
}

func TestMain(m *testing.M) {
	if raw := os.Getenv(envChild); raw != "" {
		os.Exit(child(raw))
	}
	os.Exit(m.Run())
}

// child carries an order out. Its exit code is 0 if it came to the end.
func child(raw string) int {
	var o order
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		return 3
	}
	steps := 0
	d := &desk{fs: afero.NewOsFs(), root: o.Root, at: func(string) {
		if steps++; steps == o.Kill {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}}
	file := "editor.json"
	if !o.Editor {
		file = "closed.json" // an editor without open documents
	}
	d.documents = &editor{fs: d.fs, file: filepath.Join(o.Root, file), disk: func(path, text string) {
		_ = afero.WriteFile(d.fs, path, []byte(text), 0o644)
	}}
	var err error
	if o.Job != nil {
		_, err = d.runner().Run(context.Background(), *o.Job)
	} else {
		_, err = d.runner().Recover(context.Background(), o.Waiting)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 4
	}
	return 0
}

// run runs a child, and reports whether it was killed.
func run(t *testing.T, o order) (killed bool) {
	t.Helper()
	raw, err := json.Marshal(o)
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), envChild+"="+string(raw))
	out, err := c.CombinedOutput()
	if err == nil {
		return false
	}
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.True(t, status.Signaled(), "%v: %s", err, out)
	return true
}

// TestKilledRewinds kills a rewind of files, links and documents at its steps, and its recovery at each of its own. Everything is old or
// new in the end, and nothing is left. XCSH_REWIND_KILLS=all kills at every step; without it a few are chosen.
// Proves: RW-04, RW-05, RW-06, RW-07
func TestKilledRewinds(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	all := os.Getenv("XCSH_REWIND_KILLS") == "all"
	every, everyRecovery := 9, 7
	if all {
		every, everyRecovery = 1, 1
	}
	kills, recoveryKills, outcomes := 0, 0, map[string]int{}
	for step := 1; ; step += every {
		alive := false
		for recovery := 0; ; recovery += everyRecovery {
			d := newDesk(t, true)
			was, will := withLinks(withDisk(before, "b\n"), "b"), withLinks(withDisk(after, "a\n"), "../elsewhere")
			d.lay(t, was)
			e := d.edit(t, texts)
			job := d.job(t, without(was, "clean.go"), without(will, "clean.go"), texts)
			if !run(t, order{Root: d.root, Job: &job, Kill: step, Editor: true}) {
				alive = true
				break
			}
			kills++
			if recovery > 0 && !run(t, order{Root: d.root, Kill: recovery, Editor: true}) {
				break // the recovery has fewer steps
			}
			if recovery > 0 {
				recoveryKills++
			}
			require.False(t, run(t, order{Root: d.root, Editor: true}))
			at := "killed at " + strconv.Itoa(step) + ", the recovery at " + strconv.Itoa(recovery)
			d.requireClean(t)
			switch d.records(t) {
			case 0:
				outcomes["taken back"]++
				require.Equal(t, was, d.now(t), at)
				for path, text := range texts {
					require.Equal(t, text[0], e.texts()[d.work(path)], at)
				}
			case 1:
				outcomes["completed"]++
				require.Equal(t, without(will, "clean.go"), without(d.now(t), "clean.go"), at)
				for path, text := range texts {
					require.Equal(t, text[1], e.texts()[d.work(path)], at)
				}
			default:
				require.Fail(t, "two records", at)
			}
		}
		if alive {
			break
		}
	}
	t.Logf("%d kills, %d of them also in the recovery: %v", kills, recoveryKills, outcomes)
	require.NotZero(t, outcomes["taken back"])
	require.NotZero(t, outcomes["completed"])
}

// TestTheEditorDiesToo: the documents are not open when the next process starts. Their files decide: one that has the old text gets the
// new one; one that has neither is waited for, and then everything is taken back.
// Proves: RW-05 (documents)
func TestTheEditorDiesToo(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	for step := 1; ; step += 3 {
		d := newDesk(t, true)
		was, will := withDisk(before, "b\n"), withDisk(after, "a\n")
		d.lay(t, was)
		d.edit(t, texts)
		clean := map[string][2]string{"clean.go": texts["clean.go"]}
		job := d.job(t, without(was, "clean.go"), without(will, "clean.go"), clean)
		if !run(t, order{Root: d.root, Job: &job, Kill: step, Editor: true}) {
			return
		}
		require.False(t, run(t, order{Root: d.root}))
		d.requireClean(t)
		want := was
		if d.records(t) == 1 {
			want = will
		}
		require.Equal(t, want, d.now(t), "killed at %d", step)
	}
}

// TestADocumentThatIsOpenedLater is completed in the editor, when it is.
func TestADocumentThatIsOpenedLater(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	d := newDesk(t, true)
	was, will := withDisk(before, "b\n"), withDisk(after, "b\n")
	d.lay(t, was)
	e := d.edit(t, texts)
	open := map[string][2]string{"open.go": texts["open.go"]}
	job := d.job(t, was, will, open)
	for step := 1; !d.runner().Interrupted() || e.texts()[d.work("open.go")] == texts["open.go"][0]; step++ {
		require.True(t, run(t, order{Root: d.root, Job: &job, Kill: step, Editor: true}), "it was killed behind the edit of the document")
		if e.texts()[d.work("open.go")] == texts["open.go"][0] {
			require.False(t, run(t, order{Root: d.root, Editor: true}))
			d = newDesk(t, true)
			d.lay(t, was)
			e = d.edit(t, texts)
			job = d.job(t, was, will, open)
		}
	}
	between := d.now(t)
	require.False(t, run(t, order{Root: d.root, Waiting: true}))
	require.Equal(t, between, d.now(t), "it waits")
	require.False(t, run(t, order{Root: d.root, Waiting: true, Editor: true}))
	require.Equal(t, 1, d.records(t))
	require.Equal(t, will, d.now(t))
	d.requireClean(t)
}
