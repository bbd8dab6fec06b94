//go:build linux

package session_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// envHostile makes a process of this test binary run one of hostileParts.
const envHostile = "XCSH_HOSTILE_PART"

// hostileParts need a process of their own, because they change what the system allows the
// process to do.
var hostileParts = map[string]func(t *testing.T){
	"full disk":      diskWithoutSpace,
	"read-only disk": readOnlyDisk,
	"size limit":     sizeLimit,
	"other user":     otherUser,
}

// TestHostileChild is the entry point of such a process.
func TestHostileChild(t *testing.T) {
	if part, ok := hostileParts[os.Getenv(envHostile)]; ok {
		part(t)
	}
}

// hostile runs a part in a process of its own.
func hostile(t *testing.T, part string, attr *syscall.SysProcAttr) error {
	t.Helper()
	c := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestHostileChild$", "-test.v")
	c.Env = append(os.Environ(), envHostile+"="+part)
	c.SysProcAttr = attr
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("%s: %v\n%s", part, err, out)
	}
	if err == nil {
		require.Contains(t, string(out), "--- PASS: TestHostileChild")
		t.Log(string(out))
	}
	return err
}

// ownMounts allows a process to mount; outside a namespace of its own only root may.
func ownMounts() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
}

// Proves: F-02, F-21, AB-085
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	if err := hostile(t, "full disk", ownMounts()); err != nil {
		t.Skip("the kernel gives no namespace of its own; TestAWriteCutShort proves the same with a limit:", err)
	}
}

// Proves: F-12
func TestAReadOnlyDisk(t *testing.T) {
	t.Parallel()
	if err := hostile(t, "read-only disk", ownMounts()); err != nil {
		t.Skip("the kernel gives no namespace of its own; TestAnotherUser proves the same with a directory:", err)
	}
}

// Proves: F-02
func TestAWriteCutShort(t *testing.T) {
	t.Parallel()
	require.NoError(t, hostile(t, "size limit", nil))
}

// Proves: F-12
func TestAnotherUser(t *testing.T) {
	t.Parallel()
	require.NoError(t, hostile(t, "other user", nil))
}

// grudge is a session on a disk that refuses operations.
type grudge struct {
	t     *testing.T
	dir   string
	path  string
	s     *session.Store
	log   *session.Log
	tried []string
}

func newGrudge(t *testing.T, dir string) *grudge {
	t.Helper()
	g := &grudge{t: t, dir: dir, path: filepath.Join(dir, filepath.Base(kit.Filed))}
	require.NoError(t, os.WriteFile(g.path, []byte(kit.Conversation()), 0o600))
	g.s = session.NewStore(session.StoreConfig{
		Fs: afero.NewOsFs(), DirFor: func(string) (string, error) { return dir, nil }, RealPath: filepath.EvalSymlinks,
		RootFor: func(string) (session.FileRoot, bool) { return session.FileRoot{Blobs: dir + "/blobs"}, true },
	})
	var err error
	g.log, err = g.s.Open(g.path)
	require.NoError(t, err)
	return g
}

// append appends and returns the error, which must be the latched one.
func (g *grudge) append(d *session.Draft) error {
	g.t.Helper()
	id, err := g.log.Append(d)
	require.NotEmpty(g.t, id)
	g.tried = append(g.tried, id)
	require.Equal(g.t, err, g.log.Err())
	return err
}

// refused requires an error with a message for the user, and a file without an incomplete
// line.
func (g *grudge) refused(kind fault.Kind, err error) {
	g.t.Helper()
	require.Error(g.t, err)
	require.Equal(g.t, kind, fault.KindOf(err), "%v", err)
	kit.RequireSentence(g.t, err)
	doc, loadErr := session.Load(afero.NewOsFs(), g.path)
	require.NoError(g.t, loadErr)
	require.Empty(g.t, doc.Problems(), "after: %v", err)
	require.NoError(g.t, doc.Close())
}

