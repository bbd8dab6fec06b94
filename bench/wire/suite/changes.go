package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
)

// ChangeSizes are how much is measured about the changes of files.
type ChangeSizes struct {
	Bytes    []int // of the files that are edited
	Edits    int   // of each size
	Tree     int   // files of the repository in which commands run
	Commands int   // in it
	Files    int   // that a session changed, and a rewind takes back
	Records  int   // about these
	Long     int   // records of a long session
}

// DefaultChanges are the sizes of the figures in the documentation.
var DefaultChanges = ChangeSizes{Bytes: []int{4e3, 100e3, 4e6}, Edits: 10, Tree: 100_000, Commands: 5, Files: 200, Records: 1000, Long: 10_000}

// The values of the setting changes.capture.
const (
	captureAll   = "all"
	captureTools = "tools"
	captureOff   = "off"
)

// The commands about changes.
const (
	changesCommand = "xcsh.changes"
	rewindCommand  = "xcsh.rewind"
	promptCommand  = "xcsh.prompt"
	bashCommand    = "xcsh.bash"
)

// Changes measures what it costs to record the changes of files, to review them and to rewind them.
func (r *Runner) Changes(ctx context.Context, n ChangeSizes) error {
	r.changes = n
	steps := []struct {
		name string
		do   func(ctx context.Context, n ChangeSizes) error
	}{{"edit", r.edits}, {"command", r.commands}, {"rewind", r.rewinds}, {"records", r.longRecords}}
	for _, step := range steps {
		if !r.selects(step.name) {
			continue
		}
		if err := step.do(ctx, n); err != nil {
			return fmt.Errorf("changes, %s: %w", step.name, err)
		}
	}
	return nil
}

// ChangeGroups are the tables of [Runner.Changes].
func ChangeGroups(n ChangeSizes) []Group {
	return []Group{
		{Title: "A turn with an edit, by the size of the file", Stores: n.editStores()},
		{Title: "Commands in a repository, with and without looks around them", Stores: []string{n.treeStore()}},
		{Title: "Review and rewind", Stores: []string{n.rewindStore()}},
		{Title: "A long session with records of changes, and with other entries", Stores: n.longStores()},
	}
}

// bytesName is a size as a name.
func bytesName(n int) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%d MB", n/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%d KB", n/1e3)
	}
	return fmt.Sprintf("%d bytes", n)
}

// working starts a server in a folder, with a setting of capture and the offline script as the model. Its agent directory is its own
// for each name.
func (r *Runner) working(ctx context.Context, p Program, s Store, folder, name, capture string) (*visit, error) {
	v := &visit{r: r, p: p, s: s, dir: r.dir(p, s, name)}
	home, err := made(filepath.Join(v.dir, "home"))
	if err != nil {
		return nil, err
	}
	v.server, _, err = child.Start(ctx, child.Config{
		Program: p.Path, Home: home, AgentDir: filepath.Join(v.dir, "agent"), Folder: folder, Quiet: r.Quiet,
		Options: map[string]any{"model": "offline/demo", "approval": "yolo", "changes": map[string]any{"capture": capture, "commandLook": 60}},
	})
	return v, err
}

// records reports whether a program records changes. What an older one would cost with a setting that it does not know says nothing.
func (v *visit) records() bool { return v.server.Offers(changesCommand, "") }

// edit returns the arguments of a prompt with which the script edits a file.
func edit(file, from, to string) map[string]any {
	return map[string]any{"text": fmt.Sprintf("edit %s: %s => %s", file, from, to)}
}

// version is the line of a file that an edit changes.
func version(n int) string { return fmt.Sprintf("version %06d.", n) }

// source is the content of a file, with version 0 in its middle: lines of words like those of programs.
func source(size, seed int) []byte {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	words := strings.Fields("func return if err nil range string value index count := = { } ( ) path file name change record state content error")
	var b strings.Builder
	line := func() {
		for range 3 + r.IntN(8) {
			b.WriteString(words[r.IntN(len(words))])
			if r.IntN(3) == 0 {
				fmt.Fprintf(&b, "%x", r.Uint32())
			}
			b.WriteByte(' ')
		}
		b.WriteByte('\n')
	}
	for b.Len() < size/2 {
		line()
	}
	b.WriteString(version(0) + "\n")
	for b.Len() < size-1 {
		line()
	}
	return []byte(b.String()[:size-1] + "\n")
}

// git runs git in a folder, as a user does.
func git(ctx context.Context, folder string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", folder, "-c", "user.name=u", "-c", "user.email=u@example.org", "-c", "gc.auto=0"}, args...)...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return nil
}

// repository makes a repository of files with a commit.
func repository(ctx context.Context, folder string, files map[string][]byte) error {
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-qm", "first"}, {"status", "-s"}} {
		if err := git(ctx, folder, args...); err != nil {
			return err
		}
	}
	return nil
}

// changedFiles returns what an answer of xcsh.changes has about files.
func changedFiles(a child.Answer) (files, pending int, err error) {
	var c struct{ Totals struct{ Files, Pending int } }
	err = json.Unmarshal(a.Result, &c)
	return c.Totals.Files, c.Totals.Pending, err
}

// succeeds is Measure of a command that must succeed.
func (v *visit) succeeds(command string, args map[string]any) (child.Answer, child.Cost, error) {
	a, cost, err := v.server.Measure(command, args, true)
	if err == nil && a.Kind != "" {
		err = fmt.Errorf("%s: %s: %s", command, a.Kind, a.Text)
	}
	return a, cost, err
}

// turn is succeeds of a prompt, whose turn must end by itself.
func (v *visit) turn(args map[string]any) (child.Cost, error) {
	a, cost, err := v.succeeds(promptCommand, args)
	if err == nil {
		_, err = stopped(v, a)
	}
	return cost, err
}

// closeAll ends servers.
func closeAll(visits ...*visit) (err error) {
	for _, v := range visits {
		if v != nil && v.server != nil {
			err = errors.Join(err, v.server.Close())
		}
	}
	return err
}
