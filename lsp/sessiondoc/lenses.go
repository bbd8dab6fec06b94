package sessiondoc

import (
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
	"github.com/xcsh-ls/xcsh-ls/session/outline"
)

// maxForkLenses is the largest number of fork lenses in an answer. The newest ones are kept.
const maxForkLenses = 2000

// Command is a command of executeCommandProvider in an answer.
type Command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments"`
}

type lens struct {
	Range   textdoc.Range `json:"range"`
	Command Command       `json:"command"`
}

// lensArgs are the arguments of the commands of lenses.
type lensArgs struct {
	Cwd     string `json:"cwd,omitempty"`
	Target  string `json:"target,omitempty"`
	Source  string `json:"source,omitempty"`
	EntryID string `json:"entryId,omitempty"`
	Open    bool   `json:"open,omitempty"`
}

// lenses returns lenses to resume, export and show the session at its header, and one to fork it
// after each prompt and each last answer of a turn.
func (d *Docs) lenses(v *view) any {
	lenses := []lens{}
	from, to := v.Doc.HeaderSpan()
	if from == to {
		return lenses
	}
	cwd := lensFolder(d.host.Files().Folders, v)
	add := func(offset int64, title, command string, args lensArgs) {
		args.Cwd = cwd
		begin := v.lines.Begin(offset)
		lenses = append(lenses, lens{textdoc.Range{Start: begin, End: begin}, Command{title, command, []any{args}}})
	}
	add(from, "Resume", "xcsh.resume", lensArgs{Target: v.path})
	add(from, "Export", "xcsh.export", lensArgs{Source: v.path, Open: true})
	add(from, "Transcript", "xcsh.transcript", lensArgs{Source: v.path})
	for _, i := range forkEntries(v.branches) {
		if id := v.Doc.ID(i); id != "" {
			from, _ := v.Doc.Span(i)
			add(from, "Fork from here", "xcsh.fork", lensArgs{Source: v.path, EntryID: id})
		}
	}
	return lenses
}

// forkEntries returns the entries after which the user may want to fork.
func forkEntries(branches []outline.Branch) (entries []int) {
	for _, b := range branches {
		for _, t := range b.Turns {
			entries = append(entries, t.Prompt)
			if t.Answer >= 0 {
				entries = append(entries, t.Answer)
			}
		}
	}
	return entries[max(0, len(entries)-maxForkLenses):]
}

// lensFolder returns the folder argument of lenses: "" if the client has one folder, else the
// session's if it is one of them, else the first.
func lensFolder(folders []string, v *view) string {
	if len(folders) == 1 {
		return ""
	}
	cwd := v.Doc.Header().Cwd
	for _, f := range folders {
		if f == cwd {
			return f
		}
	}
	if len(folders) > 0 {
		return folders[0]
	}
	return cwd
}
