package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/bench"
	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
)

// everything lists all folders.
func everything() map[string]any { return map[string]any{"scope": "all"} }

// listOperations are the commands over all sessions. Live means again in the same server.
func listOperations() []operation {
	all, needle := with(everything()), with(map[string]any{"scope": "all", "query": gen.Needle})
	list := []operation{
		{name: "list", command: "xcsh.list", args: all, answer: listed},
		{name: "list, newest 50", command: "xcsh.list", args: with(map[string]any{"scope": "all", "limit": 50})},
		{name: "recent", command: "xcsh.recent"},
		{name: "resolve", command: "xcsh.resolve", args: func(v *visit) map[string]any {
			return map[string]any{"target": v.s.prefix(), "scope": "all"}
		}},
		{name: "search", command: "xcsh.list", args: needle},
		{name: "search again", command: "xcsh.list", args: needle, again: true},
	}
	for i := range list {
		list[i].file = !list[i].again
	}
	again := list[0]
	again.name, again.file = "list again", false
	changed := again
	changed.name, changed.before = "list, one changed", (*visit).change
	return append(list, again, changed)
}

// prefix is the beginning of the id of the middle session.
func (s Store) prefix() string {
	id := s.Facts.Sessions[len(s.Facts.Sessions)/2].ID
	return id[:min(len(id), 13)]
}

// Lists measures the commands over all sessions of a store.
func (r *Runner) Lists(ctx context.Context, s Store) error {
	for _, o := range listOperations() {
		if !r.selects(o.name) {
			continue
		}
		o.lists = true
		for _, t := range o.temperatures() {
			if err := r.inTurn(func(p Program) error { return r.measure(ctx, o, p, s, t) }); err != nil {
				return fmt.Errorf("%s, %s, %s: %w", o.name, t, s.Name, err)
			}
		}
	}
	return r.discard(s)
}

// agents returns the agent directories with sessions for a program. One more session, which may be changed, is in a
// directory of its own.
func (r *Runner) agents(p Program, s Store) ([]string, error) {
	more := r.dir(p, s, "more")
	path := changing(more)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if _, err := made(filepath.Dir(path)); err != nil {
			return nil, err
		}
		if err := copyFile(path, s.Path); err != nil {
			return nil, err
		}
	}
	return append(slices.Clone(s.Agents), append(peerAgents(s), more)...), nil
}

// peerAgents returns the agent directories of the other programs in a store's home, which are not found by themselves if
// any are configured.
func peerAgents(s Store) (agents []string) {
	for _, root := range s.roots() {
		if agent := filepath.Dir(root); !slices.Contains(s.Agents, agent) {
			agents = append(agents, agent)
		}
	}
	return agents
}

func changing(agent string) string {
	return filepath.Join(agent, "sessions", "--home-dev-changing--", "2025-01-01T00-00-00-000Z_0123456789abcdef.jsonl")
}

// change appends a prompt to the session that may be changed, as another program does.
func (v *visit) change() error {
	f, err := os.OpenFile(changing(filepath.Join(v.dir, "more")), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, `{"type":"message","id":"ffffffff","parentId":"%s","timestamp":"2025-01-01T00:00:00.000Z",`+
		`"message":{"role":"user","content":[{"type":"text","text":"one more"}],"timestamp":1735689600000}}`+"\n", v.s.Facts.Sessions[0].LeafID)
	return errors.Join(err, f.Close())
}

// listed returns the ids and numbers of messages of the generated sessions, in the form of the peers' drivers, and
// compares them with the generator's facts.
func listed(v *visit, a child.Answer) (content, error) {
	var got struct {
		Sessions []struct {
			ID, Path     string
			MessageCount int
		}
	}
	if err := json.Unmarshal(a.Result, &got); err != nil {
		return nil, err
	}
	var lines, want []string
	for _, s := range got.Sessions {
		if s.Path != changing(filepath.Join(v.dir, "more")) {
			lines = append(lines, fmt.Sprintf("%s %d", s.ID, s.MessageCount))
		}
	}
	for _, s := range v.s.Facts.Sessions {
		want = append(want, fmt.Sprintf("%s %d", s.ID, s.Messages))
	}
	slices.Sort(lines)
	slices.Sort(want)
	if len(got.Sessions) != len(lines)+1 || !slices.Equal(lines, want) {
		return nil, fmt.Errorf("list: %d sessions, which are not the generated ones", len(got.Sessions))
	}
	return fmt.Sprint(bench.AnswerOf(lines)), nil
}
