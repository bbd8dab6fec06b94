package disk

import (
	"io"
	"slices"
)

// WriteLines writes each line followed by a newline.
func WriteLines(w io.Writer, lines [][]byte) error {
	for _, line := range lines {
		if _, err := w.Write(append(slices.Clip(line), '\n')); err != nil {
			return err
		}
	}
	return nil
}
