package pull_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// made returns a credential that no scanner of this repository mistakes for a real one.
func made(parts ...string) string { return strings.Join(parts, "") }

// For every length of a local file, torn lines included, the rest is appended, and the file is then the session.
// Proves: TM-07
func TestTheRestOfEveryBeginning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := conversation(12)
	p := w.publish(content, 333)
	head := len(content) - len(p.body)
	for n := head; n <= len(content); n += 7 {
		m := at(afero.NewMemMapFs(), w.kim)
		require.NoError(t, afero.WriteFile(m.fs, "/s.jsonl", content[:n], 0o600))
		got, err := m.puller().Rest(t.Context(), p.sid, "/s.jsonl", nil)
		require.NoError(t, err, "%d", n)
		require.Equal(t, int64(len(content)-n), got)
		after, err := afero.ReadFile(m.fs, "/s.jsonl")
		require.NoError(t, err)
		require.Equal(t, string(content), string(after))
		require.Len(t, files(t, m.fs), 1)
	}
}

// A file that is ahead of the store stays, and one that continued differently does.
func TestTheRestOfOtherFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := conversation(12)
	p := w.publish(content, 333)
	line := st.User("zzzzzzzz", "", "mine") + "\n"
	half := content[:bytes.LastIndexByte(content[:len(content)/2], '\n')+1]
	changed := bytes.Clone(content)
	changed[len(content)-20] ^= 1
	for name, c := range map[string]struct {
		content string
		kind    fault.Kind
	}{
		"equal":              {content: string(content)},
		"ahead":              {content: string(content) + line},
		"ahead, torn":        {content: string(content) + line[:10]},
		"differs":            {string(half) + line, fault.Conflict},
		"differs at the end": {string(changed), fault.Conflict},
		"differs, and ahead": {string(changed) + line, fault.Conflict},
		"another torn line":  {string(half) + "{x", fault.Conflict},
		"no header":          {line, fault.Damaged},
	} {
		m := at(afero.NewMemMapFs(), w.kim)
		require.NoError(t, afero.WriteFile(m.fs, "/s.jsonl", []byte(c.content), 0o600))
		n, err := m.puller().Rest(t.Context(), p.sid, "/s.jsonl", nil)
		if c.kind == "" {
			require.NoError(t, err, name)
		} else {
			require.Error(t, err, name)
			requireKind(t, c.kind, err)
		}
		require.Zero(t, n, name)
		after, err := afero.ReadFile(m.fs, "/s.jsonl")
		require.NoError(t, err)
		require.Equal(t, c.content, string(after), name)
	}
	m := at(afero.NewMemMapFs(), w.kim)
	_, err := m.puller().Rest(t.Context(), p.sid, "/missing.jsonl", nil)
	require.Error(t, err)
	require.Empty(t, files(t, m.fs))
}

// A file whose secrets were replaced in the store gets the rest, and keeps its own lines.
func TestTheRestOfARedactedSession(t *testing.T) {
	t.Parallel()
	secret := made("ghp", "_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8")
	content := []byte(st.File(st.Header(headerID, "/w"), st.User("aaaaaaaa", "", "key "+secret), st.User("bbbbbbbb", "aaaaaaaa", "more")))
	h, err := shipping.ReadHead(bytes.NewReader(content))
	require.NoError(t, err)
	rules, err := shipping.NewRules(shipping.CurrentRules)
	require.NoError(t, err)
	sent := shipping.NewOutgoing(rules).Batch(content[h.Len():]).Bytes
	require.NotContains(t, string(sent), secret)
	w := newWorld(t)
	p := w.publish(append(bytes.Clone(h.Raw), sent...), 99)
	more := st.User("cccccccc", "bbbbbbbb", "from elsewhere") + "\n"
	w.append(p, []byte(more))
	m := at(afero.NewMemMapFs(), w.kim)
	m.config.Rules = rules
	require.NoError(t, afero.WriteFile(m.fs, "/s.jsonl", content, 0o600))
	n, err := m.puller().Rest(t.Context(), p.sid, "/s.jsonl", nil)
	require.NoError(t, err)
	require.Equal(t, int64(len(more)), n)
	after, err := afero.ReadFile(m.fs, "/s.jsonl")
	require.NoError(t, err)
	require.Equal(t, string(content)+more, string(after))
}

