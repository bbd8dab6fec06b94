package senses

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// settle is how long the editor waits for language servers that are still working.
const settle = 1500

// severities are LSP's, from 1.
var severities = []string{"", "error", "warning", "information", "hint"}

// problem is a diagnostic of a file.
type problem struct {
	path string
	Diagnostic
}

// report is the answer to xcsh/editor/diagnostics.
type report struct {
	problems []problem
	files    map[string]bool // the files of the answer; true if no language server has reported about the current version
}

// readReport reads an answer. Only files have problems.
func (s *Senses) readReport(raw json.RawMessage) report {
	type document struct {
		URI   string          `json:"uri"`
		Stale bool            `json:"stale"`
		Items json.RawMessage `json:"items"`
	}
	r := report{files: map[string]bool{}}
	for _, d := range list[document](member(raw, "documents")) {
		path, ok := s.o.Editor.Path(d.URI)
		if !ok {
			continue
		}
		r.files[path] = d.Stale
		for _, item := range list[Diagnostic](d.Items) {
			if item.Range.valid() && len(r.problems) < maxRead {
				if item.Severity < 1 || item.Severity >= len(severities) {
					item.Severity = 1 // as the protocol recommends
				}
				r.problems = append(r.problems, problem{path, item})
			}
		}
	}
	return r
}

// diagnostics answers diagnostics: those of a file, or of all files of the folder.
func (q question) diagnostics(ctx context.Context) (string, error) {
	params := DiagnosticsParams{SettleMs: settle}
	path := ""
	if q.a.File != "" && q.a.File != "*" {
		var err error
		if path, _, err = q.file(ctx); err != nil {
			return "", err
		}
		params.URIs = []string{q.s.o.Editor.URI(path)}
	}
	raw, err := q.ask(ctx, Diagnostics, params)
	if err != nil {
		return "", err
	}
	r := q.s.readReport(raw)
	stale, known := r.files[path]
	if path != "" && !known {
		return "The editor knows nothing about " + q.name(path) + ".", nil
	}
	return q.problems(r.problems, path) + staleNote(stale), nil
}

func staleNote(stale bool) string {
	if !stale {
		return ""
	}
	return "\nNo language server has reported about the current text of this file, so problems may be missing or out of date."
}

// problems lists the problems of a file, or of all files of the folder without credentials: the errors first.
func (q question) problems(all []problem, path string) string {
	all = slices.DeleteFunc(all, func(p problem) bool {
		if path != "" {
			return p.path != path
		}
		return !inside(q.env.Cwd, p.path) || q.s.o.Files.Private(p.path)
	})
	if len(all) == 0 {
		return "No problems."
	}
	slices.SortStableFunc(all, func(a, b problem) int {
		return cmp.Or(
			cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.path, b.path), cmp.Compare(a.Range.Start.Line, b.Range.Start.Line),
			cmp.Compare(a.Range.Start.Character, b.Range.Start.Character),
		)
	})
	counts := map[int]int{}
	for _, p := range all {
		counts[p.Severity]++
	}
	var sums []string
	for severity, noun := range []string{"", "error", "warning", "note", "hint"} {
		if n := counts[severity]; n > 0 {
			sums = append(sums, counted(n, noun))
		}
	}
	lines := []string{strings.Join(sums, ", ") + ":"}
	for _, p := range all[:min(len(all), maxDiagnostics)] {
		lines = append(lines, q.problem(p))
	}
	return strings.Join(lines, "\n") + more(len(all)-maxDiagnostics)
}

// problem returns the line of a problem.
func (q question) problem(p problem) string {
	text := fmt.Sprintf("%s:%d:%d [%s]", q.name(p.path), p.Range.Start.Line+1, p.Range.Start.Character+1, severities[p.Severity])
	if p.Source != "" {
		text += " [" + shown(p.Source, 40) + "]"
	}
	text += " " + shown(p.Message, maxMessage)
	if code := p.code(); code != "" {
		text += " (" + code + ")"
	}
	return text
}

// code returns the code of a diagnostic, "" for one without.
func (d Diagnostic) code() string {
	switch v := d.Code.(type) {
	case string:
		return shown(v, 60)
	case float64:
		return fmt.Sprint(v)
	}
	return ""
}