// relieved requires that everything is written in order once the fault is gone.
func (g *grudge) relieved() {
	g.t.Helper()
	require.NoError(g.t, g.log.Flush())
	require.NoError(g.t, g.log.Err())
	id, err := g.log.Append(kit.Say("assistant", "relieved"))
	require.NoError(g.t, err)
	g.tried = append(g.tried, id)
	require.NoError(g.t, g.log.Close())
	doc, err := session.Load(afero.NewOsFs(), g.path)
	require.NoError(g.t, err)
	require.Empty(g.t, doc.Problems())
	var got []string
	for i := range doc.Len() {
		if !doc.Hidden(i) { // the copy of a title
			got = append(got, doc.ID(i))
		}
	}
	require.Equal(g.t, g.tried, got[2:])
	require.NoError(g.t, doc.Close())
	left, err := os.ReadDir(g.dir)
	require.NoError(g.t, err)
	for _, e := range left {
		require.False(g.t, strings.HasPrefix(e.Name(), "."), e.Name())
	}
}

// mount mounts an empty disk of the given size.
func mount(t *testing.T, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=700,size="+size))
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// stuff fills the disk except for n pages.
func stuff(t *testing.T, dir string, pages int) (ballast string) {
	t.Helper()
	ballast = filepath.Join(dir, "ballast")
	f, err := os.Create(ballast)
	require.NoError(t, err)
	n := int64(0)
	for page := make([]byte, os.Getpagesize()); err == nil; n++ {
		_, err = f.Write(page)
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, f.Truncate(max(0, n-1-int64(pages))*int64(os.Getpagesize())))
	require.NoError(t, f.Close())
	return ballast
}

// diskWithoutSpace runs every write operation on a disk without space.
func diskWithoutSpace(t *testing.T) {
	for _, pages := range []int{0, 1, 2} {
		t.Run(fmt.Sprint("append with pages left ", pages), func(t *testing.T) {
			dir := mount(t, "1m")
			g := newGrudge(t, dir)
			require.NoError(t, g.append(kit.Say("user", "one before")))
			ballast := stuff(t, dir, pages)
			var err error
			for i := 0; err == nil; i++ {
				require.Less(t, i, 100)
				err = g.append(kit.Say("user", strings.Repeat("x", 700)))
			}
			g.refused(fault.NoSpace, err)
			g.refused(fault.NoSpace, g.append(kit.Say("assistant", strings.Repeat("y", 9000))))
			g.refused(fault.NoSpace, g.log.Flush())
			require.NoError(t, os.Remove(ballast))
			g.relieved()
		})
		t.Run(fmt.Sprint("the rest with pages left ", pages), func(t *testing.T) {
			dir := mount(t, "1m")
			g := newGrudge(t, dir)
			image := imageMessage(base64.StdEncoding.EncodeToString(make([]byte, 30_000)))
			fresh, err := g.s.Create("/w", session.NewOptions{})
			require.NoError(t, err)
			_, err = fresh.Append(kit.Say("user", strings.Repeat("z", 20_000)))
			require.NoError(t, err)
			require.NoError(t, g.append(kit.Say("user", strings.Repeat("more than the pages that are left ", 500))))
			ballast := stuff(t, dir, pages)
			before, err := os.ReadFile(g.path)
			require.NoError(t, err)

			_, err = g.log.SetTitle(session.Title{Text: "T"})
			g.refused(fault.NoSpace, err)
			_, err = g.s.Fork(g.log)
			g.refused(fault.NoSpace, err)
			_, err = fresh.Append(kit.Say("assistant", "first"))
			g.refused(fault.NoSpace, err)
			require.NoFileExists(t, fresh.Path())
			_, err = g.s.Salvage(g.path, filepath.Join(dir, "out.jsonl"), "/w")
			g.refused(fault.NoSpace, err)
			require.NoFileExists(t, filepath.Join(dir, "out.jsonl"))
			err = g.s.WriteFile(filepath.Join(dir, "out.html"), false, func(w io.Writer) error {
				_, err := w.Write(make([]byte, 20_000))
				return err
			})
			g.refused(fault.NoSpace, err)
			require.NoFileExists(t, filepath.Join(dir, "out.html"))
			after, err := os.ReadFile(g.path)
			require.NoError(t, err)
			require.Equal(t, string(before), string(after))
			g.refused(fault.NoSpace, g.append(image))

			require.NoError(t, os.Remove(ballast))
			require.NoError(t, fresh.Close())
			require.FileExists(t, fresh.Path())
			changed, err := g.log.SetTitle(session.Title{Text: "T"})
			require.NoError(t, err)
			require.True(t, changed)
			g.relieved()
		})
	}
}

// readOnlyDisk writes to a disk that became read-only, as disks do after an error.
func readOnlyDisk(t *testing.T) {
	dir := mount(t, "1m")
	g := newGrudge(t, dir)
	require.NoError(t, g.append(kit.Say("user", "before")))
	require.Eventually(t, func() bool { // a file open for writing prevents a read-only remount
		return syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "") == nil
	}, 10*time.Second, time.Millisecond)
	g.refused(fault.ReadOnly, g.append(kit.Say("user", "one")))
	g.refused(fault.ReadOnly, g.append(kit.Say("assistant", "two")))
	_, err := g.log.SetTitle(session.Title{Text: "T"})
	g.refused(fault.ReadOnly, err)
	_, err = g.s.Fork(g.log)
	g.refused(fault.ReadOnly, err)
	g.refused(fault.ReadOnly, g.log.Flush())
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, ""))
	g.relieved()
}

