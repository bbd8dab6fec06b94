package lsp

import (
	"github.com/aymanbagabas/go-udiff"

	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// maxLineEdits is the number of edits of one document above which one edit replaces everything between them.
const maxLineEdits = 1000

// lineEdits returns the edits that turn a text into another one. They replace whole lines and leave equal lines alone, so that the
// editor keeps marks, folds and cursors there. They do not overlap and are in ascending order.
func lineEdits(old, text string, enc textdoc.Encoding) []textEdit {
	diff := udiff.Lines(old, text)
	if result, err := udiff.Apply(old, diff); len(diff) > maxLineEdits || err != nil || result != text {
		start, end, inserted := difference(old, text)
		diff = []udiff.Edit{{Start: start, End: end, New: inserted}}
	}
	lines := textdoc.NewLines(old, enc)
	edits := make([]textEdit, len(diff))
	for i, d := range diff {
		edits[i] = textEdit{Range: textdoc.Range{Start: lines.Position(int64(d.Start)), End: lines.Position(int64(d.End))}, NewText: d.New}
	}
	return edits
}
