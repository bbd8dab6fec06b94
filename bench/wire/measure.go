package main

import (
	"context"
	"regexp"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/bench/wire/suite"
)

// The commands that are measured with other dialects, whose other commands take the same paths, and with a million entries.
var (
	dialectCommands = regexp.MustCompile(`^(resume|continue|info|stats|context|state|snapshot|fork)`)
	treeCommands    = regexp.MustCompile(`^(resume|tree|entries)`)
)

// measure measures the parts, the largest work last.
func measure(ctx context.Context, r *suite.Runner, o options, s stores) error {
	steps := []struct {
		part string
		do   func() error
	}{
		{"append", func() error { return r.Append(ctx, first(s.pi, s.growth), 200) }},
		{"lists", func() error { r.ListLimits(ctx, s.lists); return r.Lists(ctx, s.lists) }},
		{"growth", func() error { return sessions(ctx, r, nil, s.growth) }},
		{"dialects", func() error { return sessions(ctx, r, dialectCommands, s.pi) }},
		{"dialects", func() error { return sessions(ctx, r, dialectCommands, s.omp) }},
		{"flat", func() error { return sessions(ctx, r, nil, s.flat) }},
		{"tree", func() error { return sessions(ctx, r, treeCommands, []suite.Store{s.tree}) }},
		{"peers", func() error { return peersOf(ctx, r, s) }},
		{"changes", func() error { return r.Changes(ctx, o.changes) }},
		{"prompts", func() error { return r.Prompts(ctx, o.prompts) }},
	}
	for _, step := range steps {
		if s.parts[step.part] {
			if err := step.do(); err != nil {
				return err
			}
		}
	}
	return r.Sessions(ctx, nil, s.named...)
}

// sessions measures the limits of the files, which also reads them into memory, and then the commands.
func sessions(ctx context.Context, r *suite.Runner, only *regexp.Regexp, stores []suite.Store) error {
	if err := r.Start(ctx, stores[0]); err != nil {
		return err
	}
	if err := r.FileLimits(stores...); err != nil {
		return err
	}
	return r.Sessions(ctx, only, stores...)
}

// peersOf measures the installed peers with the stores of the other parts.
func peersOf(ctx context.Context, r *suite.Runner, s stores) error {
	for _, store := range slices.Concat(s.pi, s.omp, s.flat) {
		if store.Name != "" {
			if err := r.OpenPeers(ctx, store); err != nil {
				return err
			}
		}
	}
	if s.lists.Name != "" {
		r.ListPeers(ctx, s.lists)
	}
	return nil
}

// first returns the smallest generated store.
func first(groups ...[]suite.Store) (s suite.Store) {
	for _, g := range groups {
		if len(g) > 0 && g[0].Name != "" {
			return g[0]
		}
	}
	return s
}
