package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// operation is one thing that several programs can do.
type operation struct {
	name   string
	store  string
	rounds int // at most; 0: as asked
	// entrants are the programs that can do it, xcsh-ls first.
	entrants func(store) []entrant
}

// entrant is one program that is to do an operation.
type entrant struct {
	name string
	argv []string // {scratch} stands for a directory that is empty before each run
	// driver: argv is a driver, which says what its operation took and takes -check.
	driver bool
	// copied: {copy} in argv stands for a fresh copy of the store's first session.
	copied bool
	// again: it runs once more before each measured run, so that it finds what it left.
	again bool
	// mayDiffer is why its answer is known to be another one.
	mayDiffer string
	// session, when set, is a program that is talked to instead of run to its end.
	session func(ctx context.Context, argv, env []string) (sample, error)
	// answer, when set, makes an answer of what a program prints that is no driver.
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

// answer runs e once and returns what it found out, "" when that cannot be compared.
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
	// Not below the scratch root's sessions, so that it is nobody's.
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
	if e.again { // nobody makes an agent directory to remember something in
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
	// The variable names the directory that a program calls its own: ours for us, pi's
	// for pi. Nobody writes into the store.
	env = []string{"HOME=" + s.Home, "PI_CODING_AGENT_DIR=" + filepath.Join(scratch, "agent"), "TMPDIR=" + filepath.Join(scratch, "tmp")}
	return argv, env, nil
}

// drivers returns entrants that do what is asked by driver: ours, and the peers that
// are installed.
func (p *programs) drivers(s store, op string, args ...string) []entrant {
	tail := append([]string{op, s.Home, "{scratch}"}, args...)
	list := []entrant{{name: "xcsh-ls", driver: true, argv: append([]string{p.drive}, tail...)}}
	for _, peer := range []string{"pi", "omp"} {
		if run, ok := p.peers[peer]; ok {
			list = append(list, entrant{name: peer, driver: true, argv: append(slices.Clone(run), tail...)})
		}
	}
	return list
}

// ours is another operation of our own driver, without an op of the peers.
func (p *programs) ours(s store, name, op string, args ...string) entrant {
	return entrant{name: name, driver: true, argv: append([]string{p.drive, op, s.Home, "{scratch}"}, args...)}
}

// again is an operation of our own driver that was done before.
func (p *programs) again(s store, op string, args ...string) entrant {
	e := p.ours(s, op+" again", op, args...)
	e.argv = slices.Insert(e.argv, 1, "-remember")
	e.again = true
	return e
}

// limit adds a system tool, if it is there.
func (p *programs) limit(list []entrant, tool string, answer func(string) string, args ...string) []entrant {
	if path, ok := p.tools[tool]; ok {
		list = append(list, entrant{name: tool, argv: append([]string{path}, args...), answer: answer})
	}
	return list
}