// While a server of this machine has the session open, or another program appends, nothing is appended.
func TestTheRestWaitsForWriters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := conversation(12)
	p := w.publish(content, 333)
	half := content[:bytes.LastIndexByte(content[:len(content)/2], '\n')+1]
	m := at(afero.NewMemMapFs(), w.kim)
	require.NoError(t, afero.WriteFile(m.fs, "/s.jsonl", half, 0o600))
	puller := m.puller()
	open, err := puller.Sessions.Locks.OpenSession("/locks", headerID, "/s.jsonl")
	require.NoError(t, err)
	_, err = puller.Rest(t.Context(), p.sid, "/s.jsonl", nil)
	requireKind(t, fault.Busy, err)
	require.NoError(t, open.Release())
	other := lock.New(m.fs, lock.Options{Process: &lock.Process{}, PID: os.Getppid()})
	unlock, err := other.Publish("/s.jsonl")
	require.NoError(t, err)
	_, err = puller.Rest(t.Context(), p.sid, "/s.jsonl", nil)
	requireKind(t, fault.Busy, err)
	require.NoError(t, unlock())
	after, err := afero.ReadFile(m.fs, "/s.jsonl")
	require.NoError(t, err)
	require.Equal(t, string(half), string(after))
	mine := st.User("zzzzzzzz", "", "mine") + "\n"
	m.config.Store = &lying{Store: w.kim, seg: func(s *team.Segment) {
		if s.Off+int64(len(s.Bytes)) == int64(len(p.body)) {
			appendTo(t, m.fs, "/s.jsonl", mine)
		}
	}}
	_, err = m.puller().Rest(t.Context(), p.sid, "/s.jsonl", nil)
	requireKind(t, fault.Stale, err)
	after, err = afero.ReadFile(m.fs, "/s.jsonl")
	require.NoError(t, err)
	require.Equal(t, string(half)+mine, string(after), "only the other program's line")
}

// Each step may fail: the file is then a beginning of the session, and the next call completes it.
func TestEveryStepOfTheRestMayFail(t *testing.T) {
	t.Parallel()
	content := conversation(12)
	half := content[:len(content)/2]
	for _, mode := range []st.Mode{st.Once, st.Short, st.Dead} {
		for step := 1; ; step++ {
			w := newWorld(t)
			p := w.publish(content, 333)
			base := afero.NewMemMapFs()
			require.NoError(t, afero.WriteFile(base, "/s.jsonl", half, 0o600))
			faulty := &st.FaultFs{Fs: base, At: step, Mode: mode, Reads: true, On: func(_, path string) bool { return path == "/s.jsonl" }}
			n, err := at(faulty, w.kim).puller().Rest(t.Context(), p.sid, "/s.jsonl", nil)
			after, readErr := afero.ReadFile(base, "/s.jsonl")
			require.NoError(t, readErr)
			require.True(t, bytes.HasPrefix(content, after), "step %d", step)
			require.GreaterOrEqual(t, len(after), len(half))
			if err == nil {
				require.Equal(t, int64(len(content)-len(half)), n)
				require.Equal(t, string(content), string(after))
			}
			_, err = at(base, w.kim).puller().Rest(t.Context(), p.sid, "/s.jsonl", nil)
			require.NoError(t, err)
			after, err = afero.ReadFile(base, "/s.jsonl")
			require.NoError(t, err)
			require.Equal(t, string(content), string(after))
			if !faulty.Fired() {
				require.Greater(t, step, 5)
				break
			}
		}
	}
}

