package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/trust"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// TrustState is whether the set-up of a folder may be used.
type TrustState string

// The states.
const (
	NothingToTrust TrustState = "nothing"        // the folder brings nothing that needs trust
	Trusted        TrustState = "trusted"        // all of it is used
	WithoutServers TrustState = "withoutServers" // all of it but the servers
	Untrusted      TrustState = "untrusted"      // the user has not decided, or decided against it
	Changed        TrustState = "changed"        // the programs that it starts changed since the user's decision
	Restricted     TrustState = "restricted"     // the editor does not trust the folder
)

// Trust is the user's decision about the set-up of a folder.
type Trust struct {
	State    TrustState `json:"state" jsonschema:"nothing, trusted, withoutServers, untrusted, changed or restricted"`
	By       string     `json:"by,omitempty" jsonschema:"The file with the decision."`
	Question string     `json:"question,omitempty" jsonschema:"What the folder brings, as a question to the user, if it is not used."`

	folder, digest string
	declined       bool // the user decided against it
}

// Undecided reports whether the folder brings something that is not used only because the user has not decided.
func (t Trust) Undecided() bool {
	return t.Question != "" && (t.State == Untrusted && !t.declined || t.State == Changed)
}

// Decisions stores the user's decisions about folders. [trust.Store] is one.
type Decisions interface {
	Has(trust.Trust) (bool, error)
	Known(folder, what string) bool
	Add(trust.Trust) error
}

// The names of decisions in [trust.Trust]. The digest of the first is that of the programs that the set-up
// starts.
const (
	trustAll            = "setup"
	trustWithoutServers = "setupWithoutServers"
	trustNone           = "setupNotUsed"
)

// decisions are the names, each of which replaces the others.
var decisions = []string{trustAll, trustWithoutServers, trustNone}

// Decide records the user's decision about the set-up that was shown as r. state is Trusted, WithoutServers or
// Untrusted.
func (f Finder) Decide(r *Resolved, state TrustState) error {
	chosen := map[TrustState]string{Trusted: trustAll, WithoutServers: trustWithoutServers, Untrusted: trustNone}[state]
	if chosen == "" || f.Decisions == nil {
		return fmt.Errorf("a decision %q about %s cannot be stored", state, r.Folder)
	}
	for _, what := range decisions {
		d := trust.Trust{Folder: r.Trust.folder, What: what, SHA256: superseded}
		if what == chosen {
			d.SHA256 = r.Trust.digest
		} else if !f.Decisions.Known(d.Folder, what) {
			continue
		}
		if err := f.Decisions.Add(d); err != nil {
			return err
		}
	}
	return nil
}

// superseded is the digest of a decision that another one replaced.
const superseded = "superseded"

// trusted is what of the project may be used.
type trusted struct{ files, servers bool }

// decide finds the decision about the folder. It comes before anything of the project is used.
func (l *looking) decide(restricted bool, f found, settings []Setting) {
	t := &l.r.Trust
	t.folder, t.digest = sensitive.Resolve(l.Fs, l.cwd), digest(f, settings)
	t.State = Untrusted
	switch {
	case restricted:
		t.State = Restricted
	case l.decided(t):
	case l.program == session.Pi:
		l.decidedInPi(t)
	}
	l.allowed = trusted{files: t.State == Trusted || t.State == WithoutServers, servers: t.State == Trusted}
}

// decided looks for a decision in our own file.
func (l *looking) decided(t *Trust) bool {
	if state, ok := l.Memory.granted(*t); ok {
		t.State = state
		return true
	}
	if l.Decisions == nil {
		return false
	}
	has := func(what, digest string) bool {
		ok, err := l.Decisions.Has(trust.Trust{Folder: t.folder, What: what, SHA256: digest})
		if err != nil {
			l.problem(l.cwd, "The decision about the set-up of "+l.cwd+" was not read: "+reason(err)+".")
		}
		return ok
	}
	switch {
	case has(trustNone, t.digest):
		t.declined = true
	case has(trustAll, t.digest):
		t.State = Trusted
	case has(trustWithoutServers, t.digest):
		t.State = WithoutServers
	default:
		for _, what := range []string{trustAll, trustWithoutServers} {
			if l.Decisions.Known(t.folder, what) && !has(what, superseded) {
				t.State = Changed
			}
		}
		return t.State == Changed
	}
	if store, ok := l.Decisions.(*trust.Store); ok {
		t.By = store.Path
	}
	return true
}

