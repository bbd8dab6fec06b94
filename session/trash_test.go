package session_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/session/sessiontest"
)

const (
	zedAgent  = "/home/zed/.xcsh/agent"
	zedTrash  = zedAgent + "/trash"
	movedFrom = sessionsRoot + "/--home-zed-p--/2026-01-01T00-00-00-000Z_0123456789abcdef.jsonl"
)

// rooted is a store over the roots of a person called zed, who uses pi too.
func rooted(fs afero.Fs, seed int64) (*session.Store, session.Finder) {
	f := newFinder(fs)
	f.Roots = append(f.Roots, session.Root{Places: session.AgentPlaces("/home/zed/.pi/agent"), Dialect: session.Pi})
	now := func() time.Time { return noon }
	return session.NewStore(session.StoreConfig{
		Fs: fs, Now: now, IDs: session.NewIDs(now, rand.New(rand.NewSource(seed))), DirFor: f.DirFor, RootFor: f.FileRoot,
	}), f
}

// shelve files a session of /home/zed/p with artifacts.
func shelve(t *testing.T, fs afero.Fs) {
	t.Helper()
	put(t, fs, movedFrom, chat("0123456789abcdef", "/home/zed/p", "one", "two")+"damaged\n")
	artifacts := strings.TrimSuffix(movedFrom, ".jsonl")
	put(t, fs, artifacts+"/0.bash.log", "output")
	put(t, fs, artifacts+"/Sub/Sub.jsonl", "{}")
	require.NoError(t, fs.MkdirAll("/home/zed/p", 0o700))
	require.NoError(t, fs.MkdirAll("/home/zed/q", 0o700))
}

// holdings returns the content of every file and the names of every directory, but for
// locks, which who comes next takes over.
func holdings(t *testing.T, fsys afero.Fs) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, afero.Walk(fsys, "/", func(path string, info fs.FileInfo, err error) error {
		switch {
		case err != nil:
			return err
		case info.IsDir():
			all[filepath.ToSlash(path)+"/"] = ""
		case !strings.HasSuffix(path, ".lock"):
			all[filepath.ToSlash(path)] = content(t, fsys, path)
		}
		return nil
	}))
	return all
}

// devices is storage in which Apart is on a file system of its own, and in which
// something may happen right before a rename or a removal.
type devices struct {
	afero.Fs
	apart  string
	before func(op, path string)
}

func (d devices) Rename(from, to string) error {
	d.tell("rename", from)
	if d.apart != "" && strings.HasPrefix(from, d.apart) != strings.HasPrefix(to, d.apart) {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.EXDEV}
	}
	return d.Fs.Rename(from, to)
}

func (d devices) Remove(path string) error {
	d.tell("remove", path)
	return d.Fs.Remove(path)
}

func (d devices) tell(op, path string) {
	if d.before != nil {
		d.before(op, path)
	}
}

func TestTrashAndBack(t *testing.T) {
	t.Parallel()
	for _, apart := range []string{"", zedTrash} {
		st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
			shelve(t, fs)
			before, was := holdings(t, fs), content(t, fs, movedFrom)
			stat, err := fs.Stat(movedFrom)
			require.NoError(t, err)
			modified := stat.ModTime()
			s, f := rooted(devices{Fs: fs, apart: apart}, 1)

			trashed, err := s.Trash(movedFrom)
			require.NoError(t, err)
			require.Equal(t, zedTrash, filepath.ToSlash(filepath.Dir(trashed)))
			require.Regexp(t, `^[0-9a-f]{16}$`, filepath.Base(trashed))
			require.Equal(t, was, content(t, fs, trashed+"/session.jsonl"))
			require.Equal(t, "output", content(t, fs, trashed+"/session/0.bash.log"))
			require.Equal(t, "{}", content(t, fs, trashed+"/session/Sub/Sub.jsonl"))
			require.Equal(t, `{"path":"`+movedFrom+`","artifacts":"`+strings.TrimSuffix(movedFrom, ".jsonl")+
				`","trashedAt":"2026-11-20T12:00:00.000Z","sessionId":"0123456789abcdef"}`+"\n", content(t, fs, trashed+"/trashed.json"))
			require.Empty(t, listedAll(t, f))
			for path := range holdings(t, fs) {
				require.NotContains(t, path, "0123456789abcdef", "nothing is left where it was")
			}

			path, err := s.Untrash(trashed)
			require.NoError(t, err)
			require.Equal(t, movedFrom, filepath.ToSlash(path))
			after := holdings(t, fs)
			require.Contains(t, after, zedTrash+"/")
			delete(after, zedTrash+"/")
			require.Equal(t, before, after)
			stat, err = fs.Stat(movedFrom)
			require.NoError(t, err)
			require.WithinDuration(t, modified, stat.ModTime(), 0, "lists keep their order")
		})
	}
}

