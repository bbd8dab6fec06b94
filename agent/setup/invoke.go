package setup

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Invocation is the text of a message that a slash command stands for.
type Invocation struct {
	Name string // of the skill or template
	Path string
	Text string

	// Message is the type of the message that the programs but pi record for a skill, "" if the text is a
	// message of the user. Details are its details.
	Message string
	Details json.RawMessage
}

// InvokeSkill returns the message for "/skill:name args" in the form of the program: pi records it as the
// user's message, the others as a message of the type skill-prompt. The error, of kind notFound, lists the
// skills.
func (r *Resolved) InvokeSkill(name, args string) (Invocation, error) {
	s, ok := r.Skill(name)
	if !ok {
		return Invocation{}, r.noSkill(name)
	}
	args = strings.TrimSpace(args)
	if r.Program == session.Pi.String() {
		text := fmt.Sprintf("<skill name=\"%s\" location=\"%s\">\nReferences are relative to %s.\n\n%s\n</skill>", s.Name, s.Path, s.Dir(), s.Body)
		if args != "" {
			text += "\n\n" + args
		}
		return Invocation{Name: s.Name, Path: s.Path, Text: text}, nil
	}
	text := fmt.Sprintf("[IMPORTANT: User invoked the %q skill; follow its instructions. Full skill below.]\n\n%s\n\n---\n\n[Skill directory: %s]\n%s", s.Name, s.Body, s.Dir(), relativeToSkill)
	if args != "" {
		text += "\nUser: " + args
	}
	return Invocation{Name: s.Name, Path: s.Path, Text: text, Message: SkillPrompt, Details: r.details(s, args)}, nil
}

// SkillPrompt is the type of the message that xcsh and oh-my-pi record for an invoked skill.
const SkillPrompt = "skill-prompt"

// details returns the details that the program records with an invoked skill.
func (r *Resolved) details(s Skill, args string) json.RawMessage {
	o := new(rawjson.Object).String("name", s.Name).String("path", s.Path)
	if args != "" {
		o.String("args", args)
	}
	if r.Program == session.Omp.String() {
		o.String("prompt", strings.TrimSpace("/"+skillPrefix+s.Name+" "+args))
	}
	lines := 0
	if s.Body != "" {
		lines = strings.Count(s.Body, "\n") + 1
	}
	return o.Raw("lineCount", strconv.AppendInt(nil, int64(lines), 10)).Bytes()
}

// relativeToSkill is the sentence of oh-my-pi about the paths of a skill.
const relativeToSkill = "Resolve relative paths in this skill (e.g. `scripts/foo.js`, `templates/config.yaml`) against this absolute directory; " +
	"read referenced assets and templates; run scripts with the terminal tool when skill instructions call for it."

// programName returns the name of the program for users.
func (r *Resolved) programName() string {
	if r.Program == session.Omp.String() {
		return "oh-my-pi"
	}
	return r.Program
}

// InvokeTemplate returns the message for "/name args". args is the text after the name. The error is of kind
// notFound for an unknown name, and invalidArgument for a template that only oh-my-pi can compute.
func (r *Resolved) InvokeTemplate(name, args string) (Invocation, error) {
	t, ok := r.Template(name)
	if !ok {
		return Invocation{}, fault.New(fault.NotFound, "There is no template %q.", name)
	}
	if t.Computed {
		program := r.programName()
		return Invocation{}, fault.New(fault.InvalidArgument, "/%s is a template that %s computes ({{…}}). Run it in %s.", name, program, program)
	}
	text := substituteOmp(t.Body, args)
	if r.Program == session.Pi.String() {
		text = substitutePi(t.Body, args)
	}
	if len(text) > maxExpanded {
		return Invocation{}, fault.New(fault.InvalidArgument, "/%s becomes longer than %d bytes with these arguments.", name, maxExpanded)
	}
	return Invocation{Name: t.Name, Path: t.Path, Text: text}, nil
}
