package share

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

//go:embed runner.mjs
var runner []byte

// runModule calls the function that a module exports. The runner and its answer are beside
// the page.
func (s Sharer) runModule(ctx context.Context, h handler, p Page) (reply, error) {
	e, err := s.engine(ctx, h, p)
	if err != nil {
		return reply{}, err
	}
	dir := filepath.Dir(p.Path)
	script, answer := filepath.Join(dir, "runner.mjs"), filepath.Join(dir, "answer.json")
	if err := afero.WriteFile(s.Fs, script, runner, 0o600); err != nil {
		return reply{}, fault.New(fault.IO, "Cannot write %s: %w", script, err).With("path", script)
	}
	argv := append(e.argv, script, h.path, p.Path, answer)
	if e.untyped != "" {
		argv = append(argv, "plain")
	}
	out, err := s.run(ctx, p.cwd(), argv...)
	if err != nil {
		return reply{}, err
	}
	raw, err := s.readAnswer(answer)
	if errors.Is(err, fs.ErrNotExist) {
		return reply{}, h.failed(fault.IO, "ended without a result: %s", out.why())
	}
	var r reply
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		return reply{}, h.failed(fault.IO, "returned a result that cannot be read: %w", err)
	}
	if r.Failed == "types" {
		return reply{}, h.failed(fault.NotFound, "needs bun or Node.js 22.6 or later for TypeScript; Node.js %s failed: %s",
			e.untyped, sentence(r.Error))
	}
	return r, nil
}

// readAnswer reads the runner's answer, if it is not too long.
func (s Sharer) readAnswer(path string) ([]byte, error) {
	f, err := s.Fs.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxOutput+1))
	if err == nil && len(raw) > maxOutput {
		err = errors.New("it is longer than 1 MB")
	}
	return raw, err
}

// engine is the program that runs a module.
type engine struct {
	argv    []string
	untyped string // the version of a Node.js without type support, if types may be needed
}

// engine finds the program that runs a module: bun, else Node.js. A Node.js without
// TypeScript support still gets a .ts module, which works as long as it has no types in
// it.
func (s Sharer) engine(ctx context.Context, h handler, p Page) (engine, error) {
	if bun, err := s.LookPath("bun"); err == nil {
		return engine{argv: []string{bun}}, nil
	}
	node, err := s.LookPath("node")
	if err != nil {
		return engine{}, h.failed(fault.NotFound, "needs bun or Node.js, and neither is on the PATH")
	}
	if !strings.HasSuffix(h.path, ".ts") {
		return engine{argv: []string{node}}, nil
	}
	out, err := s.run(ctx, p.cwd(), node, "-p", askTypes)
	if err != nil {
		return engine{}, err
	}
	switch version, types, _ := strings.Cut(strings.TrimSpace(out.stdout), " "); types {
	case "always":
		return engine{argv: []string{node}}, nil
	case "flag":
		return engine{argv: []string{node, stripTypes}}, nil
	case "never":
		return engine{argv: []string{node}, untyped: version}, nil
	default:
		return engine{}, h.failed(fault.IO, "could not be run: Node.js did not report its version: %s", out.why())
	}
}

const stripTypes = "--experimental-strip-types"

// askTypes asks Node.js for its version, and whether it runs TypeScript always, with a flag
// or not.
const askTypes = `process.version + " " + (process.features.typescript ? "always" : process.allowedNodeEnvironmentFlags.has("` + stripTypes + `") ? "flag" : "never")`