func TestTheTrashIsPrivate(t *testing.T) {
	t.Parallel()
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	shelve(t, fs)
	s, _ := rooted(fs, 1)
	trashed, err := s.Trash(movedFrom)
	require.NoError(t, err)
	for path, want := range map[string]os.FileMode{zedTrash: 0o700, trashed: 0o700, trashed + "/trashed.json": 0o600} {
		info, err := fs.Stat(path)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), path)
	}
}

// TestTrashSurvivesEveryFault fails each step of throwing away and of taking back.
func TestTrashSurvivesEveryFault(t *testing.T) {
	t.Parallel()
	for where, apart := range map[string]string{"renamed": "", "copied": zedTrash} {
		for mode, how := range []string{"once", "dead", "short"} {
			for _, reads := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s reads=%v", where, how, reads), func(t *testing.T) {
					t.Parallel()
					at := 1
					for ; trashSurvives(t, apart, &st.FaultFs{At: at, Mode: st.Mode(mode), Reads: reads}, false); at++ {
					}
					require.Greater(t, at, 5)
					for at = 1; trashSurvives(t, apart, &st.FaultFs{At: at, Mode: st.Mode(mode), Reads: reads}, true); at++ {
					}
					require.Greater(t, at, 5)
				})
			}
		}
	}
}

// trashSurvives has one fault while a session is thrown away, or while it is taken
// back, and then takes it back, if it is gone, with storage that works. It reports
// whether the fault was reached.
func trashSurvives(t *testing.T, apart string, broken *st.FaultFs, takingBack bool) bool {
	t.Helper()
	base := afero.NewMemMapFs()
	shelve(t, base)
	require.NoError(t, base.MkdirAll(zedTrash, 0o700))
	healthy, _ := rooted(devices{Fs: base, apart: apart}, 2)
	before := holdings(t, base)
	trashed := ""
	if takingBack {
		var err error
		trashed, err = healthy.Trash(movedFrom)
		require.NoError(t, err)
	}
	start := holdings(t, base)
	broken.Fs = devices{Fs: base, apart: apart}
	at, mode := broken.At, broken.Mode
	s, _ := rooted(broken, 1)
	var err error
	if takingBack {
		_, err = s.Untrash(trashed)
	} else {
		_, err = s.Trash(movedFrom)
	}
	if err != nil && mode != st.Dead {
		require.Equal(t, start, holdings(t, base), "fault %d: an error means that nothing happened", at)
	}
	// Half a second later a lock that names nobody is nobody's.
	_ = base.Remove(filepath.Dir(movedFrom) + "/." + filepath.Base(movedFrom) + ".lock")
	if _, gone := base.Stat(movedFrom); gone != nil {
		dirs, err := afero.Glob(base, zedTrash+"/*/session.jsonl")
		require.NoError(t, err)
		require.Len(t, dirs, 1, "fault %d", at)
		_, err = healthy.Untrash(filepath.Dir(dirs[0]))
		require.NoError(t, err, "fault %d", at)
	}
	after := holdings(t, base)
	for path, want := range before {
		require.Contains(t, after, path, "fault %d", at)
		require.Equal(t, want, after[path], "fault %d", at)
	}
	if mode != st.Dead && err != nil && !takingBack {
		require.Equal(t, slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)), "fault %d", at)
	}
	return broken.Fired()
}

