package serving

import (
	"fmt"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// maxLeftOut bounds the sentences about servers that are left out.
const maxLeftOut = 10

// LeftOut returns sentences for the user about the servers of a folder that are not started because it is not trusted. A folder
// that the user has decided about, and one that the editor does not trust, needs none. advice is what the user can do.
func LeftOut(r *setup.Resolved, advice string) (texts []string) {
	why := map[setup.TrustState]string{
		setup.Untrusted: "this folder's set-up is not trusted yet",
		setup.Changed:   "the programs that this folder's set-up starts changed since you trusted it",
	}[r.Trust.State]
	if why == "" || r.Trust.Question == "" {
		return nil
	}
	more := 0
	for _, o := range r.LeftOut {
		if o.Kind != setup.KindServer || o.Starts == "" {
			continue
		}
		if len(texts) == maxLeftOut {
			more++
			continue
		}
		path := o.Path
		if rel, err := filepath.Rel(r.Folder, path); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
		texts = append(texts, fmt.Sprintf("The server %q of %s was not started: %s. %s", fault.OneLine(o.Name), fault.OneLine(path), why, advice))
	}
	if more > 0 {
		texts = append(texts, fmt.Sprintf("%d more servers were not started for the same reason.", more))
	}
	return texts
}
