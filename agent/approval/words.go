package approval

import "strings"

// Allows describes exactly the rules that [Session] and [Workspace] would add, for users; "" if
// there are none.
func (p Prompt) Allows() string { return allowing(p.Rules) }

// AllowsWider is [Prompt.Allows] for [SessionWider] and [WorkspaceWider].
func (p Prompt) AllowsWider() string { return allowing(p.Wider) }

func allowing(rules []Rule) string {
	texts := make([]string, len(rules))
	for i, r := range rules {
		texts[i] = r.String()
	}
	return strings.Join(texts, "; ")
}

// Warnings describes the unusual aspects of a request for users, one per line.
func (p Prompt) Warnings() (lines []string) {
	switch {
	case p.Hosted != "" && p.Effect == Runs:
		lines = append(lines, p.Hosted+" runs this itself, outside the sandbox.")
	case p.Hosted != "" && p.Effect == Changes && len(p.Preview.Paths) == 0:
		lines = append(lines, "The files that "+p.Hosted+" will change are not known.")
	case p.Hosted != "" && p.Effect == Reads:
		lines = append(lines, "Reads a file that may hold secrets.")
	case p.Unsandboxed:
		text := "Runs outside the sandbox."
		if len(p.Blocked) > 0 {
			text += " The sandbox blocked: " + strings.Join(p.Blocked, " | ")
		}
		lines = append(lines, text)
	case len(p.Blocked) > 0:
		lines = append(lines, "Runs again with write and network access. The sandbox blocked: "+strings.Join(p.Blocked, " | "))
	}
	protects := "Changes a protected file: "
	switch {
	case p.Changed:
		protects = "Changed a protected file: "
	case !p.edits() && p.Effect != Changes:
		protects = "Names a protected file: "
	}
	for _, path := range p.Protected {
		lines = append(lines, protects+path)
	}
	for _, path := range p.Outside {
		lines = append(lines, "Outside the folder: "+path)
	}
	return lines
}
