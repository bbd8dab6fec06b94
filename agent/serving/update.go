package serving

import (
	"context"
	"slices"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/mcp"
)

// is reports whether the servers are those of a key; see [Wanted.key].
func (s *set) is(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.key == key
}

// takes reports whether wanted servers can take the place of those of s one by one.
func (s *set) takes(w Wanted) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(w.Servers) > 0 && s.wanted.Program == w.Program && s.wanted.Cwd == w.Cwd
}

// named returns the definition of a server.
func (w Wanted) named(name string) (Definition, bool) {
	i := slices.IndexFunc(w.Servers, func(d Definition) bool { return d.Name() == name })
	if i < 0 {
		return Definition{}, false
	}
	return w.Servers[i], true
}

// key is [Wanted.key] of one server.
func (d Definition) key() string { return Wanted{Servers: []Definition{d}}.key() }

// update makes the servers of s those that are wanted now. Servers whose definitions are the same stay as they are.
func (k *Keeper) update(ctx context.Context, s *set, w Wanted, key string) {
	s.mu.Lock()
	before := s.wanted
	s.mu.Unlock()
	same := func(name string) bool {
		was, had := before.named(name)
		is, has := w.named(name)
		return had && has && was.key() == is.key()
	}
	var changed []Definition
	for _, d := range w.Servers {
		if !same(d.Name()) {
			changed = append(changed, d)
		}
	}
	k.notifyProblems(w, changed)
	completed := complete(ctx, changed, k.cfg.Run)
	var defs []mcp.Server
	for _, d := range w.Servers {
		if same(d.Name()) {
			defs = append(defs, mcp.Server{Name: d.Name()})
			continue
		}
		defs, completed = append(defs, completed[0]), completed[1:]
	}
	s.mu.Lock()
	s.wanted, s.key = w, key
	for _, d := range before.Servers {
		if name := d.Name(); !same(name) {
			delete(s.started, name)
			delete(s.starting, name)
			delete(s.reasons, name)
		}
	}
	s.mu.Unlock()
	k.mu.Lock()
	k.prompts = slices.DeleteFunc(slices.Clone(k.prompts), func(p mcp.Prompt) bool { return !same(p.Server) })
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer cancel()
	if err := s.Update(ctx, defs, same); err != nil {
		k.cfg.Log.Warn("MCP servers that are not used any more did not end in time", zap.Error(err))
	}
	s.version.Add(1)
}