// sizeLimit cuts a write short at each of its bytes.
func sizeLimit(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	limit := func(n int64) {
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(n), Max: was.Max}))
	}
	defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was) }()
	line := int64(len(st.User("01234567", "01234567", "cut")))
	for _, appended := range []bool{true, false} {
		for cut := int64(0); cut <= line; cut++ {
			g := newGrudge(t, t.TempDir())
			if appended {
				require.NoError(t, g.append(kit.Say("user", "one before")))
			}
			info, err := os.Stat(g.path)
			require.NoError(t, err)
			limit(info.Size() + cut)
			err = g.append(kit.Say("user", "cut"))
			require.ErrorIs(t, err, syscall.EFBIG, "cut at %d", cut)
			g.refused(fault.IO, err)
			after, err := os.Stat(g.path)
			require.NoError(t, err)
			require.Equal(t, info.Size(), after.Size(), "half a line is taken back")
			limit(int64(was.Cur))
			g.relieved()
		}
	}
}

// otherUser is refused by permissions.
func otherUser(t *testing.T) {
	dir := t.TempDir()
	if os.Getuid() == 0 { // root ignores permissions
		const nobody = 65534
		for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
			require.NoError(t, os.Chown(at, nobody, nobody))
		}
		require.NoError(t, syscall.Setgroups(nil))
		require.NoError(t, syscall.Setgid(nobody))
		require.NoError(t, syscall.Setuid(nobody))
	}
	for name, c := range map[string]struct {
		path func(g *grudge) string
		mode os.FileMode
	}{
		"a directory that may not be written": {func(g *grudge) string { return g.dir }, 0o500},
		"a file that may not be written":      {func(g *grudge) string { return g.path }, 0o400},
	} {
		t.Run(name, func(t *testing.T) {
			at := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
			require.NoError(t, os.Mkdir(at, 0o700))
			g := newGrudge(t, at)
			info, err := os.Stat(c.path(g))
			require.NoError(t, err)
			require.NoError(t, os.Chmod(c.path(g), c.mode))
			g.refused(fault.ReadOnly, g.append(kit.Say("user", "one")))
			g.refused(fault.ReadOnly, g.append(kit.Say("assistant", "two")))
			g.refused(fault.ReadOnly, g.log.Flush())
			if c.path(g) == g.dir {
				_, err := g.log.SetTitle(session.Title{Text: "T"})
				g.refused(fault.ReadOnly, err)
				_, err = g.s.Fork(g.log)
				g.refused(fault.ReadOnly, err)
			}
			require.NoError(t, os.Chmod(c.path(g), info.Mode().Perm()))
			g.relieved()
		})
	}
	t.Run("a file that may not be read", func(t *testing.T) {
		path := filepath.Join(dir, "secret.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o200))
		_, err := kit.StoreIn(afero.NewOsFs(), dir, nil).Open(path)
		require.Equal(t, fault.IO, fault.KindOf(err))
		kit.RequireSentence(t, err)
		require.ErrorContains(t, err, path)
	})
}

