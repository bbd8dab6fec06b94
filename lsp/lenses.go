package lsp

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/session/outline"
)

// maxForkLenses is how many places to fork from are offered, the newest ones.
const maxForkLenses = 2000

// commandRef is a command of executeCommandProvider as it is put into answers.
type commandRef struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments"`
}

type codeLens struct {
	Range   textRange  `json:"range"`
	Command commandRef `json:"command"`
}

// lensArgs are the arguments of the commands of lenses.
type lensArgs struct {
	Cwd     string `json:"cwd,omitempty"`
	Target  string `json:"target,omitempty"`
	Source  string `json:"source,omitempty"`
	EntryID string `json:"entryId,omitempty"`
	Open    bool   `json:"open,omitempty"`
}

// codeLenses answers with what can be done with a session: all of it at the header, and going
// on in a copy behind each prompt and each last answer of a turn.
func (s *server) codeLenses(_ context.Context, v *sessionView, _ *textDocumentParams) (any, error) {
	lenses := []codeLens{}
	from, to := v.Doc.HeaderSpan()
	if from == to {
		return lenses, nil
	}
	cwd := s.lensFolder(v)
	add := func(offset int64, title, command string, args lensArgs) {
		args.Cwd = cwd
		begin := v.lines.begin(offset)
		lenses = append(lenses, codeLens{textRange{begin, begin}, commandRef{title, command, []any{args}}})
	}
	add(from, "Resume", "xcsh.resume", lensArgs{Target: v.path})
	add(from, "Export", "xcsh.export", lensArgs{Source: v.path, Open: true})
	add(from, "Transcript", "xcsh.transcript", lensArgs{Source: v.path})
	for _, i := range forkPlaces(v.branches) {
		if id := v.Doc.ID(i); id != "" {
			from, _ := v.Doc.Span(i)
			add(from, "Fork from here", "xcsh.fork", lensArgs{Source: v.path, EntryID: id})
		}
	}
	return lenses, nil
}

// forkPlaces are the entries after which a person may want to go on otherwise.
func forkPlaces(branches []outline.Branch) (places []int) {
	for _, b := range branches {
		for _, t := range b.Turns {
			places = append(places, t.Prompt)
			if t.Answer >= 0 {
				places = append(places, t.Answer)
			}
		}
	}
	return places[max(0, len(places)-maxForkLenses):]
}

// lensFolder is the folder that a lens is about where the client has not just one: that of the
// session if it is one of them, else the first.
func (s *server) lensFolder(v *sessionView) string {
	folders := s.folders.list()
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
