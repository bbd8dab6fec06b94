package approval

import (
	"slices"
	"strings"
)

// Rule allows something without a question. The zero value allows nothing.
type Rule struct {
	// Edit allows changing files of the workspace.
	Edit bool `json:"edit,omitzero"`

	// Words are the first words of a command: "go test" allows go test ./... too.
	Words []string `json:"words,omitempty"`

	// Exact wants the command to have no further words.
	Exact bool `json:"exact,omitzero"`

	// Line is a whole command line, for those that cannot be taken apart.
	Line string `json:"line,omitempty"`

	// Tool allows a tool that is not one of ours, whatever its arguments.
	Tool string `json:"tool,omitempty"`
}

// String is the rule for people.
func (r Rule) String() string {
	switch {
	case r.Edit:
		return "changes of files in this folder"
	case r.Line != "":
		return r.Line
	case r.Tool != "":
		return "every use of " + r.Tool
	case r.Exact:
		return strings.Join(r.Words, " ")
	default:
		return strings.Join(r.Words, " ") + " …"
	}
}

func (r Rule) equal(o Rule) bool {
	return r.Edit == o.Edit && r.Exact == o.Exact && r.Line == o.Line && r.Tool == o.Tool && slices.Equal(r.Words, o.Words)
}

// allows reports whether the rule covers one program of a command line.
func (r Rule) allows(c call) bool {
	switch {
	case len(r.Words) == 0 || len(c.words) < len(r.Words):
		return false
	case r.Exact:
		return c.plain && slices.Equal(r.Words, c.words)
	default:
		return slices.Equal(r.Words, c.words[:len(r.Words)]) && !c.risky()
	}
}

// subcommands are programs that do very different things by their first word, which
// therefore belongs to a rule.
var subcommands = map[string]bool{
	"git": true, "go": true, "cargo": true, "npm": true, "pnpm": true, "yarn": true, "bun": true, "deno": true, "pip": true, "uv": true,
	"poetry": true, "dotnet": true, "mix": true, "bundle": true, "composer": true, "rustup": true, "just": true, "make": true, "gradle": true,
	"mvn": true,
}

// running are subcommands whose next word is what is really run, or that set what others
// run. A rule about two words would be about far too much.
var running = map[string]bool{
	"git config": true, "git bisect": true, "git submodule": true, "git filter-branch": true, "git difftool": true, "git mergetool": true,
	"git clone": true, "git init": true, "git archive": true, "git format-patch": true, "git hook": true,
	"go tool": true, "go run": true, "go generate": true, "npm run": true, "npm exec": true, "pnpm run": true, "pnpm exec": true,
	"pnpm dlx": true, "yarn run": true, "yarn exec": true, "yarn dlx": true, "bun run": true, "bun x": true, "deno run": true,
	"deno eval": true, "deno task": true, "uv run": true, "uv tool": true, "poetry run": true, "bundle exec": true, "composer exec": true,
	"rustup run": true, "dotnet run": true, "dotnet exec": true, "mix run": true, "npm config": true, "npm set": true,
}

// readers only show things, so that a rule may be about all of their uses. Where one has
// an argument that does more it is among [risks]. rg is none: it runs programs for what it
// reads, and finds more of them in its settings.
var readers = map[string]bool{
	"ls": true, "cat": true, "head": true, "tail": true, "wc": true, "grep": true, "pwd": true, "stat": true, "file": true,
	"du": true, "df": true, "diff": true, "cmp": true, "which": true, "basename": true, "dirname": true, "realpath": true, "readlink": true,
	"date": true, "uname": true, "whoami": true, "id": true, "sha256sum": true, "md5sum": true, "cut": true, "tr": true, "nl": true,
}

// ruleFor is the rule that a person would want for one program: about all its uses where
// they are alike, else about this very command.
func ruleFor(c call) (Rule, bool) {
	two := len(c.words) > 1 && subcommands[c.words[0]] && !isFlag(c.words[1]) && !running[strings.Join(c.words[:2], " ")]
	switch {
	case readers[c.words[0]]:
		return Rule{Words: slices.Clone(c.words[:1])}, true
	case two:
		return Rule{Words: slices.Clone(c.words[:2])}, true
	case c.plain:
		return Rule{Words: slices.Clone(c.words), Exact: true}, true
	default:
		return Rule{}, false
	}
}

func isFlag(word string) bool { return strings.HasPrefix(word, "-") }