// A session is written to the target of its links, and the links stay.
// Proves: F-23
func TestLinkedSessions(t *testing.T) {
	t.Parallel()
	for _, link := range []string{"the file", "the directory", "a link to a link"} {
		t.Run(link, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			dir := filepath.Join(top, "real")
			require.NoError(t, os.Mkdir(dir, 0o700))
			g := newGrudge(t, dir)
			path := filepath.Join(top, "link.jsonl")
			switch link {
			case "the directory":
				require.NoError(t, os.Symlink(dir, filepath.Join(top, "linked")))
				path = filepath.Join(top, "linked", filepath.Base(g.path))
			case "the file":
				require.NoError(t, os.Symlink(g.path, path))
			default:
				require.NoError(t, os.Symlink(g.path, path+".2"))
				require.NoError(t, os.Symlink(filepath.Base(path)+".2", path))
			}
			var err error
			g.log, err = g.s.Open(path)
			require.NoError(t, err)
			require.NoError(t, g.append(kit.Say("user", "one")))
			lock := filepath.Join(dir, "."+filepath.Base(g.path)+".lock") // of a program that opened the file itself
			require.NoError(t, os.WriteFile(lock, fmt.Appendf(nil, "%d:%d", os.Getppid(), time.Now().UnixMilli()), 0o600))
			require.Equal(t, fault.Busy, fault.KindOf(g.append(kit.Say("user", "kept out at first"))))
			require.NoError(t, os.Remove(lock))
			changed, err := g.log.SetTitle(session.Title{Text: "T"})
			require.NoError(t, err)
			require.True(t, changed)
			require.NoError(t, g.append(kit.Say("user", "two")))
			info, err := os.Lstat(path)
			require.NoError(t, err)
			require.Equal(t, link != "the directory", info.Mode()&os.ModeSymlink != 0)
			g.relieved()
		})
	}
}

// When a link is redirected to another copy between two appends, the session follows it.
// Proves: F-23
func TestALinkThatIsTurned(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	path := filepath.Join(top, "link.jsonl")
	turn := func(to string) {
		t.Helper()
		require.NoError(t, os.Symlink(to, path+".new"))
		require.NoError(t, os.Rename(path+".new", path))
	}
	var logs [2]*grudge
	for i := range logs {
		dir := filepath.Join(top, fmt.Sprint(i))
		require.NoError(t, os.Mkdir(dir, 0o700))
		logs[i] = newGrudge(t, dir)
	}
	turn(logs[0].path)
	l, err := logs[0].s.Open(path)
	require.NoError(t, err)
	var ids []string
	for i := range 6 {
		id, err := l.Append(kit.Say("user", fmt.Sprint(i)))
		require.NoError(t, err)
		ids = append(ids, id)
		turn(logs[i%2].path)
	}
	require.NoError(t, l.Close())
	for _, g := range logs {
		left, err := os.ReadDir(g.dir)
		require.NoError(t, err)
		require.Len(t, left, 1, "no lock stays")
	}
	for id, n := range idCounts(t, path) {
		require.Equal(t, 1, n, id)
	}
	doc, err := session.Load(afero.NewOsFs(), path)
	require.NoError(t, err)
	for _, id := range ids {
		_, err := doc.Index(id)
		require.NoError(t, err)
	}
}

