package sessiondoc

// maxFolds is the largest number of folds in an answer. The client may set a lower limit.
const maxFolds = 10_000

// fold is a range of whole lines.
type fold struct {
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	Kind      string `json:"kind"`
}

// folds returns a fold for each turn, and for each branch if there are several. It uses the index
// only: no entry is decoded.
func (d *Docs) folds(v *view) any {
	limit := maxFolds
	if d.client.FoldingLimit > 0 {
		limit = min(limit, d.client.FoldingLimit)
	}
	folds := []fold{}
	add := func(first, last int) {
		from, _ := v.Doc.Span(first)
		_, to := v.Doc.Span(last)
		f := fold{v.lines.Line(from), v.lines.Line(to - 1), "region"}
		// A branch may be one turn.
		repeated := len(folds) > 0 && folds[len(folds)-1] == f
		if f.StartLine < f.EndLine && !repeated && len(folds) < limit {
			folds = append(folds, f)
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
	return folds
}