// decidedInPi looks for a decision that the user made in pi, where the nearest directory above decides. It is
// never written.
func (l *looking) decidedInPi(t *Trust) {
	if l.agent == "" {
		return
	}
	p := ofUser(filepath.Join(l.agent, "trust.json")).asConfig()
	if text, ok := l.whole(p, maxConfig); ok {
		var dirs map[string]any
		if err := json.Unmarshal([]byte(text), &dirs); err != nil {
			l.unused(p.path, reason(jsonError(text, err)))
		}
		for dir := t.folder; ; dir = filepath.Dir(dir) {
			if yes, ok := dirs[dir].(bool); ok {
				t.By, t.declined = p.path, !yes
				if yes {
					t.State = Trusted
				}
				return
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	if s, ok := l.own["defaultProjectTrust"]; ok && s.Value == "always" {
		t.State, t.By = Trusted, s.Path
	}
}

// digest returns the digest of what the set-up of a project starts: its servers, and the settings of the shell.
func digest(f found, settings []Setting) string {
	var starts []any
	for _, d := range f.servers {
		if d.scope == Project {
			starts = append(starts, []any{d.rel, d.name, d.entry})
		}
	}
	for _, s := range settings {
		if slices.Contains([]string{"shellPath", "shellCommandPrefix"}, s.Name) {
			starts = append(starts, []any{s.Name, s.raw})
		}
	}
	raw, err := json.Marshal(starts) // sorts the names of members
	if err != nil {
		raw = fmt.Append(nil, starts...) // dates and infinite numbers of TOML
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// admit reports whether something may be used, and leaves it out otherwise: the user's own files may be,
// those of the project need trust.
func (l *looking) admit(kind Kind, scope Scope, name, path string) bool {
	return l.admitStarting(kind, scope, name, path, "")
}

// admitStarting is admit for a server, which starts something.
func (l *looking) admitStarting(kind Kind, scope Scope, name, path, starts string) bool {
	if scope == User || kind == KindContext || kind != KindServer && l.allowed.files || l.allowed.servers {
		return true
	}
	why := map[TrustState]string{
		Untrusted:      "This folder's set-up is not trusted.",
		Changed:        "The programs that this folder's set-up starts changed since you trusted it.",
		Restricted:     "The editor does not trust this folder.",
		WithoutServers: "You trusted this folder's set-up without its servers.",
	}[l.r.Trust.State]
	l.leave(LeftOut{Kind: kind, Name: name, Path: path, Why: why, Starts: starts, trust: l.r.Trust.State != WithoutServers})
	return false
}

// ask completes the trust: the question about the omitted files.
func (l *looking) ask(restricted bool) {
	t := &l.r.Trust
	if l.allowed.files {
		return
	}
	counts, servers := map[Kind]int{}, []string{}
	for _, o := range l.r.LeftOut {
		if !o.trust {
			continue
		}
		counts[o.Kind]++
		if o.Kind == KindServer {
			servers = append(servers, line(strings.TrimSuffix(o.Name+": "+o.Starts, ": "), maxStarts))
		}
	}
	if len(counts) == 0 {
		if !restricted {
			t.State = NothingToTrust
		}
		return
	}
	t.Question = question(l.cwd, counts, servers)
}

// A question shows this many servers, and this many bytes of each: one of them cannot hide the others.
const (
	maxNamed  = 10
	maxStarts = 400
)

// question describes what a folder brings.
func question(cwd string, counts map[Kind]int, servers []string) string {
	var parts []string
	for _, k := range []struct {
		kind      Kind
		one, many string
	}{
		{KindServer, "MCP server", "MCP servers"},
		{KindSkill, "skill", "skills"},
		{KindTemplate, "template", "templates"},
		{KindAgent, "agent", "agents"},
		{KindRule, "rule", "rules"},
		{KindSetting, "setting", "settings"},
	} {
		switch n := counts[k.kind]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+k.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, k.many))
		}
		if k.kind == KindServer && len(servers) > 0 {
			more := ""
			if n := len(servers) - maxNamed; n > 0 {
				servers, more = servers[:maxNamed], fmt.Sprintf("; and %d more", n)
			}
			parts[len(parts)-1] += " (" + strings.Join(servers, "; ") + more + ")"
		}
	}
	if counts[KindSystem]+counts[KindAppend] > 0 {
		parts = append(parts, "a part of the system prompt")
	}
	return fmt.Sprintf("The folder %s brings its own set-up: %s. Use it?", filepath.Base(cwd), strings.Join(parts, ", "))
}
