package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// way is a way to get an answer: an agent on this machine, or a provider of models.
type way struct {
	engine *commands.EngineItem // nil for a provider
	source provider.Source
}

// row returns the columns of the list.
func (w way) row() []string {
	if w.engine != nil {
		return []string{strings.TrimSpace(w.engine.Name + " " + w.engine.Version), "an agent on this machine, with its own login"}
	}
	s := w.source
	switch {
	case s.Kind == provider.DemoSource:
		return []string{s.Name, "a script, not a model"}
	case s.Kind == provider.LocalSource:
		return []string{s.Name, "runs on this machine, " + plural(s.Models, "model", "models")}
	case s.Ready:
		return []string{s.Name, "ready to use"}
	}
	return []string{s.Name, "needs an API key"}
}

// ways returns the agents and providers.
func (l login) ways(ctx context.Context) (engines []commands.EngineItem, sources []provider.Source, err error) {
	found, err := execute[commands.EnginesResult](ctx, l.env, "xcsh.engines", commands.Folder{})
	if err != nil {
		return nil, nil, err
	}
	r, err := execute[commands.ProvidersResult](ctx, l.env, "xcsh.providers", commands.Folder{})
	return found.Engines, r.Providers, err
}

// named returns the provider or agent called name. The names of installed agents come first.
func (l login) named(ctx context.Context, name string) (way, error) {
	engines, sources, err := l.ways(ctx)
	if err != nil {
		return way{}, err
	}
	for _, e := range engines {
		if e.Name == name && usableEngine(e) {
			return way{engine: &e}, nil
		}
	}
	for _, s := range sources {
		if s.ID == name || strings.EqualFold(s.Name, name) {
			return way{source: s}, nil
		}
	}
	for _, e := range engines {
		if e.Name == name && !usableEngine(e) && e.State != "current" {
			return way{engine: &e}, nil
		}
	}
	return way{}, fault.New(fault.NotFound, "There is no provider or agent %q. The providers are %s.", name, strings.Join(ids(sources), ", "))
}

func ids(sources []provider.Source) []string {
	var names []string
	for _, s := range sources {
		if s.Kind == provider.ServiceSource {
			names = append(names, s.ID)
		}
	}
	return names
}

// wellKnown is how many services without a key the list has.
const wellKnown = 8

// choose lists the ways and asks for one of them.
func (l login) choose(ctx context.Context) (way, error) {
	engines, sources, err := l.ways(ctx)
	if err != nil {
		return way{}, err
	}
	var list []way
	for _, e := range engines {
		if usableEngine(e) && len(e.Login) > 0 {
			list = append(list, way{engine: &e})
		}
	}
	unready := 0
	var others []string
	for _, s := range sources {
		if s.Kind == provider.ServiceSource && !s.Ready {
			if unready++; unready > wellKnown {
				others = append(others, s.ID)
				continue
			}
		}
		list = append(list, way{source: s})
	}
	t := table{screen: screenOf(os.Stderr), shrink: []int{2}}
	for i, w := range list {
		t.add(append([]string{strconv.Itoa(i + 1)}, w.row()...)...)
	}
	l.tell("Ways to get an answer:\n")
	if err := t.print(l.cmd.ErrOrStderr()); err != nil {
		return way{}, err
	}
	if len(others) > 0 {
		l.tell("\nOther services: xcsh-ls login NAME, with one of these names:\n%s", strings.Join(others, " "))
	}
	return l.number(ctx, list)
}

// number asks for the number of a way until one is entered.
func (l login) number(ctx context.Context, list []way) (way, error) {
	for {
		fmt.Fprintf(l.cmd.ErrOrStderr(), "\nNumber (1-%d): ", len(list))
		line, err := awaited(ctx, func() (string, error) { return readLine(os.Stdin) })
		line = strings.TrimSpace(line)
		if err != nil || line == "" {
			l.tell("")
			return way{}, fault.New(fault.Cancelled, "Nothing was changed.")
		}
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(list) {
			return list[n-1], nil
		}
		l.tell("%q is not a number from 1 to %d.", visible.Line(line), len(list))
	}
}

// readLine reads one line, and nothing behind it: the next line may be a key.
func readLine(in io.Reader) (string, error) {
	const most = 1000
	var line []byte
	for b := make([]byte, 1); len(line) < most; {
		n, err := in.Read(b)
		if n > 0 && b[0] == '\n' {
			break
		}
		line = append(line, b[:n]...)
		if err != nil {
			return string(line), err
		}
	}
	return string(line), nil
}