func TestAFileThatChangesIsNotTrashed(t *testing.T) {
	t.Parallel()
	// Renaming is tried once; after that it is copied, and set aside by a second one.
	for when, apart := range []string{"", zedTrash, zedTrash} {
		for name, change := range map[string]func(t *testing.T, fs afero.Fs){
			"another file": func(t *testing.T, fs afero.Fs) {
				put(t, fs, movedFrom+".new", "another")
				require.NoError(t, fs.Rename(movedFrom+".new", movedFrom))
			},
			"more in it": func(t *testing.T, fs afero.Fs) {
				put(t, fs, movedFrom, content(t, fs, movedFrom)+"{}\n")
			},
		} {
			t.Run(fmt.Sprint(name, when), func(t *testing.T) {
				t.Parallel()
				st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
					shelve(t, fs)
					renames := 0
					var after map[string]string
					s, _ := rooted(devices{Fs: fs, apart: apart, before: func(op, path string) {
						if op != "rename" || path != movedFrom {
							return
						}
						if renames++; renames == max(when, 1) {
							change(t, fs)
							after = holdings(t, fs)
						}
					}}, 1)
					_, err := s.Trash(movedFrom)
					require.Equal(t, fault.Stale, fault.KindOf(err))
					require.Equal(t, after[movedFrom], content(t, fs, movedFrom))
					require.NotContains(t, holdings(t, fs), zedTrash+"/")
				})
			})
		}
	}
}

func TestWhatIsTrashedNeedNotBeReadable(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "no header": "hello\n", "newer": strings.Replace(conversation(), `"version":3`, `"version":9`, 1),
		"an id that leads away": st.File(st.Header("../../../../etc/passwd", "/w")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				put(t, fs, movedFrom, text)
				before := holdings(t, fs)
				s, _ := rooted(fs, 1)
				trashed, err := s.Trash(movedFrom)
				require.NoError(t, err)
				for path := range holdings(t, fs) {
					require.True(t, strings.HasPrefix(zedAgent, strings.TrimSuffix(path, "/")) || strings.HasPrefix(path, zedAgent), path)
				}
				_, err = s.Untrash(trashed)
				require.NoError(t, err)
				require.NoError(t, fs.Remove(zedTrash))
				require.Equal(t, before, holdings(t, fs))
			})
		})
	}
}

func TestSessionsOfOneNameDoNotMeetInTheTrash(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		old, current := sessionsRoot+"/--home-zed-p--/a.jsonl", sessionsRoot+"/-p/a.jsonl"
		pi, outside := "/home/zed/.pi/agent/sessions/--home-zed-p--/a.jsonl", "/home/zed/a.jsonl"
		where := map[string]string{old: zedTrash, current: zedTrash, pi: "/home/zed/.pi/agent/trash", outside: zedTrash}
		for path := range where {
			put(t, fs, path, chat("1", "/home/zed/p", path))
		}
		before := holdings(t, fs)
		s, _ := rooted(fs, 1)
		var trashed []string
		for path, trash := range where {
			dir, err := s.Trash(path)
			require.NoError(t, err)
			require.Equal(t, trash, filepath.ToSlash(filepath.Dir(dir)), path)
			trashed = append(trashed, dir)
		}
		for _, dir := range trashed {
			_, err := s.Untrash(dir)
			require.NoError(t, err)
		}
		after := holdings(t, fs)
		maps.DeleteFunc(after, func(path, _ string) bool { return strings.HasSuffix(path, "/trash/") })
		require.Equal(t, before, after)
	})
}

