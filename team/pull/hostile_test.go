package pull_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// lying is a store that changes its answers.
type lying struct {
	team.Store
	tip  func(*team.Tip)
	head func(*team.Head)
	seg  func(*team.Segment)
	read func(from int64, each func(team.Segment) error) error
}

func (l *lying) Tip(ctx context.Context, sid team.SID) (team.Tip, error) {
	t, err := l.Store.Tip(ctx, sid)
	if l.tip != nil {
		l.tip(&t)
	}
	return t, err
}

func (l *lying) Head(ctx context.Context, sid team.SID) (team.Head, error) {
	h, err := l.Store.Head(ctx, sid)
	if l.head != nil {
		l.head(&h)
	}
	return h, err
}

func (l *lying) Read(ctx context.Context, sid team.SID, gen int, from int64, most int, each func(team.Segment) error) error {
	if l.read != nil {
		return l.read(from, each)
	}
	return l.Store.Read(ctx, sid, gen, from, most, func(s team.Segment) error {
		if l.seg != nil {
			l.seg(&s)
		}
		return each(s)
	})
}

// Every lie about the bytes ends the pull at the offset, and leaves no file.
func TestALieLeavesNoFile(t *testing.T) {
	t.Parallel()
	const size = 500
	for name, lie := range map[string]struct {
		lying
		offset int64
	}{
		"a changed byte":    {lying{seg: func(s *team.Segment) { s.Bytes[len(s.Bytes)-1] ^= byte(s.Off / size) }}, size},
		"another sum":       {lying{seg: func(s *team.Segment) { s.Sum[3] ^= byte(s.Off / size) }}, size},
		"a hole":            {lying{seg: func(s *team.Segment) { s.Off += s.Off / size }}, size},
		"a shorter segment": {lying{seg: func(s *team.Segment) { s.Bytes = s.Bytes[:int64(len(s.Bytes))-s.Off/size] }}, size},
		"a longer one":      {lying{seg: func(s *team.Segment) { s.Bytes = append(s.Bytes, "x"[:s.Off/size%2]...) }}, size},
		"a negative offset": {lying{seg: func(s *team.Segment) { s.Off = -s.Off - 1 }}, 0},
		"another last sum":  {lying{tip: func(t *team.Tip) { t.Sum[0]++ }}, -1},
		"no bytes":          {lying{read: func(int64, func(team.Segment) error) error { return nil }}, 0},
		"empty segments": {lying{read: func(from int64, each func(team.Segment) error) error {
			return each(team.Segment{Off: from, Sum: team.EmptySum})
		}}, 0},
		"a length below 0":  {lying{tip: func(t *team.Tip) { t.Len = -1 }}, -2},
		"too long a length": {lying{tip: func(t *team.Tip) { t.Len++ }}, -1},
	} {
		w := newWorld(t)
		p := w.publish(conversation(40), size)
		l := lie.lying
		l.Store = w.kim
		m := at(afero.NewMemMapFs(), &l)
		_, err := m.pull(t, p.sid)
		require.Error(t, err, name)
		requireKind(t, fault.Damaged, err)
		if offset := lie.offset; offset > -2 {
			if offset == -1 {
				offset = int64(len(p.body))
			}
			require.Equal(t, offset, faultData(t, err)["offset"], name)
			require.Contains(t, err.Error(), "does not add up at byte")
		}
		require.Empty(t, files(t, m.fs), name)
	}
}

func faultData(t *testing.T, err error) map[string]any {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	return f.Data
}

// A store whose segments never end costs no more than the length that it says.
func TestEndlessSegments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(40), 500)
	passed := 0
	l := &lying{Store: w.kim}
	l.read = func(from int64, each func(team.Segment) error) error {
		body := bytes.Clone(p.body[:from])
		for {
			line := []byte(strings.Repeat("x", 99) + "\n")
			body = append(body, line...)
			if err := each(team.Segment{Off: int64(len(body) - len(line)), Bytes: line, Sum: team.SumOf(body)}); err != nil {
				return err
			}
			passed += len(line)
		}
	}
	m := at(afero.NewMemMapFs(), l)
	path, err := m.pull(t, p.sid)
	require.NoError(t, err, "the sums are right")
	require.Less(t, passed, len(p.body)+200)
	content, err := afero.ReadFile(m.fs, path)
	require.NoError(t, err)
	require.Less(t, len(content), len(p.body)+500)
}

