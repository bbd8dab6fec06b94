package lsp

import "context"

// maxFolds is how many stretches of a document can be folded, unless the client wants fewer.
const maxFolds = 10_000

// foldingRange is a stretch of whole lines.
type foldingRange struct {
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	Kind      string `json:"kind"`
}

// foldingRanges answers with the turns, and the branches where there are several. They are
// told from the index: nothing is decoded.
func (s *server) foldingRanges(_ context.Context, v *sessionView, _ *textDocumentParams) (any, error) {
	limit := maxFolds
	if s.client.foldingLimit > 0 {
		limit = min(limit, s.client.foldingLimit)
	}
	folds := []foldingRange{}
	add := func(first, last int) {
		from, _ := v.Doc.Span(first)
		_, to := v.Doc.Span(last)
		fold := foldingRange{v.lines.line(from), v.lines.line(to - 1), "region"}
		// A branch may be one turn.
		if again := len(folds) > 0 && folds[len(folds)-1] == fold; fold.StartLine < fold.EndLine && !again && len(folds) < limit {
			folds = append(folds, fold)
		}
	}
	for _, b := range v.branches {
		if len(folds) == limit {
			break
		}
		if len(v.branches) > 1 {
			add(b.First, b.Last)
		}
		for _, t := range b.Turns {
			add(t.Prompt, t.Last)
		}
	}
	return folds, nil
}
