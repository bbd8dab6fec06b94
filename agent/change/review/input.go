package review

import (
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
)

// Input is the input of a review. It caches the states that it reads, so that one result is consistent. It is not safe for concurrent
// use.
type Input struct {
	Book    *change.Book
	Plan    plan.Input // its Present, Content, Missing, Under, Find, Head and Branch
	Session string     // the id of the session, for addresses

	// AtHead returns the content of a path in the commit at HEAD, nil if the commit does not have it. ok is false if the content is
	// unknown, as for a nil AtHead. Committed hunks count as kept.
	AtHead func(abs string) (content []byte, ok bool)

	nows  map[string]plan.Now
	views map[string]*view
	moves map[string]string // of pending renames, from the new path to the old one
	gone  map[string]string // the reverse map
}

// now returns the present state of a path.
func (in *Input) now(abs string) (plan.Now, error) {
	if n, ok := in.nows[abs]; ok {
		return n, nil
	}
	n, err := in.Plan.Present(abs)
	if err != nil {
		return n, err
	}
	if in.nows == nil {
		in.nows = map[string]plan.Now{}
	}
	in.nows[abs] = n
	return n, nil
}

// forget drops the cached states of a path, whose contents may be large.
func (in *Input) forget(abs string) {
	delete(in.nows, abs)
	delete(in.views, abs)
}

// planInput returns the input for a plan, with the cached states.
func (in *Input) planInput(s plan.Selection) plan.Input {
	p := in.Plan
	p.Selection, p.Present = s, in.now
	return p
}
