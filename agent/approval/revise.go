package approval

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// maxRevision is the longest text that an answer can contain, in bytes.
const maxRevision = 16 << 20

// revisable reports whether the answer to a prompt can contain another text than the proposed one: the prompt
// proposes the text of one file, which this program writes.
func (p Prompt) revisable() bool {
	return p.Preview.Base != "" && p.Preview.Target != "" && p.Hosted == "" && !p.Changed && !p.EndsPlan
}

// Revise approves a prompt once, with a text that the user wrote in place of the proposed one. base is the
// [tool.Sum] of the content that it replaces; a file with other content is not written. An InvalidArgument
// error leaves the prompt pending. Other errors are those of [Gate.Answer].
func (g *Gate) Revise(id, base, content string) error {
	if len(content) > maxRevision {
		return fault.New(fault.Limit, "The text has %d MB; the limit is %d MB.", len(content)>>20, maxRevision>>20).With("field", "content")
	}
	prompts := g.Pending()
	i := slices.IndexFunc(prompts, func(p Prompt) bool { return p.ID == id })
	switch {
	case i < 0:
		return errNotPending(id)
	case !prompts[i].revisable():
		return fault.New(fault.InvalidArgument, "This %s call can only be approved as it is, or denied.", prompts[i].Tool).With("field", "content")
	case base == "":
		return fault.New(fault.InvalidArgument, "The checksum of the replaced text is missing.").With("field", "base")
	}
	return g.answer(id, answer{decision: Once, revision: &tool.Revision{Target: prompts[i].Preview.Target, Base: base, Content: content}})
}
