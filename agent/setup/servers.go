package setup

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Transport is how a server is reached.
type Transport string

// The transports.
const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http" // streamable HTTP
	SSE   Transport = "sse"
)

// Server is the definition of an MCP server. Its JSON form has no values of variables and headers.
type Server struct {
	Name        string    `json:"name"`
	Path        string    `json:"path" jsonschema:"The file that defines it."`
	Scope       Scope     `json:"scope" jsonschema:"user or project"`
	Source      string    `json:"source" jsonschema:"The program whose file it is: pi, omp, xcsh, claude, codex, …"`
	Transport   Transport `json:"transport" jsonschema:"stdio, http or sse"`
	Starts      string    `json:"starts" jsonschema:"The command line or address, without secrets."`
	Variables   []string  `json:"variables,omitempty" jsonschema:"The names of the environment variables that it gets."`
	HeaderNames []string  `json:"headers,omitempty" jsonschema:"The names of the HTTP headers that are sent."`
	TimeoutMs   int64     `json:"timeoutMs" jsonschema:"The time limit of a call in milliseconds; 0 is none."`
	Description string    `json:"description,omitempty"`
	Exposure    string    `json:"exposure,omitempty" jsonschema:"pi: codemode, deferred, direct or hidden."`

	Definition Definition `json:"-"`
}

// Definition is a server as its file has it: nothing is expanded. It may hold secrets.
type Definition struct {
	Command      string
	Args         []string
	Env          map[string]string
	Cwd          string
	URL          string
	Headers      map[string]string
	Timeout      time.Duration     // 0: none
	ToolExposure map[string]string // pi: by the name of a tool, or a pattern
	Quiet        bool              // omp: the server's instructions are not used
	RequestIDs   string            // omp: requestIdFormat
	Auth, OAuth  map[string]string
}

// String keeps secrets out of logs.
func (Definition) String() string { return "(definition of a server)" }

// GoString keeps secrets out of logs.
func (Definition) GoString() string { return "(definition of a server)" }

// defined is one entry of a file.
type defined struct {
	name   string
	entry  map[string]any
	path   string
	rel    string // within its directory
	scope  Scope
	source string
	own    bool // a file of the program's own, not of another one
}

// found are the entries of all files in the order of precedence, and the names that the user turned off
// and on.
type found struct {
	servers []defined
	off, on map[string]string // the paths of the files, by name
}

const (
	maxServers = 100 // of a result
	maxValues  = 256 // arguments, variables or headers of a server
	maxValue   = 32 << 10
	maxTimeout = 24 * time.Hour
)

// findServers reads every file that defines servers for the program.
func (l *looking) findServers() (f found) {
	f.off, f.on = map[string]string{}, map[string]string{}
	for _, file := range l.serverFiles() {
		text, ok := l.whole(file.place.asConfig(), maxConfig)
		if !ok {
			continue
		}
		path := file.place.full()
		top, err := parseObject(file.place.path, text)
		if err != nil {
			l.unused(path, reason(err))
			continue
		}
		if file.place.scope() == User && file.own {
			addNames(f.off, top["disabledServers"], path)
			addNames(f.on, top["enabledServers"], path)
		}
		entries := file.entries(top)
		if len(entries) > maxServers {
			l.unused(path, fmt.Sprintf("it defines more than %d servers", maxServers))
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			entry, ok := entries[name].(map[string]any)
			if !ok {
				l.partly(path, "the server "+quote(name), "its definition is not an object")
				continue
			}
			f.servers = append(f.servers, defined{name, entry, path, filepath.ToSlash(file.place.path), file.place.scope(), file.source, file.own})
		}
	}
	return f
}

func addNames(to map[string]string, list any, path string) {
	for _, v := range anys(list) {
		if name, ok := v.(string); ok && len(to) < maxListed {
			to[name] = path
		}
	}
}

// serverFile is a file that may define servers.
type serverFile struct {
	place   place
	source  string
	own     bool
	entries func(top map[string]any) map[string]any
}

// member returns a function that returns a member, which is reached by the names of objects.
func member(names ...string) func(map[string]any) map[string]any {
	return func(top map[string]any) map[string]any {
		for _, name := range names {
			top, _ = top[name].(map[string]any)
		}
		return top
	}
}

