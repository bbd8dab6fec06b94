package upkeep_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

// shelve files a session of /home/zed/p with artifacts.
func shelve(t *testing.T, fs afero.Fs) {
	t.Helper()
	kit.Put(t, fs, kit.MovedFrom, kit.Chat("0123456789abcdef", "/home/zed/p", "one", "two")+"damaged\n")
	artifacts := strings.TrimSuffix(kit.MovedFrom, ".jsonl")
	kit.Put(t, fs, artifacts+"/0.bash.log", "output")
	kit.Put(t, fs, artifacts+"/Sub/Sub.jsonl", "{}")
	require.NoError(t, fs.MkdirAll("/home/zed/p", 0o700))
	require.NoError(t, fs.MkdirAll("/home/zed/q", 0o700))
}

// holdings returns the content of every file and the names of every directory, except for
// locks, which the next process takes over.
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
			all[filepath.ToSlash(path)] = kit.Content(t, fsys, path)
		}
		return nil
	}))
	return all
}

// devices is storage in which Apart is on a file system of its own, and in which a
// function can run right before a rename or a removal.
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

// Proves: X-190 (moves to the trash), F-04, AB-051
func TestTrashAndBack(t *testing.T) {
	t.Parallel()
	for _, apart := range []string{"", kit.ZedTrash} {
		st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
			shelve(t, fs)
			before, was := holdings(t, fs), kit.Content(t, fs, kit.MovedFrom)
			stat, err := fs.Stat(kit.MovedFrom)
			require.NoError(t, err)
			modified := stat.ModTime()
			s, f := kit.Rooted(devices{Fs: fs, apart: apart}, 1)

			trashed, err := upkeep.Trash(s, kit.MovedFrom)
			require.NoError(t, err)
			require.Equal(t, kit.ZedTrash, filepath.ToSlash(filepath.Dir(trashed)))
			require.Regexp(t, `^[0-9a-f]{16}$`, filepath.Base(trashed))
			require.Equal(t, was, kit.Content(t, fs, trashed+"/session.jsonl"))
			require.Equal(t, "output", kit.Content(t, fs, trashed+"/session/0.bash.log"))
			require.Equal(t, "{}", kit.Content(t, fs, trashed+"/session/Sub/Sub.jsonl"))
			require.Equal(t, `{"path":"`+kit.MovedFrom+`","artifacts":"`+strings.TrimSuffix(kit.MovedFrom, ".jsonl")+
				`","trashedAt":"2026-11-20T12:00:00.000Z","sessionId":"0123456789abcdef"}`+"\n", kit.Content(t, fs, trashed+"/trashed.json"))
			require.Empty(t, kit.ListedAll(t, f))
			for path := range holdings(t, fs) {
				require.NotContains(t, path, "0123456789abcdef", "nothing is left where it was")
			}

			path, err := upkeep.Untrash(s, trashed)
			require.NoError(t, err)
			require.Equal(t, kit.MovedFrom, filepath.ToSlash(path))
			after := holdings(t, fs)
			require.Contains(t, after, kit.ZedTrash+"/")
			delete(after, kit.ZedTrash+"/")
			require.Equal(t, before, after)
			stat, err = fs.Stat(kit.MovedFrom)
			require.NoError(t, err)
			require.WithinDuration(t, modified, stat.ModTime(), 0, "lists keep their order")
		})
	}
}

// Proves: AB-086
func TestTheTrashIsPrivate(t *testing.T) {
	t.Parallel()
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	shelve(t, fs)
	s, _ := kit.Rooted(fs, 1)
	trashed, err := upkeep.Trash(s, kit.MovedFrom)
	require.NoError(t, err)
	for path, want := range map[string]os.FileMode{kit.ZedTrash: 0o700, trashed: 0o700, trashed + "/trashed.json": 0o600} {
		info, err := fs.Stat(path)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), path)
	}
}

