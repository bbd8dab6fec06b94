package setup

import (
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Source is the origin of a [Command].
type Source string

// The sources.
const (
	FromTemplate Source = "template"
	FromSkill    Source = "skill"
	FromServer   Source = "mcp" // a prompt of an MCP server
)

// Command is a name that a prompt can begin with, as in "/name arguments".
type Command struct {
	Name        string `json:"name" jsonschema:"Without the slash."`
	Description string `json:"description"`
	Hint        string `json:"hint,omitempty" jsonschema:"The arguments, for display."`
	Source      Source `json:"source" jsonschema:"template, skill or mcp"`
	Path        string `json:"path,omitempty" jsonschema:"The file that it is made of."`
	Scope       Scope  `json:"scope" jsonschema:"user or project"`
}

// skillPrefix precedes the name of a skill in a prompt.
const skillPrefix = "skill:"

// skillHint describes the arguments of every skill.
const skillHint = "arguments"

// Commands returns the templates, and then the skills, also those that are hidden from models.
func (r *Resolved) Commands() []Command {
	all := []Command{}
	for _, t := range r.Templates {
		all = append(all, Command{t.Name, t.Description, t.Hint, FromTemplate, t.Path, t.Scope})
	}
	for _, s := range r.Skills {
		all = append(all, Command{skillPrefix + s.Name, s.Description, skillHint, FromSkill, s.Path, s.Scope})
	}
	return all
}

// Expand returns the text for a prompt "/name args". ok is false if the set-up gives the name no meaning: then
// the text goes to the model as it is. The error is of kind notFound for an unknown skill, and denied for an extension,
// which only the program itself can run.
func (r *Resolved) Expand(name, args string) (made Invocation, ok bool, err error) {
	if slices.ContainsFunc(r.Extensions, func(e Extension) bool { return e.Name == name }) {
		return Invocation{}, true, fault.New(fault.Denied, "/%s is an extension of %s and runs there only.", name, r.programName())
	}
	if _, found := r.Template(name); found {
		made, err = r.InvokeTemplate(name, args)
		return made, true, err
	}
	if skill, is := strings.CutPrefix(name, skillPrefix); is {
		made, err = r.InvokeSkill(skill, args)
		return made, true, err
	}
	return Invocation{}, false, nil
}
