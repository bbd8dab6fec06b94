package find

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// Config configures a [Catalog].
type Config struct {
	Machine Machine
	Setting Setting

	// Store is the file of the user's answer, in a directory of the user's own. "" stores none.
	Store string

	// Cache is the file of the versions that were determined; "" keeps them in memory.
	Cache string

	// Make returns a new engine for a program with the protocol. nil makes none, and finds programs of every
	// protocol; a missing protocol makes its programs unusable.
	Make map[engine.Protocol]func(engine.Program) (engine.Engine, error)

	// Report receives a sentence for the user about a program or a workspace that is not used, once for each. nil drops
	// them.
	Report func(about, text string)
}

// Catalog implements [engine.Catalog].
type Catalog struct {
	Machine
	setting Setting
	problem error // of the setting
	make    map[engine.Protocol]func(engine.Program) (engine.Engine, error)
	report  func(about, text string)
	probes  *probes
	answers *answers

	mu       sync.Mutex
	reported map[string]bool   // guarded by mu
	last     map[string]string // the paths of programs that were found, by name; guarded by mu
}

// New returns a catalog. An invalid setting is reported where its engine is used.
func New(c Config) *Catalog {
	return &Catalog{
		Machine: c.Machine, setting: c.Setting, problem: c.Setting.Check(), make: c.Make, report: c.Report,
		probes: &probes{m: c.Machine, path: c.Cache}, answers: &answers{fs: c.Machine.Fs, path: c.Store},
		reported: map[string]bool{}, last: map[string]string{},
	}
}

// List implements [engine.Catalog]: first the program of the setting, then those that were found, in a fixed order.
func (c *Catalog) List(ctx context.Context, folders []string) []engine.Program {
	c.noteSettings(folders)
	own := c.configured(ctx, folders)
	found, skipped := c.all(ctx, folders, c.places())
	if len(found) == 0 && c.LoginPath != nil {
		found, skipped = c.all(ctx, folders, c.loginPlaces())
	}
	if len(found) == 0 {
		c.noteSkipped(skipped)
	}
	chosen := c.Default()
	if k, ok := kindOf(chosen); ok && !slices.ContainsFunc(found, func(p engine.Program) bool { return p.Name == chosen }) {
		found = append(found, engine.Program{Name: chosen, Protocol: k.protocol, Problem: c.missing(chosen, skipped).Error()})
	}
	if len(own) > 0 { // instead of one with the same name
		found = slices.DeleteFunc(found, func(p engine.Program) bool { return p.Name == own[0].Name })
	}
	for _, p := range found {
		c.found(p)
	}
	return append(own, found...)
}

// all searches all known programs at the same time. It returns those that were found.
func (c *Catalog) all(ctx context.Context, folders []string, places []place) (found []engine.Program, skipped []string) {
	results, hunts := make([]engine.Program, len(kinds)), make([]*hunt, len(kinds))
	var wg sync.WaitGroup
	for i, k := range kinds {
		hunts[i] = &hunt{Catalog: c, folders: folders, places: places}
		wg.Go(func() { results[i] = hunts[i].search(ctx, k) })
	}
	wg.Wait()
	for i, p := range results {
		if p.Path != "" {
			found = append(found, p)
		}
		skipped = append(skipped, hunts[i].inside...)
	}
	return found, skipped
}

// loginPlaces are the places of the login shell's PATH.
func (c *Catalog) loginPlaces() (places []place) {
	for _, dir := range c.LoginPath() {
		places = append(places, place{dir, isShims(dir)})
	}
	return append(places, c.places()...)
}

// Find implements [engine.Catalog]. A program with a problem is returned without an error.
func (c *Catalog) Find(ctx context.Context, name string, folders []string) (engine.Program, error) {
	c.noteSettings(folders)
	if own := c.configured(ctx, folders); len(own) > 0 && own[0].Name == name {
		return own[0], nil
	}
	k, ok := kindOf(name)
	if !ok {
		return engine.Program{}, fault.New(fault.NotFound, "There is no engine %q. The known ones are %s.", name, strings.Join(append([]string{engine.Own}, Names()...), ", ")).With("field", "engine")
	}
	h := &hunt{Catalog: c, folders: folders, places: c.places()}
	p := h.search(ctx, k)
	if p.Path == "" && c.LoginPath != nil {
		h.places, h.inside = c.loginPlaces(), nil
		p = h.search(ctx, k)
	}
	if err := ctx.Err(); err != nil {
		return engine.Program{}, fault.New(fault.Cancelled, "The search for %s was cancelled: %w", name, err)
	}
	if p.Path == "" {
		c.noteSkipped(h.inside)
		return engine.Program{}, c.missing(name, h.inside)
	}
	c.found(p)
	c.noteNewer(k, p)
	return p, nil
}

// configured returns the program of the setting, if it describes one.
func (c *Catalog) configured(ctx context.Context, folders []string) []engine.Program {
	s := c.setting
	if c.problem != nil && s.Name != "" {
		return []engine.Program{{Name: s.Name, Protocol: s.Protocol, Problem: c.problem.Error()}}
	}
	if !s.configured() {
		return nil
	}
	h := &hunt{Catalog: c, folders: folders, places: c.places()}
	path := s.Command[0]
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(c.Home, rest)
	}
	p := h.custom(ctx, s, path)
	if p.Path == "" && !filepath.IsAbs(path) && c.LoginPath != nil {
		h.places = c.loginPlaces()
		p = h.custom(ctx, s, path)
	}
	if p.Path == "" && p.Problem == "" {
		p.Problem = fmt.Sprintf("The program %s of the setting \"engine\" was not found.", c.short(path))
		if len(h.inside) > 0 {
			p.Problem = fmt.Sprintf("The program %s of the setting \"engine\" is not run because it is in a workspace folder.", c.short(path))
		}
	}
	return []engine.Program{p}
}

