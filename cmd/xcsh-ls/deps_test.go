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

// ban forbids the packages in to import the packages what. Paths are relative to the module unless they
// start with a host name, and include everything below them.
type ban struct {
	in     []string
	except []string // excluded from in
	what   []string
	but    []string // excluded from what
	why    string

	notTests bool // test files are exempt, because the shared test helpers use every package
}

// sessionRooms are the packages around session, from the bottom up.
var sessionRooms = []string{"session/lock", "session/artifact", "session/library", "session/upkeep", "session/importer"}

// bans are the arrows of ARCHITECTURE.md, from the outside in. depguard reports the same ones in the
// editor (.golangci.yml); these give the reasons and apply without a linter.
var bans = []ban{
	{
		in: []string{""}, except: []string{"lsp", "internal/lsptest"},
		what: []string{"go.lsp.dev"},
		why:  "the protocol library is young and is to be replaceable inside lsp/",
	},
	{
		in: []string{""}, except: []string{"agent/mcp"},
		what: []string{"github.com/modelcontextprotocol/go-sdk"},
		why:  "the SDK is replaceable inside agent/mcp",
	},
	{
		in: []string{"agent/mcp"}, what: []string{"agent", "session"},
		but: []string{
			"agent/engine/child", "agent/environ", "agent/imaging", "agent/mcp", "agent/provider", "agent/tool", "session", "session/redact",
		},
		why: "servers are called by an agent, and know neither the live session nor its rules",
	},
	{
		in: []string{"agent/web"}, what: []string{""}, but: []string{"agent/web", "internal/fault"},
		why: "a page is read without a session, a tool or the rules of permissions",
	},
	{
		in: []string{"agent/provider/agentdb", "agent/provider/keyvalue"}, what: []string{"agent", "session"},
		but: []string{"agent/provider/agentdb", "agent/provider/keyvalue", "session/intake"},
		why: "credentials are read without models, and without the program that keeps them",
	},
	{
		in: []string{"session"}, what: []string{"agent", "commands", "acp", "lsp", "cmd"},
		why: "session knows bytes: a file is read without an agent, a verb or an editor",
	},
	{
		in: []string{"session"}, except: append([]string{"session/export", "session/outline"}, sessionRooms...),
		what: sessionRooms, but: []string{"session/lock"}, notTests: true,
		why: "a session file is opened, written and forked without knowing where others are; the packages around it import it",
	},
	{
		in: []string{"session/lock"}, what: []string{"session", "internal"}, but: []string{"session/lock", "session/internal/disk", "internal/durable", "internal/fault", "internal/sessiontest"},
		why: "a lock knows a path and a process, not the format of the file that it protects",
	},
	{
		in: []string{"session/internal/disk"}, what: []string{""}, but: []string{"session/internal/disk", "internal/durable", "internal/fault", "internal/filestat", "internal/sessiontest"},
		why: "every session package writes files through it, so it can use none of them",
	},
	{
		in: []string{"session/artifact"}, what: []string{"session/library", "session/upkeep", "session/importer"},
		why: "the artifacts of a session are found by its path alone",
	},
	{
		in: []string{"session/library"}, what: []string{"session/upkeep", "session/importer"}, notTests: true,
		why: "finding sessions changes none of them",
	},
	{
		in: []string{"session/upkeep"}, what: []string{"session/importer"},
		why: "moving and removing sessions does not depend on where they came from",
	},
	{
		in: []string{"session"}, except: []string{"session/agentbase", "session/importer"},
		what: []string{"session/agentbase"},
		why:  "only an import reads the files of agent-base; an export of one is a command's",
	},
	{
		in:   []string{"internal/fault", "internal/rawjson", "session/visible"},
		what: []string{""}, but: []string{"internal/fault", "internal/rawjson", "session/visible"},
		why: "every layer uses these three, so they can use no layer",
	},
	{
		in: []string{"agent"}, what: []string{"commands", "acp", "lsp", "cmd"}, but: []string{"acp/wire"},
		why: "an agent does not know who calls it; it reaches files through agent.Workspace",
	},
	{
		in: []string{"history"}, what: []string{"agent", "session", "share", "commands", "acp", "lsp", "cmd"},
		why: "the history holds prompts and knows no session",
	},
	{
		in: []string{"session", "agent", "commands", "lsp", "acp"}, what: []string{"team"},
		why: "a session is opened, written and shown without a store; who wires the program decides whether there is one",
	},
	{
		in: []string{"team"}, what: []string{"agent", "commands", "acp", "lsp", "cmd"},
		why: "team replicates files, and knows neither a live session nor an editor",
	},
	{
		in: []string{""}, except: []string{"team/pg"},
		what: []string{"github.com/jackc/pgx"},
		why:  "a store is replaceable behind team.Store, and only this one speaks to PostgreSQL",
	},
	{
		in: []string{"team"}, except: []string{"team/pg"}, what: []string{"team/pg"}, notTests: true,
		why: "team replicates over any store",
	},
	{
		in: []string{"share"}, what: []string{"agent", "history", "commands", "acp", "lsp", "cmd"},
		why: "sharing takes a page and knows no live session",
	},
	{
		in: []string{"internal/procgroup"}, what: []string{""}, but: []string{"internal/procgroup"},
		why: "the standard library ends processes; every layer may start some",
	},
	{
		in:   []string{"agent/engine/child"},
		what: []string{""}, but: []string{"agent/engine/child", "internal/fault", "internal/leaktest", "internal/procgroup", "session/redact", "session/visible"},
		why: "a child passes lines and knows no protocol, engine or session",
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
		in:   []string{"lsp/conn"},
		what: []string{""}, but: []string{"internal/fault", "internal/rawjson", "session/visible", "lsp/conn"},
		why: "the connection carries messages and knows neither sessions nor commands",
	},
	{
		in:   []string{"lsp/textdoc"},
		what: []string{""}, but: []string{"lsp/textdoc"},
		why: "positions and URIs depend on the protocol only",
	},
	{
		in:   []string{"lsp/sessiondoc"},
		what: []string{"lsp", "agent", "commands"}, but: []string{"lsp/conn", "lsp/sessiondoc", "lsp/textdoc"},
		why: "session documents are made from text, without a live session or a command; lsp is their host",
	},
	{
		in: []string{"acp"}, what: []string{"lsp", "cmd"},
		why: "main wires, nothing depends on the wiring; what the two protocols share is in commands",
	},
	{
		in: []string{"acp/wire"}, what: []string{""}, but: []string{"acp/wire", "session/visible"},
		why: "both sides of the protocol use it: a front end above commands, and an engine below agent",
	},
	{
		in: []string{"agent"}, except: []string{"agent/engine/acp"}, what: []string{"acp/wire"},
		why: "an agent knows engines, not the protocols that they speak",
	},
	{
		in: []string{"agent/engine/acp"}, what: []string{"agent", "session"},
		but: []string{"agent/engine", "agent/event", "agent/loop", "agent/provider", "agent/sensitive", "agent/tool", "session/visible"},
		why: "an engine knows its host, and neither the live session nor its file",
	},
}