func TestOnlyFilesAreTrashed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fs := afero.NewOsFs()
	file, link := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	put(t, fs, file, conversation())
	require.NoError(t, os.Symlink(file, link))
	s, _ := rooted(fs, 1)
	for path, kind := range map[string]fault.Kind{dir: fault.IO, link: fault.IO, filepath.Join(dir, "none.jsonl"): fault.NotFound} {
		_, err := s.Trash(path)
		require.Equal(t, kind, fault.KindOf(err), path)
	}
	require.Equal(t, conversation(), content(t, fs, link))
	put(t, fs, filepath.Join(dir, "notes.jsonl"), "{}\n")
	_, err := s.Trash(filepath.Join(dir, "notes.jsonl"))
	require.Equal(t, fault.Damaged, fault.KindOf(err), "not a session, and not where sessions are")
	_, err = newStore(fs).Trash(file)
	require.Equal(t, fault.Internal, fault.KindOf(err), "without roots there is no trash")
}

func TestUntrashRefuses(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		shelve(t, fs)
		s, _ := rooted(fs, 1)
		trashed, err := s.Trash(movedFrom)
		require.NoError(t, err)
		record := content(t, fs, trashed+"/trashed.json")
		planted := "/home/zed/p/trash/0123456789abcdef"
		put(t, fs, planted+"/trashed.json", record)
		put(t, fs, planted+"/session.jsonl", "planted")
		odd := func(name, record string) string {
			put(t, fs, zedTrash+"/"+name+"/trashed.json", record)
			put(t, fs, zedTrash+"/"+name+"/session.jsonl", "odd")
			return zedTrash + "/" + name
		}
		before := holdings(t, fs)
		for path, kind := range map[string]fault.Kind{
			planted:                        fault.OutsideRoot,
			zedTrash:                       fault.OutsideRoot,
			trashed + "/..":                fault.OutsideRoot,
			trashed + "/session.jsonl":     fault.OutsideRoot,
			filepath.Base(trashed):         fault.NotFound,
			"":                             fault.OutsideRoot,
			"/":                            fault.OutsideRoot,
			zedTrash + "/ffffffffffffffff": fault.NotFound,
			trashed + "/../../../../p/trash/0123456789abcdef": fault.OutsideRoot,
		} {
			_, err := s.Untrash(path)
			require.Equal(t, kind, fault.KindOf(err), path)
		}
		require.Equal(t, before, holdings(t, fs))
		for i, text := range []string{
			`{`, `{"path":"x.jsonl"}`, `{"path":"/home/zed/../zed/x.jsonl"}`, `{"path":"/home/zed/.pi/agent/sessions/x.jsonl"}`, `{}`,
		} {
			_, err := s.Untrash(odd("000000000000000"+string(rune('0'+i)), text))
			require.Equal(t, fault.OutsideRoot, fault.KindOf(err), text)
		}

		put(t, fs, movedFrom, "somebody else's")
		_, err = s.Untrash(trashed)
		require.Equal(t, fault.FileExists, fault.KindOf(err))
		require.NoError(t, fs.Remove(movedFrom))
		put(t, fs, strings.TrimSuffix(movedFrom, ".jsonl")+"/1.bash.log", "somebody else's")
		_, err = s.Untrash(trashed)
		require.Equal(t, fault.FileExists, fault.KindOf(err))
		require.Equal(t, record, content(t, fs, trashed+"/trashed.json"))
		require.Equal(t, "output", content(t, fs, trashed+"/session/0.bash.log"))
		_, err = fs.Stat(movedFrom)
		require.ErrorIs(t, err, os.ErrNotExist)
	})
}

func TestUntrashMakesTheDirectoryAnew(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		put(t, fs, movedFrom, conversation())
		s, _ := rooted(fs, 1)
		trashed, err := s.Trash(movedFrom)
		require.NoError(t, err)
		require.NoError(t, fs.RemoveAll(sessionsRoot))
		_, err = s.Untrash(trashed)
		require.NoError(t, err)
		require.Equal(t, conversation(), content(t, fs, movedFrom))
		_, err = s.Untrash(trashed)
		require.Equal(t, fault.NotFound, fault.KindOf(err), "once")
	})
}

// headerOf is the first line of a file that has a header there.
func headerOf(t *testing.T, fs afero.Fs, path string) string {
	t.Helper()
	line, _, _ := strings.Cut(content(t, fs, path), "\n")
	require.True(t, rawjson.Valid([]byte(line)), line)
	return line
}
