package setup

import "path/filepath"

// The files of pi. It reads no files of other programs, and those of a project only if it is trusted.

func (l *looking) piServerFiles() []serverFile {
	project := ofProject(l.cwd, ".pi/mcp.json")
	files := []serverFile{{place: project, source: "pi", own: true, entries: member("mcpServers")}}
	return l.withAgent(files, "pi", "mcp.json")
}

// piNames are the files with instructions, in the order of preference within one directory.
var piNames = []string{"AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"}

func (l *looking) piSkillDirs() (dirs []skillDir) {
	dirs = append(dirs, skillDir{place: ofProject(l.cwd, ".pi/skills"), source: "pi", deep: true, described: true})
	for _, dir := range l.repository() {
		dirs = append(dirs, skillDir{place: ofProject(dir, ".agents/skills"), source: "agents", deep: true, described: true})
	}
	if l.agent != "" {
		dirs = append(dirs, skillDir{place: ofUser(filepath.Join(l.agent, "skills")), source: "pi", deep: true, described: true})
	}
	if l.Home != "" {
		dirs = append(dirs, skillDir{place: ofUser(filepath.Join(l.Home, ".agents", "skills")), source: "agents", deep: true, described: true})
	}
	for _, p := range l.listedPlaces("skills") {
		dirs = append(dirs, skillDir{place: p, source: "pi", deep: true, described: true})
	}
	return dirs
}

func (l *looking) piTemplateDirs() (dirs []templateDir) {
	dirs = append(dirs, templateDir{place: ofProject(l.cwd, ".pi/prompts"), source: "pi"})
	if l.agent != "" {
		dirs = append(dirs, templateDir{place: ofUser(filepath.Join(l.agent, "prompts")), source: "pi"})
	}
	for _, p := range l.listedPlaces("prompts") {
		dirs = append(dirs, templateDir{place: p, source: "pi"})
	}
	return dirs
}
