package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench/wire/limit"
)

// The names of rows that goals refer to.
const (
	changesFirst = "changes of the session"
	changesAgain = "changes of the session, again"
	changesHunks = "changes of the session, with hunks"
	rewindPlan   = "rewind, the plan"
	rewindDone   = "rewind, carried out"
	redoDone     = "redo, carried out"
	writeAll     = "limit: write each file, sync it and its directory"
	writeAtOnce  = "limit: write and sync each file beside its place, rename all, sync the directory"
)

// changedSize is the size of the files of a rewind in bytes.
const changedSize = 5500

func (n ChangeSizes) rewindStore() string {
	return fmt.Sprintf("%d files, %d records", n.Files, n.Records)
}

// rewinds measures the review and the rewind of a session with many changes, which prompts have made.
func (r *Runner) rewinds(ctx context.Context, n ChangeSizes) error {
	work, err := made(filepath.Join(r.Work, "limit", "rewind"))
	if err != nil {
		return err
	}
	for name, write := range map[string]func(string, [][]byte) (time.Duration, error){writeAll: oneByOne, writeAtOnce: limit.ReplaceAll} {
		r.limit(name, n.rewindStore(), func() (time.Duration, error) {
			var all [][]byte
			for i := range n.Files {
				all = append(all, source(changedSize, i))
			}
			return write(work, all)
		})
	}
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	return r.inTurn(func(p Program) error { return r.rewindsOf(ctx, p, n) })
}

func oneByOne(dir string, all [][]byte) (sum time.Duration, err error) {
	for i, content := range all {
		took, err := limit.Replace(filepath.Join(dir, fmt.Sprint("file", i)), content)
		if err != nil {
			return 0, err
		}
		sum += took
	}
	return sum, nil
}

func changedName(i int) string { return fmt.Sprintf("changed%d.go", i) }

func (r *Runner) rewindsOf(ctx context.Context, p Program, n ChangeSizes) (err error) {
	s := Store{Name: n.rewindStore()}
	defer func() { err = errors.Join(err, r.discard(s)) }()
	folder, err := made(r.dir(p, s, "folder"))
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	for i := range n.Files {
		files[changedName(i)] = source(changedSize, i)
	}
	if err := repository(ctx, folder, files); err != nil {
		return err
	}
	first, err := r.manyEdits(ctx, p, s, folder, n)
	if err != nil || first == "" {
		return err
	}
	v, err := r.working(ctx, p, s, folder, "work", captureAll) // nothing is known of the records
	if err != nil {
		return err
	}
	defer v.server.Kill()
	if _, err := v.call("xcsh.continue", nil); err != nil {
		return err
	}
	if err := v.reviews(n); err != nil {
		return err
	}
	for range 3 {
		if err := v.rewound(folder, first, n); err != nil {
			return err
		}
	}
	return v.server.Close()
}

// manyEdits makes the records of a session, and returns the entry of its first prompt; "" for a program that has no records.
func (r *Runner) manyEdits(ctx context.Context, p Program, s Store, folder string, n ChangeSizes) (first string, err error) {
	v, err := r.working(ctx, p, s, folder, "work", captureAll)
	if err != nil {
		return "", err
	}
	defer v.server.Kill()
	if !v.records() {
		r.Log("%s does not record changes", p.Name)
		return "", v.server.Close()
	}
	for i := range n.Records {
		was := i / n.Files
		a, err := v.call(promptCommand, edit(changedName(i%n.Files), version(was), version(was+1)))
		if err == nil {
			_, err = stopped(v, a)
		}
		if err != nil {
			return "", err
		}
	}
	a, err := v.call("xcsh.entries", map[string]any{"limit": 20})
	if err != nil {
		return "", err
	}
	var got struct {
		Entries []struct {
			ID, Type string
			Message  struct{ Role string }
		}
	}
	if err := json.Unmarshal(a.Result, &got); err != nil {
		return "", err
	}
	for _, e := range got.Entries {
		if e.Message.Role == "user" {
			return e.ID, v.server.Close()
		}
	}
	return "", errors.New("the session has no prompt")
}

// reviews measures what a user sees of the changes.
func (v *visit) reviews(n ChangeSizes) error {
	for _, o := range []struct {
		name string
		args map[string]any
	}{
		{changesFirst, map[string]any{"since": "session"}},
		{changesAgain, map[string]any{"since": "session"}},
		{changesHunks, map[string]any{"since": "session", "hunks": true}},
		{"changes of the turn", nil},
	} {
		a, cost, err := v.succeeds(changesCommand, o.args)
		if err != nil {
			return err
		}
		want := n.Files
		if o.args == nil {
			want = 1
		}
		m := v.row(o.name)
		if files, pending, err := changedFiles(a); err != nil || files != want || pending != want {
			m.Wrong = fmt.Sprintf(" %d changed files and %d hunks instead of %d %v", files, pending, want, err)
		}
		v.r.add(m, cost)
	}
	return nil
}

// row is an empty result of this visit.
func (v *visit) row(name string) Result {
	return Result{Command: name, Temperature: Live, Store: v.s.Name, Program: v.p.Name}
}

// rewound measures a rewind of all files and its redo, and checks the files after both.
func (v *visit) rewound(folder, first string, n ChangeSizes) error {
	id, err := v.carriedOut(rewindPlan, rewindDone, map[string]any{"before": first}, n.Files)
	if err != nil {
		return err
	}
	if err := v.contents(folder, func(int) int { return 0 }, n); err != nil {
		return err
	}
	if _, err := v.carriedOut("redo, the plan", redoDone, map[string]any{"redo": id}, n.Files); err != nil {
		return err
	}
	return v.contents(folder, func(i int) int { return (n.Records-1-i)/n.Files + 1 }, n)
}

// carriedOut measures a plan and carrying it out.
func (v *visit) carriedOut(plan, done string, args map[string]any, want int) (id string, err error) {
	a, cost, err := v.succeeds(rewindCommand, args)
	if err != nil {
		return "", err
	}
	var p struct {
		Plan      []struct{ Action string }
		PlanToken string
		Conflicts int
	}
	if err := json.Unmarshal(a.Result, &p); err != nil {
		return "", err
	}
	if len(p.Plan) != want || p.Conflicts > 0 {
		return "", fmt.Errorf("a plan for %d files with %d conflicts instead of %d files", len(p.Plan), p.Conflicts, want)
	}
	v.r.add(v.row(plan), cost)
	args["planToken"] = p.PlanToken
	if a, cost, err = v.succeeds(rewindCommand, args); err != nil {
		return "", err
	}
	var d struct {
		ID    string
		Files int
	}
	if err := json.Unmarshal(a.Result, &d); err != nil || d.Files != want {
		return "", fmt.Errorf("%d files were rewound instead of %d %w", d.Files, want, err)
	}
	v.r.add(v.row(done), cost)
	return d.ID, nil
}

// contents checks that each file has a version.
func (v *visit) contents(folder string, of func(i int) int, n ChangeSizes) error {
	for i := range n.Files {
		content, err := os.ReadFile(filepath.Join(folder, changedName(i)))
		if err != nil {
			return err
		}
		want := bytes.Replace(source(changedSize, i), []byte(version(0)), []byte(version(of(i))), 1)
		if !bytes.Equal(content, want) {
			return fmt.Errorf("%s is not as it was at version %d", changedName(i), of(i))
		}
	}
	return nil
}
