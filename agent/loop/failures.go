package loop

import (
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// maxSameFailures is how often the same call may fail in the same way with no success in between. A
// model that repeats it has nothing else to try, and each attempt costs money.
const maxSameFailures = 3

// failures counts the calls that failed since the last one that succeeded.
type failures struct {
	count map[string]int // by name, arguments and result
	stuck string         // the tool of the call that failed too often
}

func (f *failures) add(call provider.Block, r tool.Result) {
	if !r.IsError {
		f.count = nil // something is new, so that the call may succeed now
		return
	}
	if f.count == nil {
		f.count = map[string]int{}
	}
	key := fmt.Sprintf("%s %s %q", call.Name, call.Arguments, provider.Message{Content: r.Content}.PlainText())
	if f.count[key]++; f.count[key] == maxSameFailures {
		f.stuck = call.Name
	}
}

// err is not nil if a call failed too often.
func (f *failures) err() error {
	if f.stuck == "" {
		return nil
	}
	return fault.New(fault.Limit, "The turn was ended because the same call of %s failed %d times in the same way. Send another prompt to continue.",
		f.stuck, maxSameFailures).With("limit", "sameFailure")
}
