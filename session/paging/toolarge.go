package paging

import (
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// TooLarge returns the error for an answer of more than [MaxAnswer] bytes. argument is the argument that limits it.
func TooLarge(argument string) error {
	return fault.New(fault.TooLarge, "The complete answer would have more than %d MiB; pass %q to get it in pages.", MaxAnswer>>20, argument).
		With("field", argument)
}

// CheckContext returns a TooLarge error if the context at leaf has more than [MaxAnswer] bytes. It reads no messages, except
// in a large file of omp.
func CheckContext(d *session.Document, leaf session.Leaf, argument string) error {
	if !exceeds(d, d.Len(), func(i int) int { return i }) {
		return nil
	}
	c, err := d.Conversation(leaf, d.Len(), nil)
	if err == nil && exceeds(d, len(c.Places), func(place int) int { return c.Places[place] }) {
		err = TooLarge(argument)
	}
	return err
}

// CheckEntries returns a TooLarge error if the entries from index from on have more than [MaxAnswer] bytes.
func CheckEntries(d *session.Document, from int, argument string) error {
	if exceeds(d, d.Len()-from, func(i int) int { return from + i }) {
		return TooLarge(argument)
	}
	return nil
}

// exceeds reports whether the lines of n entries have more than [MaxAnswer] bytes.
func exceeds(d *session.Document, n int, entry func(k int) int) bool {
	total := int64(0)
	for k := range n {
		if i := entry(k); i >= 0 {
			from, to := d.Span(i)
			if total += to - from; total > MaxAnswer {
				return true
			}
		}
	}
	return false
}