// custom returns the program of a setting. Its version is not asked for and not checked: the user's word counts.
func (h *hunt) custom(ctx context.Context, s Setting, path string) engine.Program {
	p := engine.Program{Name: s.Name, Protocol: s.Protocol}
	for c := range h.candidates(path) {
		if p.Path, p.Problem = c.path, c.why; p.Problem == "" {
			p.Problem = h.supported(p)
		}
		if p.Problem == "" {
			pack, _ := h.packageOf(c.real)
			p.Version = pack.Version
			p.Problem = h.prepare(ctx, &p, c, needs(kind{}, pack))
		}
		p.Args = append(p.Args, s.Command[1:]...)
		return p
	}
	return p
}

// missing returns the error for a program that was not found.
func (c *Catalog) missing(name string, skipped []string) error {
	c.mu.Lock()
	was := c.last[name]
	c.mu.Unlock()
	if was != "" {
		return fault.New(fault.NotFound, "%s is not installed any more (it was at %s).", name, c.short(was)).With("engine", name)
	}
	if len(skipped) > 0 {
		return fault.New(fault.NotFound, "%s was not found, except for %s, which is not run because it is in a workspace folder.", name, c.short(skipped[0])).With("engine", name)
	}
	var places []string
	for _, dir := range c.wellKnown() {
		places = append(places, c.short(dir))
	}
	searched := "the PATH of xcsh-ls"
	if c.LoginPath != nil {
		searched += " and of the login shell"
	}
	return fault.New(fault.NotFound, "%s was not found. The search covered %s and these directories: %s.", name, searched, strings.Join(places, ", ")).
		With("engine", name).With("places", places)
}

// found remembers where a program is.
func (c *Catalog) found(p engine.Program) {
	if p.Path != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.last[p.Name] = p.Path
	}
}

// Default implements [engine.Catalog]. The setting takes precedence over the answer.
func (c *Catalog) Default() string {
	if c.setting.Name != "" {
		return c.setting.Name
	}
	name, err := c.answers.read()
	if err != nil {
		c.say("answer", err.Error())
	}
	return name
}

// Offered implements [engine.Catalog]. An answer that cannot be read counts as one, so that the user is not asked
// each time.
func (c *Catalog) Offered() bool {
	name, err := c.answers.read()
	return name != "" || err != nil
}

// Remember implements [engine.Catalog].
func (c *Catalog) Remember(name string) error {
	if _, known := kindOf(name); !known && name != engine.Own && (name == "" || name != c.setting.Name) {
		return fault.New(fault.InvalidArgument, "There is no engine %q.", name).With("field", "engine")
	}
	return c.answers.write(name)
}

// Engine implements [engine.Catalog].
func (c *Catalog) Engine(p engine.Program) (engine.Engine, error) {
	problem := p.Problem
	if p.Path == "" && problem == "" {
		problem = fmt.Sprintf("%s is not a program on this machine.", p.Name)
	}
	if problem == "" && c.make[p.Protocol] == nil {
		problem = fmt.Sprintf("This version of xcsh-ls cannot use %s.", p.Name)
	}
	if problem != "" {
		return nil, fault.New(fault.Provider, "%s", problem).With("class", "engine")
	}
	return c.make[p.Protocol](p)
}

// say reports a sentence once.
func (c *Catalog) say(about, text string) {
	c.mu.Lock()
	known := c.reported[about]
	c.reported[about] = true
	c.mu.Unlock()
	if !known && c.report != nil {
		c.report(about, fault.OneLine(text))
	}
}

// noteSkipped reports the programs of a workspace that were found and not run: only when there is no other, because
// a directory of a workspace on the PATH is common.
func (c *Catalog) noteSkipped(paths []string) {
	if len(paths) > 0 {
		c.say("workspace", fmt.Sprintf("%s is not used as an engine because it is in a workspace folder.", c.short(paths[0])))
	}
}

// noteNewer reports that a program is newer than those that were tested.
func (c *Catalog) noteNewer(k kind, p engine.Program) {
	if v, ok := parseVersion(p.Version); ok && k.tested > 0 && v[0] > k.tested && p.Usable() {
		c.say("newer "+k.name, fmt.Sprintf("%s %s is newer than the versions that were tested with this version of xcsh-ls.", k.name, p.Version))
	}
}

// noteSettings reports settings of a workspace that try to choose an engine. They are never read for anything else.
func (c *Catalog) noteSettings(folders []string) {
	for _, folder := range folders {
		path := filepath.Join(folder, ".vscode", "settings.json")
		content, err := intake.ReadAll(c.Fs, path, maxSettings)
		if err == nil && bytes.Contains(content, []byte(`"xcshLs.engine`)) {
			c.say("workspace", fmt.Sprintf("The setting of the engine in %s is ignored. Only your own settings choose the engine.", c.short(path)))
		}
	}
}
