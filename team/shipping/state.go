package shipping

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// State is what this machine and the store last agreed on about a session.
type State struct {
	File  string // name of the session file, without its directory
	SID   string // in the store
	Gen   int
	Fence int64
	Fork  string   // the id drawn for a fork that is being made, else ""
	Tail  team.Sum // of the last bytes before Out.File; see [TailSum]

	Out *Outgoing

	Own    bool     // lines or the title were sent from this machine
	Digest Digest   // of the lines that were described to the store
	Head   team.Sum // of the head that the store had; zero if it is unknown
	Shown  team.Sum // of the description that the store has; zero if it is unknown
}

// stateJSON is the form of the file.
type stateJSON struct {
	File string `json:"file"`
	SID  string `json:"sid"`
	Gen  int    `json:"gen"`
	pointJSON
	Out   *pointJSON `json:"out,omitempty"` // missing if nothing is redacted
	Rules int        `json:"rules"`
	Fence int64      `json:"fence"`
	Tail  string     `json:"tail"`
	Fork  string     `json:"fork,omitempty"`

	Own    bool    `json:"own,omitempty"`
	Digest *Digest `json:"digest,omitempty"`
	Head   string  `json:"head,omitempty"`
	Shown  string  `json:"shown,omitempty"`
}

type pointJSON struct {
	Len  int64  `json:"len"`
	Sum  string `json:"sum"`
	Hash []byte `json:"hash"`
}

func newPointJSON(r *Running) pointJSON {
	p := r.Point()
	return pointJSON{Len: p.Len, Sum: hex.EncodeToString(p.Sum[:]), Hash: r.Marshal()}
}

// running returns the running checksum, if the parts of p agree.
func (p pointJSON) running() (Running, bool) {
	sum, ok := sumOf(p.Sum)
	if !ok || p.Len < 0 {
		return Running{}, false
	}
	return Resume(p.Hash, Point{Len: p.Len, Sum: sum})
}

func sumOf(text string) (s team.Sum, ok bool) {
	b, err := hex.DecodeString(text)
	return team.Sum(append(b, s[:]...)[:len(s)]), err == nil && len(b) == len(s)
}

// maxState is the greatest size of a state file.
const maxState = 64 << 10

// States are the files of all sessions: one per id of a header, in Dir. Each is disposable.
type States struct {
	Fs  afero.Fs
	Dir string // <agentDir>/xcsh-ls/team/state
}

var portable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,150}\.jsonl$`) })

// IsFileName reports whether every store accepts the name of a session file. It may still be one that Windows keeps for itself.
func IsFileName(name string) bool { return portable().MatchString(name) }

// plainID is an id that can be a file's name on every system.
var plainID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,99}$`) })

// path returns the path of the state of a session. The id of a header is any text.
func (s States) path(headerID string) string {
	if !plainID().MatchString(headerID) {
		sum := sha256.Sum256([]byte(headerID))
		headerID = "_" + hex.EncodeToString(sum[:16])
	}
	return filepath.Join(s.Dir, headerID+".json")
}

// Load returns the state of the session file called file. ok is false if there is none, if it is damaged or of another file, or if rules has not
// the rules of its version; then the session is compared with the store from its beginning. rules is called with the
// version.
func (s States) Load(headerID, file string, rules func(version int) (Rules, error)) (State, bool) {
	content, err := intake.ReadAll(s.Fs, s.path(headerID), maxState)
	if err != nil {
		return State{}, false
	}
	var j stateJSON
	if json.Unmarshal(content, &j) != nil || j.File != file {
		return State{}, false
	}
	by, err := rules(j.Rules)
	if err != nil || by.Version() != j.Rules || (by.scanner != nil) != (j.Out != nil) {
		return State{}, false
	}
	o := NewOutgoing(by)
	var ok bool
	if o.file, ok = j.running(); ok && j.Out != nil {
		o.out, ok = j.Out.running()
	}
	tail, known := sumOf(j.Tail)
	if !ok || !known {
		return State{}, false
	}
	state := State{File: j.File, SID: j.SID, Gen: j.Gen, Fence: j.Fence, Fork: j.Fork, Tail: tail, Out: o, Own: j.Own}
	state.describe(j)
	return state, true
}

