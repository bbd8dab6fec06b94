package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// operation is an operation that several programs support.
type operation struct {
	name   string
	store  string
	rounds int // at most; 0: as requested
	// entrants are the programs that support it, xcsh-ls first.
	entrants func(store) []entrant
}

// entrant is a program that performs an operation.
type entrant struct {
	name string
	argv []string // {scratch} stands for a directory that is empty before each run
	// driver: argv is a driver, which prints the time of its operation and takes -check.
	driver bool
	// copied: {copy} in argv stands for a fresh copy of the store's first session.
	copied bool
	// again: an unmeasured run precedes each measured one, so that caches are filled.
	again bool
	// mayDiffer is the known reason for a different answer.
	mayDiffer string
	// session, when set, measures a server instead of a program that exits by itself.
	session func(ctx context.Context, argv, env []string) (sample, error)
	// answer, when set, converts the output of a program without a driver to an answer.
	answer func(out string) string
}

// sample runs e once.
func (p *programs) sample(ctx context.Context, e entrant, s store) (sample, error) {
	argv, env, err := p.prepare(e, s, false)
	if err != nil {
		return sample{}, err
	}
	if e.session != nil {
		return e.session(ctx, argv, env)
	}
	if e.again {
		if _, _, err := once(ctx, argv, env); err != nil {
			return sample{}, err
		}
	}
	m, out, err := once(ctx, argv, env)
	if err == nil && e.driver {
		var d driven
		d, err = parse(out)
		m.op = d.Ms
	}
	return m, err
}

// answer runs e once and returns its answer, or "" if it is not comparable.
func (p *programs) answer(ctx context.Context, e entrant, s store) (string, error) {
	if e.session != nil || !e.driver && e.answer == nil {
		return "", nil
	}
	argv, env, err := p.prepare(e, s, true)
	if err != nil {
		return "", err
	}
	_, out, err := once(ctx, argv, env)
	if err != nil || e.answer != nil {
		if err == nil {
			out = e.answer(out)
		}
		return out, err
	}
	d, err := parse(out)
	return string(d.Answer), err
}

// prepare makes the directory that the run may write to and completes argv.
func (p *programs) prepare(e entrant, s store, check bool) (argv, env []string, err error) {
	scratch, err := emptied(filepath.Join(p.work, "scratch"))
	if err != nil {
		return nil, nil, err
	}
	// Not below the scratch root's sessions, so that it belongs to no store.
	copied := filepath.Join(scratch, "tmp", filepath.Base(s.Path))
	if e.copied {
		content, err := os.ReadFile(s.Path)
		if err == nil {
			err = os.WriteFile(copied, content, 0o600)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if e.again { // an entrant that caches results does not create its agent directory
		if err := os.MkdirAll(filepath.Join(scratch, "agent"), 0o700); err != nil {
			return nil, nil, err
		}
	}
	for _, arg := range e.argv {
		argv = append(argv, strings.NewReplacer("{scratch}", scratch, "{copy}", copied).Replace(arg))
	}
	if check && e.driver {
		at := 1
		if argv[0] != p.drive {
			at = 3
		}
		argv = slices.Insert(argv, at, "-check")
	}
	// Each program has its own agent directory, so that none writes into the store.
	env = []string{"HOME=" + s.Home, "PI_CODING_AGENT_DIR=" + filepath.Join(scratch, "agent"), "TMPDIR=" + filepath.Join(scratch, "tmp")}
	return argv, env, nil
}

// drivers returns entrants that run the operation with a driver: ours, and the peers that are
// installed.
func (p *programs) drivers(s store, op string, args ...string) []entrant {
	tail := append([]string{op, s.Home, "{scratch}"}, args...)
	list := []entrant{{name: "engine", driver: true, argv: append([]string{p.drive}, tail...)}}
	for _, peer := range []string{"pi", "omp"} {
		if run, ok := p.peers[peer]; ok {
			list = append(list, entrant{name: peer, driver: true, argv: append(slices.Clone(run), tail...)})
		}
	}
	return list
}

// ours returns an entrant that runs an operation of our own driver, which the peers do not support.
func (p *programs) ours(s store, name, op string, args ...string) entrant {
	return entrant{name: name, driver: true, argv: append([]string{p.drive, op, s.Home, "{scratch}"}, args...)}
}

// again returns an entrant that repeats an operation of our own driver with a cache.
func (p *programs) again(s store, op string, args ...string) entrant {
	e := p.ours(s, "engine, "+op+" again", op, args...)
	e.argv = slices.Insert(e.argv, 1, "-remember")
	e.again = true
	return e
}

// limit adds a system tool if it is installed.
func (p *programs) limit(list []entrant, tool string, answer func(string) string, args ...string) []entrant {
	if path, ok := p.tools[tool]; ok {
		list = append(list, entrant{name: tool, argv: append([]string{path}, args...), answer: answer})
	}
	return list
}