// testOnly are packages for tests only. The binary must not depend on them.
var testOnly = []string{
	"attack", "agent/engine/enginetest", "internal/sessiontest", "internal/leaktest", "internal/racetest", "internal/lsptest", "internal/providertest",
	"team/teamtest", "team/pg/pgtest",
	"github.com/stretchr/testify", "github.com/rogpeppe/go-internal", "github.com/yuin/goldmark", "github.com/chromedp",
}

// listed holds the fields of "go list -json" that the tests use.
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
		for _, b := range bans {
			imports := p.Imports
			if !b.notTests {
				imports = slices.Concat(p.Imports, p.TestImports, p.XTestImports)
			}
			if !withinAny(p.ImportPath, b.in) || withinAny(p.ImportPath, b.except) {
				continue
			}
			for _, path := range imports {
				// An external test of the package itself; and a test of any package can say that its input is large.
				if path == p.ImportPath || path == module+"/internal/racetest" {
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
		if !withinAny(p.ImportPath, []string{"agent/environ", "agent/hook", "internal/procgroup"}) {
			continue
		}
		for _, path := range p.Imports {
			if withinAny(path, []string{"agent/environ", "agent/hook", "internal/procgroup"}) { // these need nothing else
				continue
			}
			if within(path, "golang.org/x/sys") { // job objects on Windows
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

// An "@latest" of the protocol module, or an older zap, silently moves it back to v0.12.0; see docs/adr/0001.
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