// A store that lies about the rest changes nothing but the part that adds up.
func TestALieAboutTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := conversation(12)
	p := w.publish(content, 333)
	head := len(content) - len(p.body)
	m := at(afero.NewMemMapFs(), &lying{Store: w.kim, seg: func(s *team.Segment) {
		if s.Off >= 666 {
			s.Bytes[0] ^= 1
		}
	}})
	require.NoError(t, afero.WriteFile(m.fs, "/s.jsonl", content[:head], 0o600))
	n, err := m.puller().Rest(t.Context(), p.sid, "/s.jsonl", nil)
	requireKind(t, fault.Damaged, err)
	require.Equal(t, int64(666), n)
	after, err := afero.ReadFile(m.fs, "/s.jsonl")
	require.NoError(t, err)
	require.Equal(t, string(content[:head+666]), string(after))
}

// A session that is here and continued differently becomes a fork beside it. Nothing of the file changes.
func TestADifferentSessionBecomesAFork(t *testing.T) {
	t.Parallel()
	for _, content := range [][]byte{conversation(12), oldConversation()} {
		w := newWorld(t)
		p := w.publish(content, 333)
		m := at(afero.NewMemMapFs(), w.kim)
		dir, err := m.library.DirFor(cwd)
		require.NoError(t, err)
		mine := string(bytes.Replace(content, []byte("/elsewhere/web"), []byte(cwd), 1)[:len(content)-len("/elsewhere/web")+len(cwd)])
		mine += st.User("zzzzzzzz", "", "mine") + "\n"
		local := filepath.Join(dir, named)
		require.NoError(t, afero.WriteFile(m.fs, local, []byte(mine), 0o600))
		w.append(p, []byte(st.User("yyyyyyyy", "", "theirs")+"\n"))
		path, err := m.pull(t, p.sid)
		require.NoError(t, err)
		require.NotEqual(t, local, path)
		after, err := afero.ReadFile(m.fs, local)
		require.NoError(t, err)
		require.Equal(t, mine, string(after))
		fork, err := afero.ReadFile(m.fs, path)
		require.NoError(t, err)
		h, err := shipping.ReadHead(bytes.NewReader(fork))
		require.NoError(t, err)
		require.NotEqual(t, headerID, h.Header().ID)
		require.Equal(t, headerID, h.Header().ParentSession)
		if h := bytes.Contains(content, []byte(`"version":3`)); h {
			require.True(t, bytes.HasSuffix(fork, p.body))
		}
		again, err := m.pull(t, p.sid)
		require.NoError(t, err)
		require.Equal(t, path, again, "one fork")
		require.Len(t, files(t, m.fs), 2)
		tip, err := w.kim.Tip(t.Context(), p.sid)
		require.NoError(t, err)
		require.Equal(t, 1, tip.Gen, "a fork changes nothing in the store")
	}
}

// A session that is here already gets its rest by a pull, also after a loss of power.
func TestAPullCompletesTheFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(12), 333)
	m := at(afero.NewMemMapFs(), w.kim)
	path, err := m.pull(t, p.sid)
	require.NoError(t, err)
	w.append(p, []byte(st.User("yyyyyyyy", "", "more")+"\n"))
	again, err := m.pull(t, p.sid)
	require.NoError(t, err)
	require.Equal(t, path, again)
	requirePulled(t, m.fs, path, p)
	content, err := afero.ReadFile(m.fs, path)
	require.NoError(t, err)
	require.NoError(t, afero.WriteFile(m.fs, path, content[:len(content)-500], 0o600))
	_, err = m.pull(t, p.sid)
	require.NoError(t, err)
	requirePulled(t, m.fs, path, p)
	require.NoError(t, m.fs.Remove(path)) // by hand
	_, err = m.pull(t, p.sid)
	require.NoError(t, err)
	requirePulled(t, m.fs, path, p)
	require.Len(t, files(t, m.fs), 1)
}