// Names may hold anything but a slash and a NUL.
// Proves: F-37
func TestOddNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"two\nlines", `"quoted" 'twice' \ and $(touch x)`, "bytes \xff\xfe that are no text", "\x1b[31mred", "\u009b31mred", "-rf", " "} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), name)
			s := kit.StoreIn(afero.NewOsFs(), dir, nil)
			l, err := s.Create(dir, session.NewOptions{})
			require.NoError(t, err)
			ids := []string{kit.MustAppend(t, l, kit.Say("user", "one")), kit.MustAppend(t, l, kit.Say("assistant", "two")), kit.MustAppend(t, l, kit.Say("user", "three"))}
			_, err = l.SetTitle(session.Title{Text: name + "x"})
			require.NoError(t, err)
			fork, err := s.Fork(l)
			require.NoError(t, err)
			require.NoError(t, errors.Join(l.Close(), fork.Close()))
			require.Equal(t, 5, strings.Count(kit.Content(t, s.Fs, l.Path()), "\n"), "a header, three lines and the title")
			for _, path := range []string{l.Path(), fork.Path()} {
				doc, err := s.Load(path)
				require.NoError(t, err)
				require.Empty(t, doc.Problems())
				require.NotEmpty(t, doc.Title().Text)
				require.False(t, strings.ContainsFunc(doc.Title().Text, unicode.IsControl))
				require.Equal(t, strings.ToValidUTF8(dir, "\uFFFD"), strings.ReplaceAll(doc.Header().Cwd, "\uFFFD\uFFFD", "\uFFFD"))
				for i, id := range ids {
					require.Equal(t, id, doc.ID(i))
				}
			}
			_, err = s.Open(filepath.Join(dir, "missing.jsonl"))
			require.Equal(t, fault.NotFound, fault.KindOf(err))
			kit.RequireSentence(t, err)
			_, err = s.CreateAt(l.Path(), dir)
			require.Equal(t, fault.FileExists, fault.KindOf(err))
			kit.RequireSentence(t, err)
		})
	}
}

func TestLongNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := kit.StoreIn(afero.NewOsFs(), filepath.Join(dir, strings.Repeat("d", 300)), nil)
	l, err := s.Create("/w", session.NewOptions{})
	require.NoError(t, err)
	_, err = l.Append(kit.Say("assistant", "one"))
	require.ErrorIs(t, err, syscall.ENAMETOOLONG)
	require.Equal(t, fault.IO, fault.KindOf(err))
	kit.RequireSentence(t, err)
	_, err = s.Open(filepath.Join(dir, strings.Repeat("a/", 3000)+"x.jsonl"))
	require.Equal(t, fault.IO, fault.KindOf(err))
	_, err = s.CreateAt(filepath.Join(dir, strings.Repeat("e", 300)+".jsonl"), "/w")
	require.Equal(t, fault.IO, fault.KindOf(err))
	kit.RequireSentence(t, err)

	// A name so long that its lock's name is invalid, so the lock can never be taken.
	path := filepath.Join(dir, strings.Repeat("f", 249)+".jsonl")
	require.NoError(t, os.WriteFile(path, []byte(kit.Conversation()), 0o600))
	l, err = s.Open(path)
	require.NoError(t, err)
	ids := []string{kit.MustAppend(t, l, kit.Say("user", "x")), kit.MustAppend(t, l, kit.Say("assistant", "y"))}
	_, err = l.SetTitle(session.Title{Text: "T"})
	require.Equal(t, fault.IO, fault.KindOf(err), "nor is there room for a new file beside it")
	kit.RequireSentence(t, err)
	require.NoError(t, l.Close())
	for _, id := range ids {
		require.Equal(t, 1, idCounts(t, path)[id])
	}
}
