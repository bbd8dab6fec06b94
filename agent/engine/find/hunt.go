package find

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/trust"
)

// hunt is one search.
type hunt struct {
	*Catalog
	folders []string
	places  []place

	inside []string // programs that were passed over because they are in a workspace folder
}

// candidate is a file with the name of a program.
type candidate struct {
	path string // as found
	trail
	shim bool
}

// candidates yields the files with the name of a program, or the file at an absolute path, without those in a
// workspace folder.
func (h *hunt) candidates(name string) func(yield func(candidate) bool) {
	places := h.places
	if filepath.IsAbs(name) {
		places, name = []place{{dir: filepath.Dir(name)}}, filepath.Base(name)
	}
	return func(yield func(candidate) bool) {
		for _, at := range places {
			for _, file := range h.files(name) {
				path := filepath.Join(at.dir, file)
				t, err := h.trace(path)
				if err != nil {
					continue
				}
				if _, in := h.Machine.inside(t, h.folders); in {
					h.inside = append(h.inside, path)
					continue
				}
				if !yield(candidate{path, t, at.shim}) {
					return
				}
			}
		}
	}
}

// search returns a known program: the first one that can be used, else the first one. The path is empty if there is
// none.
func (h *hunt) search(ctx context.Context, k kind) (best engine.Program) {
	for c := range h.candidates(k.name) {
		p := h.describe(ctx, k, c)
		if p.Usable() {
			return p
		}
		if best.Path == "" {
			best = p
		}
	}
	return best
}

// describe examines a candidate. It runs the program only if nothing speaks against that.
func (h *hunt) describe(ctx context.Context, k kind, c candidate) engine.Program {
	p := engine.Program{Name: k.name, Path: c.path, Protocol: k.protocol, Login: h.login(k, c), Problem: c.why}
	if p.Problem == "" {
		p.Problem = h.supported(p)
	}
	if p.Problem != "" {
		return p
	}
	script := c.real
	if target, ok := h.shimTarget(c.real); ok {
		script = target
	}
	pack, packed := h.packageOf(script)
	p.Version = pack.Version
	p.Problem = h.prepare(ctx, &p, c, needs(k, pack))
	if p.Problem == "" && (!k.adapter || !packed) {
		p.Version, p.Problem = h.ask(ctx, k, p, c, pack.Version)
	}
	if v, ok := parseVersion(p.Version); ok && p.Problem == "" && v.compare(k.least) < 0 {
		p.Problem = fmt.Sprintf("%s %s is too old. Update it to version %s or newer.", k.name, p.Version, k.least)
	}
	p.Args = append(p.Args, k.args...)
	return p
}

// supported returns the reason why no program with this protocol can be run; "" if one can.
func (c *Catalog) supported(p engine.Program) string {
	if c.make != nil && c.make[p.Protocol] == nil {
		return fmt.Sprintf("This version of xcsh-ls cannot use %s.", p.Name)
	}
	return ""
}

// ask determines the version of a program by running it. otherwise is the version of its package.
func (h *hunt) ask(ctx context.Context, k kind, p engine.Program, c candidate, otherwise string) (version, problem string) {
	env := p.Env
	if len(env) == 0 {
		env = h.pathEnv(true)
	}
	version, err := h.probes.version(ctx, subject{
		file: c.path, pack: otherwise, shim: c.shim, command: Command{Path: p.Path, Args: p.Args, Env: env, Dir: h.Home},
	})
	if version != "" {
		return version, ""
	}
	slow := errors.Is(err, context.DeadlineExceeded)
	switch exit, failed := errors.AsType[*exec.ExitError](err); {
	case slow && (otherwise != "" || k.least == version0):
		return otherwise, ""
	case slow:
		return "", fmt.Sprintf("%s --version did not answer within %d seconds.", h.short(c.path), int(versionLimit.Seconds()))
	case failed:
		return otherwise, fmt.Sprintf("%s --version failed: %s.", h.short(c.path), exit)
	case err != nil:
		return otherwise, fmt.Sprintf("%s could not be run: %s.", h.short(c.path), err)
	case otherwise == "" && k.least != version0:
		return "", fmt.Sprintf("%s --version printed no version.", h.short(c.path))
	default:
		return otherwise, ""
	}
}

var version0 version

// needs returns the Node.js version that a program needs.
func needs(k kind, p pack) version {
	if least, ok := leastVersion(p.Engines.Node); ok {
		return least
	}
	if k.node != version0 {
		return k.node
	}
	return version{22}
}

// prepare determines how a candidate is run: its path, arguments and environment. It returns the reason why it
// cannot be run, "" if it can.
func (h *hunt) prepare(ctx context.Context, p *engine.Program, c candidate, node version) (problem string) {
	if script, ok := h.shimTarget(c.real); ok {
		program, problem := h.node(ctx, p.Name, filepath.Dir(c.path), node)
		if problem != "" {
			return problem
		}
		p.Path, p.Args, p.Env = program, []string{script}, h.pathEnv(false, filepath.Dir(c.path), filepath.Dir(program))
		return ""
	}
	name, onPath := interpreter(h.firstLine(c.real))
	switch {
	case name == "":
		p.Env = h.pathEnv(false)
		return ""
	case !onPath:
		p.Env = h.pathEnv(false)
		return h.checkInterpreter(ctx, p.Name, name, node)
	}
	var program string
	if name == "node" {
		program, problem = h.node(ctx, p.Name, filepath.Dir(c.path), node)
	} else if program = h.first(name, filepath.Dir(c.path)); program == "" {
		problem = fmt.Sprintf("%s needs %s, which was not found.", p.Name, name)
	}
	if problem != "" {
		return problem
	}
	p.Env = h.envFor(name, filepath.Dir(c.path), filepath.Dir(program))
	return ""
}

