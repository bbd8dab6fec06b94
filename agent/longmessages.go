package agent

import (
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// maxWords is how many bytes a request can have without its images, which are scaled. Services refuse
// requests of more than 32 MB.
const maxWords = 32 << 20

// fits fails if the messages of a context are certainly too long for a request. They are not read for it.
func fits(c session.ContextState) error {
	if c.LongBytes <= maxWords {
		return nil
	}
	return fault.New(fault.Limit, "The conversation has messages of %d MiB in all, but a model's service accepts requests of %d MiB. "+
		"Branch before entry %s, which is the longest.", c.LongBytes>>20, maxWords>>20, c.LongEntry).
		With("limit", "requestBytes").With("entryId", c.LongEntry)
}
