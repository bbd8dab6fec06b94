package history

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
)

// journal keeps a file for each prompt whose turn is running and has no answer. The name begins with the
// id of the process that keeps it: the prompts of a process that no longer exists were never answered.
// It needs no lock, because no process touches the file of another living process, and of several that
// find the same file only one can rename it.
//
// Differs: the programs do not record an unanswered prompt of a session that has no file yet.
type journal struct {
	Config
	pid  int
	host string

	mu        sync.Mutex
	own       map[string]bool // names of the files of turns that run here, and of those offered; guarded by mu
	offered   []left          // guarded by mu
	abandoned []string        // names of files that stay until the end; guarded by mu
}

// unanswered is the content of a file.
type unanswered struct {
	Prompt    string    `json:"prompt"`
	Cwd       string    `json:"cwd,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	Host      string    `json:"host,omitempty"`    // processes of another machine cannot be checked
	Process   string    `json:"process,omitempty"` // distinguishes the writer from a later process with its pid
	PID       int       `json:"pid,omitempty"`     // of the writer, which is no longer the owner if the file is named for another process
	Private   bool      `json:"private,omitempty"` // not for the prompt history
}

// left is an unanswered prompt of an ended process.
type left struct {
	name string
	unanswered
}

func (l left) entry() Entry {
	return Entry{Prompt: l.Prompt, Created: l.CreatedAt.Truncate(time.Second), Cwd: l.Cwd}
}

func newJournal(cfg Config) *journal {
	host, _ := os.Hostname() // "" is as good a name as any
	return &journal{Config: cfg, pid: os.Getpid(), host: host, own: map[string]bool{}}
}

// Mark is a prompt that has no answer yet. A nil Mark needs none.
type Mark struct {
	j    *journal
	name string
	once sync.Once
}

// Answered records that the prompt was answered, or cancelled by the user. It may be called
// more than once.
func (m *Mark) Answered() {
	if m != nil {
		m.once.Do(func() { m.j.remove(m.name) })
	}
}

// Abandon records that the prompt will not be answered in this process, although no session file
// has it. It is kept until the store is closed: a client that sees the process killed before
// is offered it again.
func (m *Mark) Abandon() {
	if m != nil {
		m.once.Do(func() {
			m.j.mu.Lock()
			defer m.j.mu.Unlock()
			m.j.abandoned = append(m.j.abandoned, m.name)
		})
	}
}

// Keep writes a prompt to the journal of unanswered prompts. The prompt outlives this process when
// Keep returns. It returns nil if the prompt could not be written, or if there is nothing to write:
// an empty text.
func (s *Store) Keep(p Prompt) *Mark {
	if s == nil || s.journal.Unanswered == "" {
		return nil
	}
	private := strings.HasPrefix(p.Text, " ")
	// Not cut as in the database: this may be the only copy.
	if p.Text = trim(p.Text); p.Text == "" {
		return nil
	}
	return s.journal.begin(p, private)
}

// begin writes a prompt to disk.
func (j *journal) begin(p Prompt, private bool) *Mark {
	name := j.newName()
	j.mu.Lock()
	j.own[name] = true
	j.mu.Unlock()
	err := j.write(name, unanswered{Prompt: p.Text, Cwd: p.Cwd, CreatedAt: j.Now(), Host: j.host, Process: j.started(j.pid), PID: j.pid, Private: private})
	if err != nil {
		j.Log.Warn("a prompt could not be written to the journal of unanswered prompts", zap.Error(err))
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.own, name)
		return nil
	}
	j.answer(p.Text, p.Cwd) // only now: a kill must find one of the two
	return &Mark{j: j, name: name}
}

func (j *journal) newName() string {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails
	return fmt.Sprintf("%d-%s.json", j.pid, hex.EncodeToString(random[:]))
}

// write creates a file atomically: no reader sees a part of it, and it survives a loss of power.
func (j *journal) write(name string, u unanswered) error {
	content, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return durable.WriteFile(j.Fs, filepath.Join(j.Unanswered, name), content, 0o600)
}

// remove removes one of our files. A file that cannot be removed is removed after this process has
// ended and the prompt was offered once more.
func (j *journal) remove(name string) {
	err := j.Fs.Remove(filepath.Join(j.Unanswered, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		j.Log.Warn("a prompt that was answered may be offered again", zap.Error(err))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.own, name)
}

// answer drops an offered prompt when the user sends it again.
func (j *journal) answer(text, cwd string) {
	j.mu.Lock()
	var again []left
	j.offered = slices.DeleteFunc(j.offered, func(l left) bool {
		same := l.Prompt == text && l.Cwd == cwd
		if same {
			again = append(again, l)
		}
		return same
	})
	j.mu.Unlock()
	for _, l := range again {
		j.remove(l.name)
	}
}

// forgetSeen runs when the program exits cleanly: the user has seen the offered and the abandoned
// prompts.
func (j *journal) forgetSeen() {
	j.mu.Lock()
	names := j.abandoned
	for _, l := range j.offered {
		names = append(names, l.name)
	}
	j.offered, j.abandoned = nil, nil
	j.mu.Unlock()
	for _, name := range names {
		j.remove(name)
	}
}

// Offer takes over the prompts of a directory that processes left without an answer, oldest first,
// and makes sure that the history has them. They are not offered again, unless this process ends
// without closing the store.
func (s *Store) Offer(cwd string) (entries []Entry) {
	if s == nil {
		return nil
	}
	s.journal.sweep()
	for _, l := range s.journal.leftBehind(cwd) {
		if s.journal.claim(l) {
			entries = append(entries, l.entry())
			if l.Private || !s.records() {
				continue
			}
			// The process may have ended before the prompt was in the database.
			s.queue(pendingPrompt{Prompt: Prompt{Text: cleanPrompt(l.Prompt), Cwd: l.Cwd}, at: l.CreatedAt, maybe: true})
		}
	}
	return entries
}

// sweep removes incomplete files of processes that no longer exist.
func (j *journal) sweep() {
	if j.Unanswered == "" || j.Alive == nil {
		return
	}
	files, err := afero.ReadDir(j.Fs, j.Unanswered)
	if err != nil {
		return // no prompt was ever left
	}
	for _, f := range files {
		name, rest, ok := strings.Cut(f.Name(), ".json.")
		if ok && strings.HasSuffix(rest, "tmp") && j.isLeft(name+".json") {
			_ = j.Fs.Remove(filepath.Join(j.Unanswered, f.Name())) // if it stays, it does no harm
		}
	}
}

// claim takes over a file. It reports false if another process has it.
func (j *journal) claim(l left) bool {
	name := j.newName()
	j.mu.Lock()
	j.own[name] = true
	j.mu.Unlock()
	if err := durable.Rename(j.Fs, filepath.Join(j.Unanswered, l.name), filepath.Join(j.Unanswered, name)); err != nil {
		j.mu.Lock()
		delete(j.own, name)
		j.mu.Unlock()
		return false
	}
	l.name = name
	j.mu.Lock()
	defer j.mu.Unlock()
	j.offered = append(j.offered, l)
	return true
}

// Unanswered returns the prompts that processes left without an answer and that were not sent again
// here, newest first: those that contain every word of text, of one directory, or of all with cwd
// "". It changes nothing.
func (s *Store) Unanswered(text, cwd string) (entries []Entry) {
	if s == nil {
		return nil
	}
	found := s.journal.leftBehind(cwd)
	s.journal.mu.Lock()
	for _, l := range s.journal.offered {
		if cwd == "" || l.Cwd == cwd {
			found = append(found, l)
		}
	}
	s.journal.mu.Unlock()
	slices.SortStableFunc(found, func(a, b left) int { return b.CreatedAt.Compare(a.CreatedAt) })
	q := parseQuery(text)
	for _, l := range found {
		if q.found(l.Prompt) {
			entries = append(entries, l.entry())
		}
	}
	return entries
}

// leftBehind returns the prompts of processes that no longer exist, oldest first.
func (j *journal) leftBehind(cwd string) (found []left) {
	if j.Unanswered == "" || j.Alive == nil {
		return nil
	}
	files, err := afero.ReadDir(j.Fs, j.Unanswered)
	if err != nil {
		return nil // no prompt was ever left
	}
	for _, f := range files {
		pid, named := j.ownerOf(f.Name())
		if !named {
			continue
		}
		l := left{name: f.Name()}
		content, err := afero.ReadFile(j.Fs, filepath.Join(j.Unanswered, l.name))
		if err != nil || json.Unmarshal(content, &l.unanswered) != nil || l.Prompt == "" {
			continue // claimed by another process, or of an unknown format
		}
		if l.Host == j.host && (cwd == "" || l.Cwd == cwd) && (j.isLeft(l.name) || l.PID == pid && j.reused(pid, l.Process)) {
			found = append(found, l)
		}
	}
	slices.SortStableFunc(found, func(a, b left) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.name, b.name))
	})
	return found
}

// isLeft reports whether a file belongs to a process that no longer exists. A file with our own
// process number is valid only if this process recorded it.
func (j *journal) isLeft(name string) bool {
	pid, ok := j.ownerOf(name)
	if !ok {
		return false
	}
	if pid != j.pid {
		return !j.Alive(pid)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.own[name]
}

// ownerOf returns the process that a file is named for.
func (*journal) ownerOf(name string) (pid int, ok bool) {
	base, isFile := strings.CutSuffix(name, ".json")
	number, _, dashed := strings.Cut(base, "-")
	n, err := strconv.ParseUint(number, 10, 31)
	return int(n), isFile && dashed && err == nil && n > 0
}

// reused reports whether another process has the pid of the one that wrote a file.
func (j *journal) reused(pid int, process string) bool {
	now := ""
	if pid != j.pid && process != "" {
		now = j.started(pid)
	}
	return now != "" && now != process
}

func (j *journal) started(pid int) string {
	if j.Started == nil {
		return ""
	}
	return j.Started(pid)
}