// checkInterpreter examines an interpreter that a script names by its path.
func (h *hunt) checkInterpreter(ctx context.Context, program, path string, node version) (problem string) {
	t, err := h.trace(path)
	if err != nil {
		return fmt.Sprintf("%s needs %s, which cannot be run.", program, path)
	}
	if folder, in := h.Machine.inside(t, h.folders); in {
		return fmt.Sprintf("%s is not run because %s is in the workspace folder %s.", program, path, folder)
	}
	if t.why == "" && filepath.Base(path) == "node" {
		_, problem := h.nodeVersion(ctx, program, candidate{path: path, trail: t}, node)
		return problem
	}
	return t.why
}

// from returns a search that begins in one more directory.
func (h *hunt) from(dir string) *hunt {
	return &hunt{Catalog: h.Catalog, folders: h.folders, places: append([]place{{dir, isShims(dir)}}, h.places...)}
}

// first returns the first program with a name that may be run, "" if there is none.
func (h *hunt) first(name, near string) string {
	for c := range h.from(near).candidates(name) {
		if c.why == "" {
			return c.path
		}
	}
	return ""
}

// maxNodes bounds how many installations of Node.js are asked for their version.
const maxNodes = 6

// node returns the Node.js that a program is run with: the one next to the program or the first on the PATH; if that
// is too old, another one.
func (h *hunt) node(ctx context.Context, program, near string, least version) (path, problem string) {
	tried := map[string]bool{}
	for c := range h.from(near).candidates("node") {
		if c.why != "" || tried[c.real] && !c.shim {
			continue
		}
		if tried[c.real] = true; len(tried) > maxNodes {
			break
		}
		ok, why := h.nodeVersion(ctx, program, c, least)
		if ok {
			return c.path, ""
		}
		if problem == "" {
			problem = why
		}
	}
	if problem == "" {
		problem = fmt.Sprintf("%s needs Node %s, which was not found.", program, least)
	}
	return "", problem
}

// nodeVersion reports whether a Node.js is new enough, and otherwise why the program cannot be run with it.
func (h *hunt) nodeVersion(ctx context.Context, program string, c candidate, least version) (ok bool, problem string) {
	text, err := h.probes.version(ctx, subject{
		file: c.path, shim: c.shim, command: Command{Path: c.path, Env: h.pathEnv(true, filepath.Dir(c.path)), Dir: h.Home},
	})
	v, parsed := parseVersion(text)
	switch {
	case !parsed && err != nil:
		return false, fmt.Sprintf("%s needs Node %s; %s --version failed: %s.", program, least, h.short(c.path), err)
	case !parsed:
		return false, fmt.Sprintf("%s needs Node %s; %s printed no version.", program, least, h.short(c.path))
	case v.compare(least) < 0:
		return false, fmt.Sprintf("%s needs Node %s; %s is %s.", program, least, h.short(c.path), text)
	}
	return true, ""
}

// envFor returns the environment of a script in the directory dir whose interpreter is searched in the PATH and must be
// that in runtime.
func (h *hunt) envFor(name, dir, runtime string) []string {
	for _, at := range append([]string{dir}, h.childPath()...) {
		if at == runtime {
			return h.pathEnv(false, dir)
		}
		if t, err := h.trace(filepath.Join(at, name)); err == nil && t.real != "" {
			break // this one would be found before
		}
	}
	return h.pathEnv(false, runtime, dir)
}

// childPath returns the PATH of a child process. The server's PATH can have directories in a workspace: a program in
// there must not run because an engine looks for one of that name. Directories that others may write to are the last.
func (h *hunt) childPath() []string {
	gate := trust.Gate{Fs: h.Fs, Home: h.Home, Folders: func() []string { return h.folders }}
	var dirs, last []string
	for _, dir := range h.split(h.Getenv("PATH")) {
		if _, in := gate.Inside(dir); in {
			continue
		}
		if info, err := h.Fs.Stat(dir); err == nil && h.Writers != nil && h.Writers(info) != "" {
			last = append(last, dir)
		} else {
			dirs = append(dirs, dir)
		}
	}
	return append(dirs, last...)
}

// pathEnv returns the variable PATH of a child process, which begins with the directories first. It returns none if that is the
// server's own, unless always is set.
func (h *hunt) pathEnv(always bool, first ...string) []string {
	var dirs []string
	for _, dir := range slices.Concat(first, h.childPath()) {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if list := h.join(dirs); always || list != h.Getenv("PATH") {
		return []string{"PATH=" + list}
	}
	return nil
}

// login returns the command that logs in.
func (h *hunt) login(k kind, c candidate) []string {
	if c.why != "" || len(k.login) == 0 {
		return nil
	}
	if k.login[0] == "" {
		return append([]string{c.path}, k.login[1:]...)
	}
	if program := h.first(k.login[0], filepath.Dir(c.path)); program != "" {
		return append([]string{program}, k.login[1:]...)
	}
	if k.name == "claude-agent-acp" { // it contains the program
		return []string{c.path, "--cli", "/login"}
	}
	return nil
}
