package export

import (
	"bufio"
	"fmt"
	"io"
)

// JSONL writes d as a session file: its header and its entries, each on a line and byte for byte unless d is redacted.
// The hashes of contents are removed from records of changes of files.
func JSONL(w io.Writer, d Doc) error {
	out := bufio.NewWriterSize(w, 1<<16)
	line := func(v []byte) error {
		if _, err := out.Write(v); err != nil {
			return err
		}
		return out.WriteByte('\n')
	}
	if d.Header != nil {
		if err := line(d.Header); err != nil {
			return err
		}
	}
	n := 0
	for raw, err := range d.entries() {
		if err != nil {
			return fmt.Errorf("export: read entry %d: %w", n, err)
		}
		if err := line(withoutHashes(raw)); err != nil {
			return err
		}
		n++
	}
	return out.Flush()
}
