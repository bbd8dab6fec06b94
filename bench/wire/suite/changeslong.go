package suite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
)

// longCommands are the commands that must not notice the records of a session.
var longCommands = regexp.MustCompile(`^(resume|info|stats|context|state|snapshot|messages, newest|label|prompt)`)

func (n ChangeSizes) longStores() []string {
	return []string{fmt.Sprintf("%d other entries", n.Long), fmt.Sprintf("%d records", n.Long)}
}

// longRecords measures the commands of a session with many records, and of one that has other entries in their place.
func (r *Runner) longRecords(ctx context.Context, n ChangeSizes) (err error) {
	home := filepath.Join(r.Work, "long")
	if _, err := made(home); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	m, err := gen.Write(filepath.Join(home, "from"), gen.Preset{Sessions: 1, Projects: 1, Bytes: int64(n.Long) * 200, Once: true, Seed: 1, Flavour: gen.Xcsh})
	if err != nil {
		return err
	}
	base := Made("", filepath.Join(home, "from"), m)
	other := strings.Repeat("x", len(change.Type))
	for i, kind := range []string{other, change.Type} {
		s := base
		s.Name, s.Facts = n.longStores()[i], nil
		s.Home = filepath.Join(home, fmt.Sprint(i))
		s.Agents = []string{filepath.Join(s.Home, ".xcsh", "agent")}
		rel, err := filepath.Rel(base.Home, base.Path)
		if err != nil {
			return err
		}
		s.Path = filepath.Join(s.Home, rel)
		if err := withRecords(s.Path, base.Path, kind, m.Sessions[0].LeafID, s.Cwd, n); err != nil {
			return err
		}
		if err := r.Sessions(ctx, longCommands, s); err != nil {
			return err
		}
	}
	return nil
}

// withRecords writes a session that continues another one with entries of a kind: records of changes that the folder does not have.
func withRecords(to, from, kind, leaf, cwd string, n ChangeSizes) error {
	if _, err := made(filepath.Dir(to)); err != nil {
		return err
	}
	if err := copyFile(to, from); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for i := range n.Long {
		id, file := fmt.Sprintf("e%07x", i), i%n.Files
		state := func(v int) string {
			return fmt.Sprintf(`{"kind":"file","sha256":"%064x","mode":420,"size":5500}`, file<<20+v+1)
		}
		fmt.Fprintf(w, `{"type":"custom","customType":%q,"data":{"v":1,"promptId":%q,"toolCallId":"call_%d","tool":"edit","changes":[{"path":"src/changed%d.go",`+
			`"before":%s,"after":%s}],"root":"file://%s"},"id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:00.000Z"}`+"\n",
			kind, leaf, i, file, state(i/n.Files), state(i/n.Files+1), cwd, id, leaf)
		leaf = id
	}
	return errors.Join(w.Flush(), f.Close())
}
