package setup

import (
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// The files of oh-my-pi and xcsh, which share their rules: their own directory in a project is .omp or .xcsh.

// dot returns the name of the program's directory in a project.
func (l *looking) dot() string { return "." + l.program.String() }

func (l *looking) ompServerFiles() []serverFile {
	own, id := member("mcpServers"), l.program.String()
	files := []serverFile{
		{place: ofProject(l.cwd, l.dot()+"/mcp.json"), source: id, own: true, entries: own},
		{place: ofProject(l.cwd, l.dot()+"/.mcp.json"), source: id, own: true, entries: own},
	}
	files = l.withAgent(files, id, "mcp.json", ".mcp.json")
	return append(files, l.foreignServerFiles()...)
}

// withAgent adds files of the agent directory that define servers.
func (l *looking) withAgent(files []serverFile, source string, names ...string) []serverFile {
	if l.agent == "" {
		return files
	}
	for _, name := range names {
		files = append(files, serverFile{place: ofUser(filepath.Join(l.agent, name)), source: source, own: true, entries: member("mcpServers")})
	}
	return files
}

func (l *looking) serverFiles() []serverFile {
	if l.program == session.Pi {
		return l.piServerFiles()
	}
	return l.ompServerFiles()
}

// ompNames are the files with instructions, in the order of preference within one directory.
var ompNames = []string{
	".omp/AGENTS.md", ".claude/CLAUDE.md", ".github/copilot-instructions.md", ".agents/AGENTS.md", "AGENTS.md", "CLAUDE.md",
}

func (l *looking) ompSkillDirs() (dirs []skillDir) {
	id := l.program.String()
	for _, dir := range l.up {
		dirs = append(dirs, skillDir{place: ofProject(dir, l.dot()+"/skills"), source: id, described: true})
	}
	if l.agent != "" {
		dirs = append(dirs, skillDir{place: ofUser(filepath.Join(l.agent, "skills")), source: id, described: true})
	}
	for _, f := range foreignSkills {
		up := l.up[:1]
		if f.upward {
			up = l.repository()
		}
		for _, dir := range up {
			if l.foreign(f.source, Project) {
				dirs = append(dirs, skillDir{place: ofProject(dir, f.dir), source: f.source, described: f.described})
			}
		}
		if f.user && l.Home != "" && l.foreign(f.source, User) {
			dirs = append(dirs, skillDir{place: ofUser(filepath.Join(l.Home, filepath.FromSlash(f.dir))), source: f.source, described: f.described})
		}
	}
	return dirs
}

func (l *looking) ompTemplateDirs() (dirs []templateDir) {
	id := l.program.String()
	for _, sub := range []string{"commands", "prompts"} {
		dirs = append(dirs, templateDir{place: ofProject(l.cwd, l.dot()+"/"+sub), source: id})
		if l.agent != "" {
			dirs = append(dirs, templateDir{place: ofUser(filepath.Join(l.agent, sub)), source: id})
		}
	}
	for _, f := range foreignTemplates {
		if l.foreign(f.source, Project) {
			dirs = append(dirs, templateDir{place: ofProject(l.cwd, f.dir), source: f.source, deep: f.deep, named: f.named})
		}
		if l.Home != "" && l.foreign(f.source, User) {
			dirs = append(dirs, templateDir{place: ofUser(filepath.Join(l.Home, filepath.FromSlash(f.dir))), source: f.source, deep: f.deep, named: f.named})
		}
	}
	return dirs
}
