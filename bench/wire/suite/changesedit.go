package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/capture"
	"github.com/xcsh-ls/xcsh-ls/agent/change/contents"
	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
	"github.com/xcsh-ls/xcsh-ls/bench/wire/limit"
)

// The names of rows that goals refer to.
const (
	writeSynced  = "limit: write a file, sync it and its directory"
	captureAlone = "engine: capture of an edit, without its entry in the session"
)

// editCost is the row of an edit with a setting of capture.
func editCost(setting string) string { return "edit, capture " + setting }

// capturing is the row of what is added by capture: the median of the differences between an edit with it and one without, which follow
// each other.
const capturing = "edit, difference between all and off"

func (n ChangeSizes) editStores() (names []string) {
	for _, size := range n.Bytes {
		names = append(names, bytesName(size))
	}
	return names
}

// edits measures turns of the script that edit files, each its own, so that nothing of it is known.
func (r *Runner) edits(ctx context.Context, n ChangeSizes) error {
	for _, size := range n.Bytes {
		times := max(2, min(n.Edits, 40e6/size))
		s := Store{Name: bytesName(size)}
		if err := r.inTurn(func(p Program) error { return r.editsOf(ctx, p, s, size, times) }); err != nil {
			return err
		}
		if err := r.captures(s, size, times); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) editsOf(ctx context.Context, p Program, s Store, size, times int) (err error) {
	defer func() { err = errors.Join(err, r.discard(s)) }()
	settings := []string{captureAll, captureTools, captureOff}
	visits := map[string]*visit{}
	for _, setting := range settings {
		folder, err := made(r.dir(p, s, setting, "folder"))
		if err != nil {
			return err
		}
		for i := range times + 1 {
			if err := os.WriteFile(filepath.Join(folder, editedName(i)), source(size, i), 0o600); err != nil {
				return err
			}
		}
		v, err := r.working(ctx, p, s, folder, setting, setting)
		if err != nil {
			return err
		}
		defer v.server.Kill()
		if !v.records() {
			r.Log("%s does not record changes", p.Name)
			return nil
		}
		if _, err := v.turn(edit(editedName(times), version(0), version(1))); err != nil { // the session gets its file
			return err
		}
		visits[setting] = v
	}
	costs := map[string][]child.Cost{}
	before := map[string]time.Duration{}
	for setting, v := range visits {
		before[setting] = v.server.CPU()
	}
	for i := range times {
		for k := range settings {
			setting := settings[(i+k)%len(settings)]
			cost, err := visits[setting].turn(edit(editedName(i), version(0), version(i+1)))
			if err != nil {
				return err
			}
			costs[setting] = append(costs[setting], cost)
		}
	}
	var differences []time.Duration
	for i := range times {
		differences = append(differences, costs[captureAll][i].Wall-costs[captureOff][i].Wall)
	}
	means := map[string]child.Cost{}
	for _, setting := range settings {
		v := visits[setting]
		means[setting] = summed(costs[setting], v.server.CPU()-before[setting])
		r.add(Result{Command: editCost(setting), Temperature: Live, Store: s.Name, Program: p.Name, Wrong: v.edited(setting, size, times)}, means[setting])
	}
	r.add(Result{Command: capturing, Temperature: Live, Store: s.Name, Program: p.Name}, child.Cost{
		Wall: middle(differences), CPU: means[captureAll].CPU - means[captureOff].CPU, Peak: max(0, means[captureAll].Peak-means[captureOff].Peak),
	})
	return closeAll(slices.Collect(maps.Values(visits))...)
}

func editedName(i int) string { return fmt.Sprintf("edited%d.go", i) }

// summed is the cost of one of several calls: the median of the times, the mean of the CPU time of all, and the peak.
func summed(costs []child.Cost, cpu time.Duration) (sum child.Cost) {
	var walls []time.Duration
	for _, c := range costs {
		walls = append(walls, c.Wall)
		sum.Peak = max(sum.Peak, c.Peak)
	}
	sum.Wall, sum.CPU = middle(walls), cpu/time.Duration(len(costs))
	return sum
}

// edited returns what is wrong with the files and the records after the edits, "" if nothing is.
func (v *visit) edited(setting string, size, times int) string {
	for i := range times {
		content, err := os.ReadFile(filepath.Join(v.r.dir(v.p, v.s, setting, "folder"), editedName(i)))
		want := bytes.Replace(source(size, i), []byte(version(0)), []byte(version(i+1)), 1)
		if err != nil || !bytes.Equal(content, want) {
			return fmt.Sprintf(" %s was not edited %v", editedName(i), err)
		}
	}
	want := times + 1 // without records, the files of the calls are listed
	a, err := v.call(changesCommand, map[string]any{"since": "session"})
	if err != nil {
		return " " + err.Error()
	}
	files, pending, err := changedFiles(a)
	if err != nil || files != want || (setting != captureOff) != (pending == want) {
		return fmt.Sprintf(" %d changed files, %d pending hunks, instead of %d %v", files, pending, want, err)
	}
	return ""
}

// captures measures the least that an edit needs, and the part of the capture that is not the session's.
func (r *Runner) captures(s Store, size, times int) error {
	work, err := made(filepath.Join(r.Work, "limit", "edits"))
	if err != nil {
		return err
	}
	store := contents.Open(contents.Options{Fs: afero.NewOsFs(), Dir: filepath.Join(work, "changes")})
	var writes, kept []time.Duration
	for i := range times * r.Rounds {
		before := source(size, i)
		after := bytes.Replace(before, []byte(version(0)), []byte(version(i+1)), 1)
		took, err := limit.Replace(filepath.Join(work, "file"), after)
		if err != nil {
			return err
		}
		writes = append(writes, took)
		took, err = keep(store, before, after)
		if err != nil {
			return err
		}
		kept = append(kept, took)
	}
	r.Limits = append(r.Limits, Limit{Name: writeSynced, Store: s.Name, Runs: writes}, Limit{Name: captureAlone, Store: s.Name, Runs: kept})
	r.Log("%s, %s: write %v, capture %v", "edit", s.Name, middle(writes), middle(kept))
	return os.RemoveAll(work)
}

// keep keeps the contents of an edit as the program does, and makes its record.
func keep(store *contents.Store, before, after []byte) (time.Duration, error) {
	begin := time.Now()
	old, err := store.StateWith("/p/file.go", 0o644, before)
	if err != nil {
		return 0, err
	}
	now, err := store.StateWith("/p/file.go", 0o644, after)
	if err != nil {
		return 0, err
	}
	o := capture.Origin{PromptID: "0000000a", ToolCallID: "call", Tool: "edit", Folder: "/p"}
	_, err = capture.Encode(o.Record([]change.Change{{Path: "/p/file.go", Before: old, After: &now}}), store.Put)
	return time.Since(begin), err
}
