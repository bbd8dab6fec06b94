package history

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"
)

// journal keeps a file for each prompt whose turn runs and has no answer. The name begins with
// the process that keeps it: what is left of a process that is gone was never answered. It
// needs no lock, because nobody touches the file of a living process, and of several that find
// the same file only one can rename it.
//
// Differs: the programs know nothing of a prompt that was never answered in a session that has
// no file yet.
type journal struct {
	Config
	pid  int
	host string

	mu      sync.Mutex
	ours    map[string]bool // names of the files of turns that run here, and of those offered; guarded by mu
	offered []left          // guarded by mu
}

// unanswered is the content of a file.
type unanswered struct {
	Prompt    string    `json:"prompt"`
	Cwd       string    `json:"cwd,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	Host      string    `json:"host,omitempty"` // processes of another machine cannot be looked for
}

// left is what a process left behind.
type left struct {
	name string
	unanswered
}

func (l left) entry() Entry {
	return Entry{Prompt: l.Prompt, Created: l.CreatedAt.Truncate(time.Second), Cwd: l.Cwd}
}

func newJournal(cfg Config) *journal {
	host, _ := os.Hostname() // "" is as good a name as any
	return &journal{Config: cfg, pid: os.Getpid(), host: host, ours: map[string]bool{}}
}

// Mark is a prompt that has no answer yet. A nil Mark needs none.
type Mark struct {
	j    *journal
	name string
	once sync.Once
}

// Answered says that the prompt was answered, or given up by the person. It may be called
// more than once.
func (m *Mark) Answered() {
	if m != nil {
		m.once.Do(func() { m.j.remove(m.name) })
	}
}

// begin puts a prompt on disk. It costs nothing but itself when that fails.
func (j *journal) begin(p Prompt) *Mark {
	if j.Unanswered == "" {
		return nil
	}
	j.answer(p.Text, p.Cwd)
	name := j.newName()
	j.mu.Lock()
	j.ours[name] = true
	j.mu.Unlock()
	err := j.write(name, unanswered{Prompt: p.Text, Cwd: p.Cwd, CreatedAt: j.Now(), Host: j.host})
	if err != nil {
		j.Log.Warn("a prompt is not kept until it is answered", zap.Error(err))
	}
	return &Mark{j: j, name: name}
}

func (j *journal) newName() string {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails
	return fmt.Sprintf("%d-%s.json", j.pid, hex.EncodeToString(random[:]))
}

// write makes a file at once: nobody ever sees a part of it.
func (j *journal) write(name string, u unanswered) error {
	content, err := json.Marshal(u)
	if err != nil {
		return err
	}
	if err := j.Fs.MkdirAll(j.Unanswered, 0o700); err != nil {
		return err
	}
	path := filepath.Join(j.Unanswered, name)
	f, err := j.Fs.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := f.Write(content)
	if err == nil && n < len(content) {
		err = io.ErrShortWrite
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = j.Fs.Rename(path+".tmp", path)
	}
	if err != nil {
		_ = j.Fs.Remove(path + ".tmp") // best effort; the error that matters is returned
	}
	return err
}

// remove removes a file of ours. One that stays is removed when this process is gone and the
// prompt was offered once more.
func (j *journal) remove(name string) {
	err := j.Fs.Remove(filepath.Join(j.Unanswered, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		j.Log.Warn("a prompt that was answered may be offered again", zap.Error(err))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.ours, name)
}

// answer forgets what was offered when the person says it again.
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

// forgetOffered is for the end: what was offered was seen.
func (j *journal) forgetOffered() {
	j.mu.Lock()
	offered := j.offered
	j.offered = nil
	j.mu.Unlock()
	for _, l := range offered {
		j.remove(l.name)
	}
}

// Offer takes over the prompts of a directory that processes left without an answer, oldest
// first, and makes sure that the history has them. Nobody else is offered them, unless this
// process ends without closing the store.
func (s *Store) Offer(cwd string) (entries []Entry) {
	if s == nil {
		return nil
	}
	s.journal.sweep()
	for _, l := range s.journal.leftBehind(cwd) {
		if s.journal.claim(l) {
			entries = append(entries, l.entry())
			// The process may have ended before the database had it.
			s.queue(said{Prompt: Prompt{Text: l.Prompt, Cwd: l.Cwd}, at: l.CreatedAt, maybe: true})
		}
	}
	return entries
}

// sweep removes what processes that are gone did not even write completely.
func (j *journal) sweep() {
	if j.Unanswered == "" || j.Alive == nil {
		return
	}
	files, err := afero.ReadDir(j.Fs, j.Unanswered)
	if err != nil {
		return // nothing was ever left
	}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".tmp"); ok && j.isLeft(name) {
			_ = j.Fs.Remove(filepath.Join(j.Unanswered, f.Name())) // or it stays, which harms nobody
		}
	}
}

// claim makes a file ours. It reports false when somebody else has it.
func (j *journal) claim(l left) bool {
	name := j.newName()
	j.mu.Lock()
	j.ours[name] = true
	j.mu.Unlock()
	if err := j.Fs.Rename(filepath.Join(j.Unanswered, l.name), filepath.Join(j.Unanswered, name)); err != nil {
		j.mu.Lock()
		delete(j.ours, name)
		j.mu.Unlock()
		return false
	}
	l.name = name
	j.mu.Lock()
	defer j.mu.Unlock()
	j.offered = append(j.offered, l)
	return true
}

// Unanswered returns the prompts that processes left without an answer and that were not said
// again here, newest first: those that hold every word of text, of one directory, or of all
// with cwd "". It changes nothing.
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

// leftBehind returns what processes that are gone left behind, oldest first.
func (j *journal) leftBehind(cwd string) (found []left) {
	if j.Unanswered == "" || j.Alive == nil {
		return nil
	}
	files, err := afero.ReadDir(j.Fs, j.Unanswered)
	if err != nil {
		return nil // nothing was ever left
	}
	for _, f := range files {
		if !j.isLeft(f.Name()) {
			continue
		}
		l := left{name: f.Name()}
		content, err := afero.ReadFile(j.Fs, filepath.Join(j.Unanswered, l.name))
		if err != nil || json.Unmarshal(content, &l.unanswered) != nil || l.Prompt == "" {
			continue // taken by another process, or made by no version of ours
		}
		if l.Host == j.host && (cwd == "" || l.Cwd == cwd) {
			found = append(found, l)
		}
	}
	slices.SortStableFunc(found, func(a, b left) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.name, b.name))
	})
	return found
}

// isLeft reports whether a file is that of a process that is gone. Our own process is there,
// so of its files it is a question of whether we remember.
func (j *journal) isLeft(name string) bool {
	base, ok := strings.CutSuffix(name, ".json")
	number, _, dashed := strings.Cut(base, "-")
	pid, err := strconv.ParseUint(number, 10, 31)
	if !ok || !dashed || err != nil || pid == 0 {
		return false
	}
	if int(pid) != j.pid {
		return !j.Alive(int(pid))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.ours[name]
}
