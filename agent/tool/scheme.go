package tool

import (
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// address matches the address of a resource that is not a file: "mcp://server/resource". The "@"
// before it is the one that users type before the name of a file.
var address = regexp.MustCompile(`^@?([A-Za-z][A-Za-z0-9+.-]*)://`)

// Scheme returns the scheme of an address in lower case, and "" for the path of a file.
func Scheme(path string) string {
	m := address.FindStringSubmatch(strings.TrimSpace(path))
	if m == nil || len(m[1]) == 1 && filepath.Separator == '\\' { // a drive
		return ""
	}
	return strings.ToLower(m[1])
}

// The schemes of files kept beside a session, and of its skills and rules; see [Env.Resource].
const (
	LocalScheme    = "local"
	ArtifactScheme = "artifact"
	SkillScheme    = "skill"
	RuleScheme     = "rule"
	AgentScheme    = "agent" // the output of a subagent
)

// knownSchemes are the schemes of addresses that have a meaning in one of the programs.
var knownSchemes = []string{
	LocalScheme, ArtifactScheme, "agent", "file", "history", "http", "https", "mcp", "memory", "rule", "skill", "xd",
}

// onlyFiles fails for an address, which the named tool does not take.
func onlyFiles(tool, path string) error {
	if Scheme(path) == "" {
		return nil
	}
	return Unavailable(tool, path)
}

// filesOrResources fails for an address that cannot be one of [Env.Resource].
func filesOrResources(tool, path string) error {
	reads := tool == "read" || tool == "grep"
	switch Scheme(path) {
	case LocalScheme:
		return nil
	case ArtifactScheme, AgentScheme, SkillScheme, RuleScheme:
		if reads {
			return nil
		}
	}
	return onlyFiles(tool, path)
}

// Unavailable is the error for an address without a resource here.
//
// Differs: the programs have tools and resources for many addresses, and pi makes a file of that
// name.
func Unavailable(tool, path string) error {
	path = fault.OneLine(strings.TrimSpace(path))
	why := "It is not a file, and no tool or resource for it is available here"
	switch Scheme(path) {
	case "file":
		if u, err := url.Parse(strings.TrimPrefix(path, "@")); err == nil && u.Path != "" && (u.Host == "" || u.Host == "localhost") {
			why = "Use the plain path " + filepath.FromSlash(u.Path) + " instead of a URL"
		} else {
			why = "Use a plain path instead of a URL"
		}
	case "http", "https":
		why = "It is a web address, and " + tool + " takes none"
		if tool == "read" {
			why = "It is a web address, and no tool for web addresses is available here"
		}
	}
	if s := Scheme(path); !slices.Contains(knownSchemes, s) {
		return fault.New(fault.InvalidArgument, "xcsh-ls does not know %q paths. Nothing was read or changed.", s+"://").With("field", "path")
	}
	return fault.New(fault.InvalidArgument, "%s cannot use %s. %s. Nothing was read or changed.", tool, path, why).With("field", "path")
}

// place returns the absolute path of the file that a model means. An address is resolved by the
// session; write means that the file would be changed.
func (o Options) place(env Env, tool, path string, write bool) (string, error) {
	if Scheme(path) == "" {
		return o.path(env, path), nil
	}
	if env.Resource == nil {
		return "", Unavailable(tool, path)
	}
	return env.Resource(tool, strings.TrimPrefix(strings.TrimSpace(path), "@"), write)
}

// path returns the absolute path that a model means, and reports it as touched.
func (o Options) path(env Env, path string) string {
	full := AbsolutePath(o.Fs, o.Home, env.Cwd, path)
	if env.Touched != nil {
		env.Touched(full)
	}
	return full
}