// TestTrashSurvivesEveryFault fails each step of throwing away and of taking back.
func TestTrashSurvivesEveryFault(t *testing.T) {
	t.Parallel()
	for where, apart := range map[string]string{"renamed": "", "copied": kit.ZedTrash} {
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

// trashSurvives has one fault while a session is moved to the trash, or while it is
// restored, and then restores it, if it is gone, with storage that works. It reports
// whether the fault was reached.
func trashSurvives(t *testing.T, apart string, broken *st.FaultFs, takingBack bool) bool {
	t.Helper()
	base := afero.NewMemMapFs()
	shelve(t, base)
	require.NoError(t, base.MkdirAll(kit.ZedTrash, 0o700))
	healthy, _ := kit.Rooted(devices{Fs: base, apart: apart}, 2)
	before := holdings(t, base)
	trashed := ""
	if takingBack {
		var err error
		trashed, err = upkeep.Trash(healthy, kit.MovedFrom)
		require.NoError(t, err)
	}
	start := holdings(t, base)
	broken.Fs = devices{Fs: base, apart: apart}
	at, mode := broken.At, broken.Mode
	s, _ := kit.Rooted(broken, 1)
	var err error
	if takingBack {
		_, err = upkeep.Untrash(s, trashed)
	} else {
		_, err = upkeep.Trash(s, kit.MovedFrom)
	}
	if err != nil && mode != st.Dead {
		require.Equal(t, start, holdings(t, base), "fault %d: an error means that nothing happened", at)
	}
	// Half a second later a lock without an owner's name counts as abandoned.
	_ = base.Remove(filepath.Dir(kit.MovedFrom) + "/." + filepath.Base(kit.MovedFrom) + ".lock")
	if _, gone := base.Stat(kit.MovedFrom); gone != nil {
		dirs, err := afero.Glob(base, kit.ZedTrash+"/*/session.jsonl")
		require.NoError(t, err)
		require.Len(t, dirs, 1, "fault %d", at)
		_, err = upkeep.Untrash(healthy, filepath.Dir(dirs[0]))
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
	for when, apart := range []string{"", kit.ZedTrash, kit.ZedTrash} {
		for name, change := range map[string]func(t *testing.T, fs afero.Fs){
			"another file": func(t *testing.T, fs afero.Fs) {
				kit.Put(t, fs, kit.MovedFrom+".new", "another")
				require.NoError(t, fs.Rename(kit.MovedFrom+".new", kit.MovedFrom))
			},
			"more in it": func(t *testing.T, fs afero.Fs) {
				kit.Put(t, fs, kit.MovedFrom, kit.Content(t, fs, kit.MovedFrom)+"{}\n")
			},
		} {
			t.Run(fmt.Sprint(name, when), func(t *testing.T) {
				t.Parallel()
				st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
					shelve(t, fs)
					renames := 0
					var after map[string]string
					s, _ := kit.Rooted(devices{Fs: fs, apart: apart, before: func(op, path string) {
						if op != "rename" || path != kit.MovedFrom {
							return
						}
						if renames++; renames == max(when, 1) {
							change(t, fs)
							after = holdings(t, fs)
						}
					}}, 1)
					_, err := upkeep.Trash(s, kit.MovedFrom)
					require.Equal(t, fault.Stale, fault.KindOf(err))
					require.Equal(t, after[kit.MovedFrom], kit.Content(t, fs, kit.MovedFrom))
					require.NotContains(t, holdings(t, fs), kit.ZedTrash+"/")
				})
			})
		}
	}
}

// Proves: F-09 (only on request)
func TestUnreadableFilesCanBeTrashed(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "no header": "hello\n", "newer": strings.Replace(kit.Conversation(), `"version":3`, `"version":9`, 1),
		"an id that leads away": st.File(st.Header("../../../../etc/passwd", "/w")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				kit.Put(t, fs, kit.MovedFrom, text)
				before := holdings(t, fs)
				s, _ := kit.Rooted(fs, 1)
				trashed, err := upkeep.Trash(s, kit.MovedFrom)
				require.NoError(t, err)
				for path := range holdings(t, fs) {
					require.True(t, strings.HasPrefix(kit.ZedAgent, strings.TrimSuffix(path, "/")) || strings.HasPrefix(path, kit.ZedAgent), path)
				}
				_, err = upkeep.Untrash(s, trashed)
				require.NoError(t, err)
				require.NoError(t, fs.Remove(kit.ZedTrash))
				require.Equal(t, before, holdings(t, fs))
			})
		})
	}
}

