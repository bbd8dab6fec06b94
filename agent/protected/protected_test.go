package protected_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/protected"
)

func lines(t *testing.T, file string) (all []string) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// Each line of the data protects its name, below other directories and in capitals, too.
func TestEveryName(t *testing.T) {
	t.Parallel()
	all := lines(t, "names.txt")
	require.Greater(t, len(all), 150)
	for _, pattern := range all {
		name := strings.ReplaceAll(pattern, "*", "x")
		for _, path := range []string{name, "a/b/" + name, name + "/below", strings.ToUpper(name), name + ". ."} {
			require.True(t, protected.Path(path), "%q of %q", path, pattern)
		}
	}
}

func TestOtherSpellings(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		".vscode/settings.json", ".VSCode/settings.json", "a/.vscode", "./.vscode/x", `sub\.vscode\settings.json`, "my.code-workspace",
		".vs\u200ccode/settings.json", "\ufeff.envrc", ".vſcode/x", ".gi\u206et/config", ".\u212Aube/config", ".vscode./x", ".vscode /x", ".vscode::$INDEX_ALLOCATION/x",
		"VSCODE~1/settings.json", "GIT~1/config", "GI7EBA~1/config", "ENVRC~1", "MCP~1.JSO", ".git", ".git/hooks/pre-commit", "x/.github/workflows/ci.yml",
		"gradle/wrapper/gradle-wrapper.jar", "sub/gradle/wrapper/x", "GRADLEW.BAT", ".cargo/config.toml", ".env.local", "prod.env", "docs/claude.md",
		".yarn/releases/yarn-4.cjs", "azure-pipelines.yml", "azure-pipelines-nightly.yaml", ".gitlab-ci.yml",
	} {
		require.True(t, protected.Path(path), "%q", path)
	}
}

// Ordinary sources are not protected: a prompt for each would teach users to approve blindly.
func TestOrdinaryFiles(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"", ".", "main.go", "package.json", "Makefile", "Dockerfile", "docker-compose.yml", "README.md", "docs/agents/index.md", "src/git/x.go", "vscode/settings.json",
		"github/client.go", ".gitignore", ".editorconfig", ".eslintrc.json", "tsconfig.json", "conftest.py", "setup.py", "pyproject.toml", "Cargo.toml", "go.mod",
		"gradle/libs.versions.toml", "build.gradle", "pom.xml", ".prettierrc", "environment.ts", "env.go", ".yarn/cache/x.zip", "rules.go", "profile.md", "login.tsx",
		"backup~1x.txt", "notes~", "file~12345678", "a/b/c/claude.go", ".golangci.yml", ".dockerignore", ".config/app.toml", "wrapper/gradle", "mcp.go", "agents.go",
	} {
		require.False(t, protected.Path(path), "%q", path)
	}
}

func FuzzPath(f *testing.F) {
	f.Add(".vscode/settings.json")
	f.Add("a\\b:c~1.")
	f.Fuzz(func(t *testing.T, path string) {
		if protected.Path(path) {
			require.True(t, protected.Path("x/"+path))
			require.True(t, protected.Path(path+"/x"))
		}
		require.True(t, protected.Path(path+"/.git/x"))
	})
}
