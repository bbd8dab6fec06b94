package pi

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// maxSettings is how much of a settings file is searched.
const maxSettings = 1 << 20

// workspaceCode lists the files and directories of a workspace from which omp and xcsh run code without being asked: those of
// the program's own directory, and those of other agents that it reads, too.
func workspaceCode(own string) (list []string) {
	for _, name := range []string{"extensions", "hooks", "tools", "commands", "plugins", "mcp.json", ".mcp.json", "settings.json", "config.yml"} {
		list = append(list, own+"/"+name)
	}
	for _, other := range []string{".claude", ".codex", ".gemini", ".opencode", ".pi"} {
		list = append(list, other+"/extensions", other+"/hooks", other+"/tools", other+"/settings.json")
	}
	return append(list, ".claude/mcp.json", ".claude/.mcp.json", ".codex/config.toml", ".cursor/mcp.json", ".vscode/mcp.json", ".windsurf/mcp_config.json",
		"mcp.json", ".mcp.json", "opencode.json")
}

// foreignCode fails if the program would run code of the workspace, which the user has not permitted. Neither omp nor xcsh has
// an option against all of it.
func (e *Engine) foreignCode() error {
	if e.at.Trusted {
		return nil
	}
	for _, name := range e.d.code {
		if e.runsCode(filepath.Join(e.at.Cwd, filepath.FromSlash(name))) {
			return fault.New(fault.Provider, `%s was not started, because it would run code of this workspace (%s). Set "engineExtensions" if you trust it.`,
				e.program.Name, name).With("class", "engine").With("reason", "workspace")
		}
	}
	return nil
}

// runsCode reports whether something at a path is run. Files with other settings count only if they name such a thing.
func (e *Engine) runsCode(path string) bool {
	info, err := e.fs.Stat(path)
	switch {
	case err != nil:
		return false
	case info.IsDir() || strings.HasSuffix(path, "mcp.json"):
		return true
	}
	content, err := intake.ReadAll(e.fs, path, maxSettings)
	if err != nil {
		return true // it may say anything
	}
	for _, word := range []string{"mcp", "extensions", "hooks", "plugins"} {
		if bytes.Contains(content, []byte(word)) {
			return true
		}
	}
	return false
}