// mergeServers decides which definitions hold.
func (l *looking) mergeServers(f found) {
	byName := map[string]int{}
	for _, d := range l.overridden(f.servers) {
		s, why := l.server(d)
		if why != "" {
			l.partly(d.path, "the server "+quote(d.name), why)
			continue
		}
		if !l.admitStarting(KindServer, d.scope, d.name, d.path, s.Starts) {
			continue
		}
		if o, set := l.own["mcp.enableProjectConfig"]; set && o.Value == "false" && d.scope == Project {
			l.leaveOut(KindServer, d.name, d.path, "mcp.enableProjectConfig is false in "+o.Path+".")
			continue
		}
		if path, off := f.off[d.name]; off {
			l.leaveOut(KindServer, d.name, d.path, "It is turned off in "+path+".")
			continue
		}
		if !l.enabled(d, f.on) {
			l.leaveOut(KindServer, d.name, d.path, "It is turned off in its definition.")
			byName[l.key(d.name)] = -1 // a definition of less precedence does not hold either
			continue
		}
		if at, taken := byName[l.key(d.name)]; taken {
			if at < 0 {
				l.leaveOut(KindServer, d.name, d.path, "A definition that takes precedence turns it off.")
			} else {
				l.shadowed(KindServer, d.name, d.path, l.r.Servers[at].Path)
			}
			continue
		}
		if other, same := l.sameServer(s); same && l.program.String() != "pi" {
			l.leaveOut(KindServer, d.name, d.path, "It is the same as the server "+quote(other)+".")
			continue
		}
		if len(l.r.Servers) >= maxServers {
			l.leaveOut(KindServer, d.name, d.path, fmt.Sprintf("There are more than %d servers.", maxServers))
			continue
		}
		byName[l.key(d.name)] = len(l.r.Servers)
		l.r.Servers = append(l.r.Servers, s)
	}
	slices.SortStableFunc(l.r.Servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
}

// key is how names are compared: pi makes the same tool names of "a-b" and "a_b".
func (l *looking) key(name string) string {
	if l.program.String() == "pi" {
		return strings.ReplaceAll(name, "-", "_")
	}
	return name
}

// sameServer returns the name of a server that starts the same.
func (l *looking) sameServer(s Server) (name string, ok bool) {
	for _, o := range l.r.Servers {
		a, b := s.Definition, o.Definition
		if a.Command == b.Command && a.URL == b.URL && slices.Equal(a.Args, b.Args) && maps.Equal(a.Env, b.Env) && a.Cwd == b.Cwd {
			return o.Name, true
		}
	}
	return "", false
}

// enabled reports whether a definition is turned on.
func (l *looking) enabled(d defined, on map[string]string) bool {
	if _, named := on[d.name]; named {
		return true
	}
	switch v := d.entry["enabled"].(type) {
	case bool:
		return v
	case string:
		return !d.own || l.program.String() == "pi" || v == "true" || v == "1"
	default:
		return true
	}
}

// overridden applies entries of a project of pi that start nothing: they change how the user's server of the
// same name is used.
func (l *looking) overridden(all []defined) (rest []defined) {
	if l.program.String() != "pi" {
		return all
	}
	changes := map[string]defined{}
	for _, d := range all {
		if d.scope == Project && d.entry["command"] == nil && d.entry["url"] == nil && d.entry["type"] == nil {
			if l.admit(KindServer, d.scope, d.name, d.path) {
				changes[d.name] = d
			}
			continue
		}
		rest = append(rest, d)
	}
	for i, d := range rest {
		change, ok := changes[d.name]
		if !ok || d.scope == Project {
			continue
		}
		rest[i].entry = maps.Clone(d.entry)
		for _, field := range []string{"enabled", "exposure", "toolExposure"} {
			if v := change.entry[field]; v != nil {
				rest[i].entry[field] = v
			}
		}
		if on, ok := change.entry["enabled"].(bool); ok && !on {
			l.leaveOut(KindServer, d.name, d.path, "It is turned off in "+change.path+".")
			rest[i].entry = nil
		}
	}
	return slices.DeleteFunc(rest, func(d defined) bool { return d.entry == nil })
}

// parseObject parses a JSON or TOML file, by its name.
func parseObject(name, text string) (map[string]any, error) {
	if strings.HasSuffix(name, ".toml") {
		return parseTOML(text)
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var top map[string]any
	if err := json.Unmarshal([]byte(text), &top); err != nil {
		return nil, jsonError(text, err)
	}
	return top, nil
}
