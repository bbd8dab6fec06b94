package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/xcsh-ls/xcsh-ls"

// ban keeps the packages in from importing the packages in what. Paths are
// relative to the module unless they start with a host name, and reach everything
// below them.
type ban struct {
	in     []string
	except []string // of in
	what   []string
	but    []string // of what
	why    string
}

// bans are the arrows of ARCHITECTURE.md, from the outside in. depguard shows the
// same ones while typing (.golangci.yml); these say why and hold without a linter.
var bans = []ban{
	{
		in: []string{""}, except: []string{"lsp"},
		what: []string{"go.lsp.dev"},
		why:  "the protocol library is young and is to be replaceable inside lsp/",
	},
	{
		in: []string{"session"}, what: []string{"agent", "commands", "acp", "lsp", "cmd"},
		why: "session knows bytes: a file is read without an agent, a verb or an editor",
	},
	{
		in:   []string{"session/fault", "session/rawjson"},
		what: []string{""}, but: []string{"session/fault", "session/rawjson"},
		why: "every layer uses these two, so they can use no layer",
	},
	{
		in: []string{"agent"}, what: []string{"commands", "acp", "lsp", "cmd"},
		why: "an agent does not know who calls it; it reaches files through agent.Workspace",
	},
	{
		in: []string{"agent/history"}, what: []string{"agent", "session"}, but: []string{"agent/history", "session/fault", "session/sessiontest"},
		why: "the history holds what was said and knows no session",
	},
	{
		in: []string{"commands"}, except: []string{"commands/gen"},
		what: []string{"acp", "lsp", "cmd"},
		why:  "a command reaches the person through commands.UI and works headless",
	},
	{
		in: []string{"lsp"}, what: []string{"acp", "cmd"},
		why: "main wires, nothing depends on the wiring; what the two protocols share is in commands",
	},
	{
		in: []string{"acp"}, what: []string{"lsp", "cmd"},
		why: "main wires, nothing depends on the wiring; what the two protocols share is in commands",
	},
}

// testOnly are packages that exist for tests. They may not reach the binary.
var testOnly = []string{
	"session/sessiontest", "lsp/lsptest", "agent/provider/providertest",
	"github.com/stretchr/testify", "github.com/rogpeppe/go-internal",
}

// listed is the part of "go list -json" that matters here.
type listed struct {
	ImportPath   string
	Standard     bool
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// within reports whether path is the package root or one below it.
func within(path, root string) bool {
	if host, _, _ := strings.Cut(root, "/"); !strings.Contains(host, ".") {
		root = strings.TrimSuffix(module+"/"+root, "/")
	}
	return path == root || strings.HasPrefix(path, root+"/")
}

func withinAny(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return within(path, root) })
}

func TestNoArrowGoesUp(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "./...") {
		imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		for _, b := range bans {
			if !withinAny(p.ImportPath, b.in) || withinAny(p.ImportPath, b.except) {
				continue
			}
			for _, path := range imports {
				if path == p.ImportPath { // an external test of the package itself
					continue
				}
				bad := withinAny(path, b.what) && !withinAny(path, b.but)
				assert.False(t, bad, "%s imports %s: %s", p.ImportPath, path, b.why)
			}
		}
	}
}

func TestHooksNeedOnlyTheStandardLibrary(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "-deps", "./...") {
		if !within(p.ImportPath, "agent/hook") && !within(p.ImportPath, "agent/procgroup") {
			continue
		}
		for _, path := range p.Imports {
			if within(path, "agent/hook") || within(path, "agent/procgroup") { // which needs no more
				continue
			}
			host, _, _ := strings.Cut(path, "/")
			assert.NotContains(t, host, ".",
				"%s imports %s: hooks take inputs and return decisions, whoever runs them", p.ImportPath, path)
		}
	}
}

func TestBinaryHasNoTestCode(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "-deps", "./cmd/xcsh-ls") {
		assert.False(t, withinAny(p.ImportPath, testOnly), "the binary contains %s", p.ImportPath)
	}
}

// An "@latest" of the protocol module, or an older zap, moves it back to v0.12.0
// without a word; see docs/adr/0001.
func TestProtocolLibrariesArePinned(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"go.lsp.dev/protocol", "go.lsp.dev/jsonrpc2", "go.lsp.dev/uri"} {
		got := string(bytes.TrimSpace(goTool(t, "list", "-m", "-f", "{{.Version}}", path)))
		assert.Equal(t, "v1.0.1", got, "%s was silently downgraded; put it back with: go get %s@v1.0.1", path, path)
	}
}

// goList describes packages of the module.
func goList(t *testing.T, args ...string) []listed {
	t.Helper()
	out := goTool(t, append([]string{"list", "-json=ImportPath,Standard,Imports,TestImports,XTestImports"}, args...)...)
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		if !p.Standard {
			all = append(all, p)
		}
	}
}

// goTool runs the go command in the module's root.
func goTool(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = "../.."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	return out
}