// describe sets what was described to the store. A part that is damaged or impossible is missing: it is computed again.
func (s *State) describe(j stateJSON) {
	if d := j.Digest; d != nil && d.File >= 0 && d.File <= s.Out.File().Len && d.Out >= 0 && d.Out <= s.Out.Out().Len && d.Messages >= 0 {
		s.Digest = *d
	}
	if head, ok := sumOf(j.Head); ok {
		s.Head = head
	}
	if shown, ok := sumOf(j.Shown); ok && s.Digest.File > 0 {
		s.Shown = shown
	}
}

// hexOf returns the text of a sum, "" for zero.
func hexOf(s team.Sum) string {
	if s == (team.Sum{}) {
		return ""
	}
	return s.String()
}

// Save records the state of a session. After an error the file is the former one, missing, or damaged, each of which costs a
// comparison only. It is not synced, for the same reason.
func (s States) Save(headerID string, state State) error {
	o := state.Out
	j := stateJSON{
		File: state.File, SID: state.SID, Gen: state.Gen, Fence: state.Fence, Fork: state.Fork, Tail: hex.EncodeToString(state.Tail[:]),
		pointJSON: newPointJSON(&o.file), Rules: o.rules.version,
		Own: state.Own, Head: hexOf(state.Head), Shown: hexOf(state.Shown),
	}
	if state.Digest.File > 0 {
		j.Digest = &state.Digest
	}
	if o.rules.scanner != nil {
		out := newPointJSON(&o.out)
		j.Out = &out
	}
	content, err := json.Marshal(j)
	if err == nil {
		err = s.write(s.path(headerID), append(content, '\n'))
	}
	if err != nil {
		return fault.New(fault.IO, "Cannot record how much of %s was sent: %w. It will be compared with the team's store again.", state.File, err)
	}
	return nil
}

// Sent is what a state file says about a session without its checksums.
type Sent struct {
	SID string
	Len int64     // of the part of the body of the file that was sent
	At  time.Time // when the file was written
}

// Sent returns what was sent of the session file called file. It is good for a choice of files only: [States.Load] checks more.
func (s States) Sent(headerID, file string) (sent Sent, ok bool) {
	path := s.path(headerID)
	info, err := s.Fs.Stat(path)
	if err != nil {
		return Sent{}, false
	}
	content, err := intake.ReadAll(s.Fs, path, maxState)
	var j stateJSON
	if err != nil || json.Unmarshal(content, &j) != nil || j.File != file {
		return Sent{}, false
	}
	return Sent{SID: j.SID, Len: j.Len, At: info.ModTime()}, true
}

// ForgetAll removes the states of all sessions.
func (s States) ForgetAll() error {
	files, err := afero.ReadDir(s.Fs, s.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, f := range files {
		if err == nil {
			err = s.Fs.Remove(filepath.Join(s.Dir, f.Name()))
		}
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return fault.New(fault.IO, "Cannot remove the records of sent sessions in %s: %w.", s.Dir, err).With("path", s.Dir)
	}
	return nil
}

// Forget removes the state of a session.
func (s States) Forget(headerID string) error {
	if err := s.Fs.Remove(s.path(headerID)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fault.New(fault.IO, "Cannot remove the record of a sent session: %w.", err)
	}
	return nil
}

func (s States) write(path string, content []byte) error {
	if err := durable.MakeDirs(s.Fs, s.Dir, 0o700); err != nil {
		return err
	}
	temp := path + "." + rand.Text()[:8] + ".tmp"
	f, err := s.Fs.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = durable.Rename(s.Fs, temp, path)
	}
	if err != nil {
		_ = s.Fs.Remove(temp) // best effort; the error that matters is returned
	}
	return err
}

// tailLen is how many bytes before the end of the sent lines are compared before more is sent.
const tailLen = 4 << 10

// TailSum returns the checksum of the last bytes of a file before end, 4096 at most. If it is the same as before, a file that grew was not
// rewritten.
func TailSum(file io.ReaderAt, end int64) (team.Sum, error) {
	b := make([]byte, min(end, tailLen))
	if n, err := file.ReadAt(b, end-int64(len(b))); n < len(b) {
		return team.Sum{}, fault.New(fault.Stale, "The session file is shorter than the part that was sent: %w.", err)
	}
	return sha256.Sum256(b), nil
}
