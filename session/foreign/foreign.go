// Package foreign describes the branch of an open session on which another program
// continued. It reads nothing.
package foreign

// MaxPrompt bounds [Branch.Prompt], in UTF-16 units.
const MaxPrompt = 120

// Branch is a branch that another program wrote while the session was open here, and that
// does not descend from the leaf.
type Branch struct {
	Start   string // the first entry that the own branch lacks; the branch keeps it while it grows
	End     string // its newest entry
	Entries int    // from Start to End
	Prompt  string // the first line of the newest prompt on it, "" if there is none
	Program string // the program that wrote it: "pi" or "omp", "" if that is unknown
}

// Sentence reports the branch to the user.
func (b Branch) Sentence() string {
	name := b.Program
	if name == "" {
		name = "Another program"
	}
	return name + " continued on another branch."
}
