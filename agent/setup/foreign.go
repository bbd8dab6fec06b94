package setup

import (
	"path/filepath"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// The files of other programs that oh-my-pi reads, and xcsh if the user turns it on.

// foreign reports whether the files of another program are read: oh-my-pi reads those of a project unless they
// are turned off (disabledProviders), and those of the user if they are turned on (enabledProviders). xcsh has
// all of them in its default of disabledProviders.
func (l *looking) foreign(source string, scope Scope) bool {
	if l.program == session.Pi {
		return false
	}
	off, set := l.own["disabledProviders"]
	if set && slices.Contains(off.Texts(), source) {
		return false
	}
	if l.program == session.Xcsh {
		return set
	}
	return scope == Project || slices.Contains(l.own["enabledProviders"].Texts(), source)
}

// foreignServers are the files with servers, in the order of precedence. One of the user is below the home
// directory.
var foreignServers = []struct {
	source        string
	project, user []string // the first that exists
	entries       func(top map[string]any) map[string]any
	each          bool // all files, not only the first
}{
	{source: "claude", project: []string{".claude/.mcp.json", ".claude/mcp.json"}, user: []string{".claude.json", ".claude/mcp.json"}, entries: member("mcpServers")},
	{source: "codex", project: []string{".codex/config.toml"}, user: []string{".codex/config.toml"}, entries: member("mcp_servers")},
	{source: "gemini", project: []string{".gemini/settings.json"}, user: []string{".gemini/settings.json"}, entries: member("mcpServers")},
	{source: "opencode", project: []string{"opencode.json"}, user: []string{".config/opencode/opencode.json"}, entries: opencode},
	{source: "cursor", project: []string{".cursor/mcp.json"}, user: []string{".cursor/mcp.json"}, entries: member("mcpServers")},
	{source: "windsurf", project: []string{".windsurf/mcp_config.json"}, user: []string{".codeium/windsurf/mcp_config.json"}, entries: member("mcpServers")},
	{source: "vscode", project: []string{".vscode/mcp.json"}, entries: member("mcp", "servers")},
	{source: "mcp-json", project: []string{"mcp.json", ".mcp.json"}, entries: member("mcpServers"), each: true},
}

func (l *looking) foreignServerFiles() (files []serverFile) {
	for _, f := range foreignServers {
		if l.foreign(f.source, Project) {
			var places []place
			for _, name := range f.project {
				places = append(places, ofProject(l.cwd, name))
			}
			for _, p := range l.existing(places, f.each) {
				files = append(files, serverFile{place: p, source: f.source, entries: f.entries})
			}
		}
		if l.Home != "" && l.foreign(f.source, User) {
			var places []place
			for _, name := range f.user {
				places = append(places, ofUser(filepath.Join(l.Home, filepath.FromSlash(name))))
			}
			for _, p := range l.existing(places, f.each) {
				files = append(files, serverFile{place: p, source: f.source, entries: f.entries})
			}
		}
	}
	return files
}

// existing returns the places at which there is something: the first one, or each.
func (l *looking) existing(places []place, each bool) []place {
	places = slices.DeleteFunc(places, func(p place) bool { return !l.exists(p) })
	if !each && len(places) > 1 {
		return places[:1]
	}
	return places
}

// opencode returns the servers of a file of opencode, whose command is a list.
func opencode(top map[string]any) map[string]any {
	all := map[string]any{}
	for name, v := range member("mcp")(top) {
		in, ok := v.(map[string]any)
		if !ok {
			all[name] = v
			continue
		}
		out := map[string]any{"type": in["type"], "url": in["url"], "headers": in["headers"], "env": in["environment"], "enabled": in["enabled"], "timeout": in["timeout"]}
		if command := anys(in["command"]); len(command) > 0 {
			out["command"], out["args"] = command[0], command[1:]
		} else {
			out["command"] = in["command"]
		}
		all[name] = out
	}
	return all
}

// foreignSkills are directories of skills, in the order of precedence.
var foreignSkills = []struct {
	source, dir string
	user        bool // also below the home directory
	upward      bool // also in the directories above, up to the root of the repository
	described   bool // a skill without a description is not one
}{
	{source: "claude", dir: ".claude/skills", user: true},
	{source: "agents", dir: ".agent/skills", user: true, upward: true},
	{source: "agents", dir: ".agents/skills", user: true, upward: true},
	{source: "codex", dir: ".codex/skills", user: true},
	{source: "opencode", dir: ".opencode/skills"},
	{source: "github", dir: ".github/skills", described: true},
}

// foreignTemplates are directories of commands, in the order of precedence.
var foreignTemplates = []struct {
	source, dir string
	deep        bool // sub/x.md is x and sub:x
	named       bool // the front matter can have a name
}{
	{source: "claude", dir: ".claude/commands", deep: true},
	{source: "codex", dir: ".codex/commands", named: true},
	{source: "codex", dir: ".codex/prompts", named: true},
	{source: "opencode", dir: ".opencode/commands", named: true},
	{source: "agents", dir: ".agent/commands"},
	{source: "agents", dir: ".agents/commands"},
}
