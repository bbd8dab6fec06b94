package approval

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Rule allows something without approval. The zero value allows nothing, and so does a rule of an
// older version that has Words without Exact: it covered all commands that begin with them.
type Rule struct {
	// Edit allows changing files of the workspace, but for those that are protected.
	Edit bool `json:"edit,omitzero"`

	// Command names an entry of the table of programs. It allows the calls that the entry
	// describes, such as "cat" with files inside the folder.
	Command []string `json:"command,omitempty"`

	// Words are a whole command.
	Words []string `json:"words,omitempty"`

	// Exact belongs to Words.
	Exact bool `json:"exact,omitzero"`

	// Line is a whole command line, for those that cannot be parsed.
	Line string `json:"line,omitempty"`

	// Outside allows the line to run outside of the sandbox, and nothing else.
	Outside bool `json:"outside,omitzero"`

	// Background allows the line to run in the background, and nothing else.
	Background bool `json:"background,omitzero"`

	// Tool allows a tool that is not one of our tools, with any arguments.
	Tool string `json:"tool,omitempty"`

	// Digest belongs to Tool: the digest of the user's executable that it runs.
	Digest string `json:"digest,omitempty"`

	// Engine belongs to Tool: the name of the hosted engine whose tool it is, "" for a tool of our own loop.
	Engine string `json:"engine,omitempty"`

	// Site allows reading from this web site, with any address.
	Site string `json:"site,omitempty"`

	// Private belongs to Site: also if it is in a private network, or on this machine.
	Private bool `json:"private,omitzero"`

	// Server is the name of an MCP server. Tool is then the server's name of one of its tools, and Digest that of its program
	// or address.
	Server string `json:"server,omitempty"`

	// Reads belongs to Server: the rule is about all its tools of which the server says that they only read.
	Reads bool `json:"reads,omitzero"`

	// Text describes the rule for users. It is not stored.
	Text string `json:"text,omitempty" jsonschema:"The calls that the rule allows, described for users."`
}

// String describes exactly what the rule allows.
func (r Rule) String() string {
	switch {
	case r.Site != "" && r.Private:
		return "reading from " + r.Site + ", also in a private network"
	case r.Site != "":
		return "reading from " + r.Site
	case r.Edit:
		return "edits to files in this folder, except protected files"
	case r.Outside && r.Background:
		return r.Line + " (exactly, in the background, outside the sandbox)"
	case r.Outside:
		return r.Line + " (exactly, outside the sandbox)"
	case r.Background:
		return r.Line + " (exactly, in the background)"
	case r.Line != "":
		return r.Line + " (exactly)"
	case r.Reads:
		return "all tools of the MCP server " + r.Server + " that say they only read"
	case r.Server != "":
		return "all calls of the tool " + r.Tool + " of the MCP server " + r.Server
	case r.Digest != "":
		return "every call of " + r.Tool + ", until its executable changes"
	case r.Engine != "":
		return "every call of " + r.Tool + " by " + r.Engine + ", outside the sandbox"
	case r.Tool != "":
		return "every call of " + r.Tool
	case len(r.Command) > 0:
		if e := named(r.Command); e != nil {
			return e.String()
		}
	case r.Exact:
		return quoted(r.Words) + " (exactly)"
	}
	return "nothing"
}

var bare = regexp.MustCompile(`^[\w@%+=:,./^-]+$`)

// quoted writes words as the shell reads them.
func quoted(words []string) string {
	all := make([]string, len(words))
	for i, w := range words {
		if all[i] = w; bare.MatchString(w) {
			continue
		}
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil { // a zero byte, which no word of a command has
			q = "?"
		}
		all[i] = q
	}
	return strings.Join(all, " ")
}

// nouns are the names of operands.
var nouns = map[string]string{
	"text": "TEXT", "value": "TEXT", "path": "FILES", "ref": "REVISIONS and FILES", "package": "PACKAGES", "test": "TESTS", "match": "TEXT",
}

// String describes the entry.
func (e *entry) String() string {
	parts := slices.Clone(e.words)
	inside := false
	for i, o := range e.operands {
		noun := nouns[o.kind]
		if o.kind == "path" && !o.many {
			noun = "FILE"
		}
		if i == 0 || nouns[e.operands[i-1].kind] != nouns[o.kind] {
			parts = append(parts, noun)
		}
		inside = inside || o.kind != "text" && o.kind != "value" && o.kind != "match"
	}
	text := strings.Join(parts, " ")
	if inside {
		text += " inside this folder"
	}
	switch {
	case e.kind != run:
		return text + " (reading only)"
	case len(e.flags) == 0:
		return text
	default:
		return text + ", with " + strings.Join(slices.Sorted(maps.Keys(e.flags)), " ") + " only"
	}
}

// named returns the entry with exactly these words.
func named(words []string) *entry {
	if e := known().find(words); e != nil && slices.Equal(e.words, words) {
		return e
	}
	return nil
}

func (r Rule) equal(o Rule) bool {
	return r.Edit == o.Edit && r.Exact == o.Exact && r.Line == o.Line && r.Tool == o.Tool && r.Digest == o.Digest && r.Engine == o.Engine && r.Outside == o.Outside && r.Background == o.Background &&
		r.Site == o.Site && r.Private == o.Private && r.Server == o.Server && r.Reads == o.Reads &&
		slices.Equal(r.Words, o.Words) && slices.Equal(r.Command, o.Command)
}

// valid reports whether exactly one part of a rule is set. A rule that was written by hand with
// several is invalid.
func (r Rule) valid() bool {
	parts := 0
	for _, has := range []bool{r.Edit, len(r.Command) > 0, len(r.Words) > 0 && r.Exact, r.Line != "", r.Tool != "", r.Reads, r.Site != ""} {
		if has {
			parts++
		}
	}
	if r.Server != "" && (r.Digest == "" || r.Engine != "") || r.Reads && r.Server == "" {
		return false
	}
	return parts == 1 && (!r.Outside && !r.Background || r.Line != "") && (!r.Exact || len(r.Words) > 0) && (r.Digest == "" || r.Tool != "" || r.Server != "") &&
		(r.Engine == "" || r.Tool != "" && r.Digest == "") && (!r.Private || r.Site != "")
}

// allows reports whether the rule covers one program of a command line.
func (r Rule) allows(c call, at scene) bool {
	switch {
	case len(r.Command) > 0:
		e := steady(c, at)
		return e != nil && slices.Equal(e.words, r.Command)
	case r.Exact:
		words, ok := exactWords(c, at)
		return ok && slices.Equal(words, r.Words)
	default:
		return false
	}
}

// steady is [like] for a rule: the effect of the program must not depend on the target of a cd.
func steady(c call, at scene) *entry {
	e := like(c, at)
	if e == nil || len(at.dirs) > 1 && known().here[e.words[0]] {
		return nil
	}
	return e
}

// exactWords returns the words of a call for which a rule can be made. The words do not determine
// the effect of a program that gets input, or runs in another directory.
func exactWords(c call, at scene) ([]string, bool) {
	words, ok := c.plain()
	if !ok || c.fed || len(at.dirs) > 1 || known().lines[words[0]] || known().wraps[words[0]] != nil {
		return nil, false
	}
	return words, true
}