func TestSessionsOfOneNameDoNotMeetInTheTrash(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		old, current := kit.SessionsRoot+"/--home-zed-p--/a.jsonl", kit.SessionsRoot+"/-p/a.jsonl"
		pi, outside := "/home/zed/.pi/agent/sessions/--home-zed-p--/a.jsonl", "/home/zed/a.jsonl"
		where := map[string]string{old: kit.ZedTrash, current: kit.ZedTrash, pi: "/home/zed/.pi/agent/trash", outside: kit.ZedTrash}
		for path := range where {
			kit.Put(t, fs, path, kit.Chat("1", "/home/zed/p", path))
		}
		before := holdings(t, fs)
		s, _ := kit.Rooted(fs, 1)
		var trashed []string
		for path, trash := range where {
			dir, err := upkeep.Trash(s, path)
			require.NoError(t, err)
			require.Equal(t, trash, filepath.ToSlash(filepath.Dir(dir)), path)
			trashed = append(trashed, dir)
		}
		for _, dir := range trashed {
			_, err := upkeep.Untrash(s, dir)
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
	kit.Put(t, fs, file, kit.Conversation())
	require.NoError(t, os.Symlink(file, link))
	s, _ := kit.Rooted(fs, 1)
	for path, kind := range map[string]fault.Kind{dir: fault.IO, link: fault.IO, filepath.Join(dir, "none.jsonl"): fault.NotFound} {
		_, err := upkeep.Trash(s, path)
		require.Equal(t, kind, fault.KindOf(err), path)
	}
	require.Equal(t, kit.Conversation(), kit.Content(t, fs, link))
	kit.Put(t, fs, filepath.Join(dir, "notes.jsonl"), "{}\n")
	_, err := upkeep.Trash(s, filepath.Join(dir, "notes.jsonl"))
	require.Equal(t, fault.Damaged, fault.KindOf(err), "not a session, and not where sessions are")
	_, err = upkeep.Trash(kit.NewStore(fs), file)
	require.Equal(t, fault.Internal, fault.KindOf(err), "without roots there is no trash")
}

func TestUntrashRefuses(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		shelve(t, fs)
		s, _ := kit.Rooted(fs, 1)
		trashed, err := upkeep.Trash(s, kit.MovedFrom)
		require.NoError(t, err)
		record := kit.Content(t, fs, trashed+"/trashed.json")
		planted := "/home/zed/p/trash/0123456789abcdef"
		kit.Put(t, fs, planted+"/trashed.json", record)
		kit.Put(t, fs, planted+"/session.jsonl", "planted")
		odd := func(name, record string) string {
			kit.Put(t, fs, kit.ZedTrash+"/"+name+"/trashed.json", record)
			kit.Put(t, fs, kit.ZedTrash+"/"+name+"/session.jsonl", "odd")
			return kit.ZedTrash + "/" + name
		}
		before := holdings(t, fs)
		for path, kind := range map[string]fault.Kind{
			planted:                            fault.OutsideRoot,
			kit.ZedTrash:                       fault.OutsideRoot,
			trashed + "/..":                    fault.OutsideRoot,
			trashed + "/session.jsonl":         fault.OutsideRoot,
			filepath.Base(trashed):             fault.NotFound,
			"":                                 fault.OutsideRoot,
			"/":                                fault.OutsideRoot,
			kit.ZedTrash + "/ffffffffffffffff": fault.NotFound,
			trashed + "/../../../../p/trash/0123456789abcdef": fault.OutsideRoot,
		} {
			_, err := upkeep.Untrash(s, path)
			require.Equal(t, kind, fault.KindOf(err), path)
		}
		require.Equal(t, before, holdings(t, fs))
		for i, text := range []string{
			`{`, `{"path":"x.jsonl"}`, `{"path":"/home/zed/../zed/x.jsonl"}`, `{"path":"/home/zed/.pi/agent/sessions/x.jsonl"}`, `{}`,
		} {
			_, err := upkeep.Untrash(s, odd("000000000000000"+string(rune('0'+i)), text))
			require.Equal(t, fault.OutsideRoot, fault.KindOf(err), text)
		}

		kit.Put(t, fs, kit.MovedFrom, "somebody else's")
		_, err = upkeep.Untrash(s, trashed)
		require.Equal(t, fault.FileExists, fault.KindOf(err))
		require.NoError(t, fs.Remove(kit.MovedFrom))
		kit.Put(t, fs, strings.TrimSuffix(kit.MovedFrom, ".jsonl")+"/1.bash.log", "somebody else's")
		_, err = upkeep.Untrash(s, trashed)
		require.Equal(t, fault.FileExists, fault.KindOf(err))
		require.Equal(t, record, kit.Content(t, fs, trashed+"/trashed.json"))
		require.Equal(t, "output", kit.Content(t, fs, trashed+"/session/0.bash.log"))
		_, err = fs.Stat(kit.MovedFrom)
		require.ErrorIs(t, err, os.ErrNotExist)
	})
}

func TestUntrashRecreatesTheDirectory(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		kit.Put(t, fs, kit.MovedFrom, kit.Conversation())
		s, _ := kit.Rooted(fs, 1)
		trashed, err := upkeep.Trash(s, kit.MovedFrom)
		require.NoError(t, err)
		require.NoError(t, fs.RemoveAll(kit.SessionsRoot))
		_, err = upkeep.Untrash(s, trashed)
		require.NoError(t, err)
		require.Equal(t, kit.Conversation(), kit.Content(t, fs, kit.MovedFrom))
		_, err = upkeep.Untrash(s, trashed)
		require.Equal(t, fault.NotFound, fault.KindOf(err), "once")
	})
}

// headerOf is the first line of a file with a header there.
func headerOf(t *testing.T, fs afero.Fs, path string) string {
	t.Helper()
	line, _, _ := strings.Cut(kit.Content(t, fs, path), "\n")
	require.True(t, rawjson.Valid([]byte(line)), line)
	return line
}
