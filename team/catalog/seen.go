package catalog

import (
	"encoding/json"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
	"github.com/xcsh-ls/xcsh-ls/team"
)

const (
	maxKept = 200     // rows of a project in its file
	maxFile = 1 << 20 // bytes
)

var errClosed = fault.New(fault.Cancelled, "The sessions of the team store were not listed, because the program is ending.")

// seen is the file with the sessions of a project that were seen last.
type seen struct {
	Key  string
	Rows []team.Info
}

// path returns the path of the file.
func (p *project) path() string {
	sum := team.SumOf([]byte(p.key))
	return filepath.Join(p.c.c.Dir, "seen-"+sum.String()[:16]+".json")
}

// load reads the file. One that is missing, damaged or too large is as good as empty: it is replaced by the next answer.
func (p *project) load() {
	content, err := intake.ReadAll(p.c.c.Fs, p.path(), maxFile)
	var s seen
	if err != nil || json.Unmarshal(content, &s) != nil || s.Key != p.key {
		return
	}
	for _, i := range s.Rows[:min(len(s.Rows), maxKept)] {
		i.Writer, i.WriterLeft = "", 0 // known only while the store is connected
		if !i.Deleted && !i.SID.IsZero() {
			p.rows[i.SID] = newRow(i, p.c.c.Clock.Now())
		}
	}
}

// saveLocked writes the file. An error leaves the former one or none, and costs only what is shown without a network.
func (p *project) saveLocked() {
	s := seen{Key: p.key}
	for i, r := range p.sortedLocked() {
		if i == maxKept {
			break
		}
		r.Writer, r.WriterLeft = "", 0
		s.Rows = append(s.Rows, r.Info)
	}
	content, err := json.Marshal(s)
	if err == nil && len(content) < maxFile {
		_ = durable.WriteFile(p.c.c.Fs, p.path(), append(content, '\n'), 0o600) // see above
	}
}