// A member who sends a wrong checksum damages the session at its offset only: what is before it can be forked.
// Proves: TM-45
func TestAMemberSendsAWrongSum(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(10), 300)
	n := int64(len(p.body))
	w.appendSum(p, []byte("garbage\n"), team.Sum{1})
	m := at(afero.NewMemMapFs(), w.kim)
	_, err := m.pull(t, p.sid)
	requireKind(t, fault.Damaged, err)
	require.Equal(t, n, faultData(t, err)["offset"])
	require.Empty(t, files(t, m.fs))
	end, sum, err := w.kim.SumAt(t.Context(), p.sid, 1, n)
	require.NoError(t, err)
	require.Equal(t, n, end)
	require.Equal(t, team.SumOf(p.body), sum)
}

// Bytes with a true sum are kept, whatever they are.
// Proves: TM-33, TM-44
func TestAnyBytesAreKept(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"garbage":          "\x00\xff{{{\n",
		"no newline":       `{"type":"mess`,
		"NUL and halves":   `{"type":"message","id":"z","parentId":null,"message":{"role":"user","content":"\u0000 \ud800 ` + "\xed\xa0\x80" + `"}}` + "\n",
		"a second header":  `{"type":"session","version":3,"id":"other","cwd":"/"}` + "\n",
		"a line of 20 MiB": `{"type":"message","id":"z","parentId":null,"x":"` + strings.Repeat("A", 20<<20) + "\"}\n",
	} {
		w := newWorld(t)
		p := w.publish(conversation(3), 1<<20)
		w.append(p, []byte(line))
		m := at(afero.NewMemMapFs(), w.kim)
		path, err := m.pull(t, p.sid)
		require.NoError(t, err, name)
		requirePulled(t, m.fs, path, p)
	}
}

// Proves: TM-46
func TestHostileNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"../x.jsonl", "/etc/x.jsonl", "a/b.jsonl", `..\x.jsonl`, ".hidden.jsonl", "CON.jsonl", "nul.x.jsonl", "x", "", "x.jsonl\n", "é.jsonl", "-rf.jsonl",
		strings.Repeat("x", 4000) + ".jsonl", "x.jsonl.tmp", "\x00.jsonl", "com1.jsonl", "a:b.jsonl",
	} {
		w := newWorld(t)
		p := w.publish(conversation(3), 1<<20)
		l := &lying{Store: w.kim, head: func(h *team.Head) { h.FileName = name }}
		m := at(afero.NewMemMapFs(), l)
		path, err := m.pull(t, p.sid)
		require.NoError(t, err, "%q", name)
		requirePulled(t, m.fs, path, p)
		dir, err := m.library.DirFor(cwd)
		require.NoError(t, err)
		require.Equal(t, dir, filepath.Dir(path))
		require.Regexp(t, `^[A-Za-z0-9][A-Za-z0-9._-]*_`+headerID+`\.jsonl$`, filepath.Base(path))
	}
	w := newWorld(t)
	content := bytes.Replace(conversation(3), []byte(headerID), []byte("../../evil"), 1)
	p := w.publish(content, 1<<20)
	m := at(afero.NewMemMapFs(), &lying{Store: w.kim, head: func(h *team.Head) { h.FileName = "../x" }})
	path, err := m.pull(t, p.sid)
	require.NoError(t, err)
	require.Contains(t, filepath.Base(path), p.sid.String())
}

func TestAHostileHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(3), 1<<20)
	for name, head := range map[string]func(*team.Head){
		"none":         func(h *team.Head) { h.Bytes = nil },
		"two lines":    func(h *team.Head) { h.Bytes = append(h.Bytes, h.Bytes...) },
		"another id":   func(h *team.Head) { h.HeaderID = "another" },
		"garbage":      func(h *team.Head) { h.Bytes = []byte("{\n") },
		"no line":      func(h *team.Head) { h.Bytes = bytes.TrimSpace(h.Bytes) },
		"too large":    func(h *team.Head) { h.Bytes = append(bytes.Repeat([]byte(" "), 2<<20), h.Bytes...) },
		"lines before": func(h *team.Head) { h.Bytes = append([]byte(`{"type":"message"}`+"\n"), h.Bytes...) },
	} {
		m := at(afero.NewMemMapFs(), &lying{Store: w.kim, head: head})
		_, err := m.pull(t, p.sid)
		require.Error(t, err, name)
		requireKind(t, fault.Damaged, err)
		require.Empty(t, files(t, m.fs), name)
	}
	m := at(afero.NewMemMapFs(), &lying{Store: w.kim, seg: func(s *team.Segment) { s.Codec = 1 }})
	_, err := m.pull(t, p.sid)
	requireKind(t, fault.NewerVersion, err)
	require.Empty(t, visible(t, m.fs))
}

// Links in the target directory lead nowhere: no file behind one is written.
func TestLinksInTheDirectory(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	victim := filepath.Join(root, "victim")
	for _, hard := range []bool{false, true} {
		for _, name := range []string{named, "." + named + ".tmp"} {
			require.NoError(t, os.WriteFile(victim, []byte("precious"), 0o600))
			w := newWorld(t)
			p := w.publish(conversation(9), 300)
			m := onDisk(t, w.kim)
			dir, err := m.library.DirFor(cwd)
			require.NoError(t, err)
			require.NoError(t, os.MkdirAll(dir, 0o700))
			link := os.Symlink
			if hard {
				link = os.Link
			}
			require.NoError(t, link(victim, filepath.Join(dir, name)))
			path, err := m.pull(t, p.sid)
			content, readErr := os.ReadFile(victim)
			require.NoError(t, readErr)
			require.Equal(t, "precious", string(content))
			if name != named && !hard {
				requireKind(t, fault.FileExists, err)
				continue
			}
			require.NoError(t, err)
			requirePulled(t, m.fs, path, p)
			if name == named {
				require.Equal(t, strings.TrimSuffix(named, ".jsonl")+"_2.jsonl", filepath.Base(path))
			}
		}
	}
}

// onDisk is a machine on the real file system.
func onDisk(t *testing.T, store team.Store) *machine {
	t.Helper()
	home := t.TempDir()
	m := at(afero.NewOsFs(), store)
	m.library.Home = home
	m.library.Roots[0].Places.Sessions = filepath.Join(home, "sessions")
	m.config.Sessions = session.NewStore(session.StoreConfig{
		Fs: m.fs, DirFor: m.library.DirFor, RootFor: m.library.FileRoot, LockDir: filepath.Join(home, "locks"),
	})
	m.config.LockDir = filepath.Join(home, "pulls")
	return m
}

// An id that is a path, or that of a parent, leads to no file outside of the sessions.
func TestAnIDThatIsAPath(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"/secret.jsonl", "../../../../secret.jsonl", "~/secret.jsonl", "secret.jsonl", "file:///secret.jsonl", "a\\b", "..", "."} {
		w := newWorld(t)
		content := bytes.Replace(conversation(3), []byte(headerID), []byte(strings.ReplaceAll(id, `\`, `\\`)), 1)
		p := w.publish(content, 1<<20)
		m := at(afero.NewMemMapFs(), w.kim)
		secret := bytes.Replace(conversation(1), []byte(headerID), []byte(strings.ReplaceAll(id, `\`, `\\`)), 1)
		for _, path := range []string{"/secret.jsonl", cwd + "/secret.jsonl", "/home/kim/secret.jsonl"} {
			require.NoError(t, afero.WriteFile(m.fs, path, secret, 0o600))
		}
		path, err := m.pull(t, p.sid)
		require.NoError(t, err, id)
		requirePulled(t, m.fs, path, p)
		for _, path := range []string{"/secret.jsonl", cwd + "/secret.jsonl", "/home/kim/secret.jsonl"} {
			content, err := afero.ReadFile(m.fs, path)
			require.NoError(t, err)
			require.Equal(t, string(secret), string(content), id)
		}
	}
}
