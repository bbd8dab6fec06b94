package upkeep_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

const (
	zedBlobs = kit.ZedAgent + "/blobs"
	zedLocks = kit.ZedAgent + "/xcsh-ls/locks"
	zedCache = kit.ZedAgent + "/cache/xcsh-ls"
)

// collector is a store over zed's roots that has locks and a cache.
func collector(fs afero.Fs) (*session.Store, library.Finder) {
	_, f := kit.Rooted(fs, 1)
	f.CacheDir = zedCache
	now := func() time.Time { return kit.Noon }
	return session.NewStore(session.StoreConfig{
		Fs: fs, Now: now, Random: rand.New(rand.NewSource(1)), DirFor: f.DirFor, RootFor: f.FileRoot, LockDir: zedLocks,
	}), f
}

// shelveOld files content that was not touched for a while.
func shelveOld(t *testing.T, fs afero.Fs, path, text string, ago time.Duration) {
	t.Helper()
	kit.Put(t, fs, path, text)
	require.NoError(t, fs.Chtimes(path, kit.Noon.Add(-ago), kit.Noon.Add(-ago)))
}

// blobHashes are n names of images.
func blobHashes(n int) []string {
	hashes := make([]string, n)
	for i := range hashes {
		hashes[i] = fmt.Sprintf("%064x", 0xabc000+i)
	}
	return hashes
}

func withBlob(id, hash string) string {
	return strings.TrimSuffix(kit.Chat(id, "/home/zed/p", "x"), "\n") + "\n" +
		fmt.Sprintf(`{"type":"message","id":"m1","parentId":"e0","timestamp":"2026-11-20T10:00:02.000Z","message":{"role":"user","content":[{"type":"image","data":"blob:sha256:%s","mimeType":"image/png"}]}}`, hash) + "\n"
}

// basesOf are the names of items.
func basesOf(items []upkeep.GCItem) []string {
	list := []string{}
	for _, i := range items {
		list = append(list, filepath.Base(i.Path))
	}
	return list
}

func garbage(t *testing.T, fs afero.Fs, o upkeep.GCOptions) *upkeep.Garbage {
	t.Helper()
	s, f := collector(fs)
	g, err := upkeep.FindGarbage(t.Context(), s, f, o)
	require.NoError(t, err)
	return g
}

// referring is every place and form of a reference to an image.
func referring(h string) map[string]string {
	ref := "blob:sha256:" + h
	return map[string]string{
		kit.SessionsRoot + "/--home-zed-p--/a.jsonl":                 withBlob("1", h),
		kit.SessionsRoot + "/flat.jsonl":                             withBlob("1", h),
		kit.SessionsRoot + "/--home-zed-p--/a/Sub.jsonl":             withBlob("1", h),
		kit.SessionsRoot + "/--home-zed-p--/a/deep/er/0.read.log":    "… " + ref + " …",
		kit.SessionsRoot + "/--home-zed-p--/.hidden.jsonl":           withBlob("1", h),
		kit.SessionsRoot + "/--home-zed-p--/a.jsonl.bak":             withBlob("1", h),
		kit.SessionsRoot + "/--home-zed-p--/no header.jsonl":         "junk " + ref,
		kit.SessionsRoot + "/--home-zed-p--/torn.jsonl":              strings.TrimSuffix(withBlob("1", h), `","mimeType":"image/png"}]}}`+"\n"),
		kit.SessionsRoot + "/--home-zed-p--/nul.jsonl":               "\x00\x00\xff" + ref + "\x00",
		kit.SessionsRoot + "/--home-zed-p--/newer.jsonl":             `{"type":"session","version":99,"id":"1","cwd":"/"}` + "\n" + `{"x":"` + ref + `"}`,
		kit.SessionsRoot + "/--home-zed-p--/prefix.jsonl":            "blob:sha256:blob:sha256:" + ref,
		kit.SessionsRoot + "/--home-zed-p--/far.jsonl":               strings.Repeat("x", 256<<10-40) + ref,
		kit.ZedAgent + "/backup/of/a.jsonl":                          withBlob("1", h),
		kit.ZedTrash + "/0123456789abcdef/session.jsonl":             withBlob("1", h),
		kit.ZedTrash + "/0123456789abcdef/session/0.log":             ref,
		kit.ZedTrash + "/gc-20261101T000000.000Z/leftovers/1-.a.tmp": ref,
		zedBlobs + "/notes.txt":                                      ref,
		"/home/zed/.pi/agent/sessions/--home-zed-q--/b.jsonl":        withBlob("2", h),
		"/home/zed/.pi/agent/trash/0123456789abcdef/session.jsonl":   withBlob("2", h),
	}
}

// Proves: N-05
func TestEveryReferenceKeepsAnImage(t *testing.T) {
	t.Parallel()
	h := blobHashes(2)
	for path, text := range referring(h[0]) {
		t.Run(strings.ReplaceAll(path, "/", "_"), func(t *testing.T) {
			t.Parallel()
			kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
				shelve(t, fs)
				for _, hash := range h {
					shelveOld(t, fs, zedBlobs+"/"+hash, "image", 48*time.Hour)
				}
				kit.Put(t, fs, path, text)
				before := holdings(t, fs)
				g := garbage(t, fs, upkeep.GCOptions{})
				require.Equal(t, h[1:], basesOf(g.Blobs))
				require.Equal(t, before, holdings(t, fs), "looking changes nothing")
			})
		})
	}
}

// TestAReferenceMayLieAnywhereInAFile moves one over every place where two reads meet.
func TestAReferenceMayLieAnywhereInAFile(t *testing.T) {
	t.Parallel()
	h := blobHashes(1)[0]
	ref := "blob:sha256:" + h
	for at := 256<<10 - len(ref) - 2; at < 256<<10+3; at++ {
		fs := afero.NewMemMapFs()
		shelveOld(t, fs, zedBlobs+"/"+h, "image", 48*time.Hour)
		kit.Put(t, fs, kit.SessionsRoot+"/-p/a.jsonl", strings.Repeat("b", at)+ref+strings.Repeat("0", 100))
		require.Empty(t, garbage(t, fs, upkeep.GCOptions{}).Blobs, at)
	}
}

func TestASearchForGarbageReportsItsProgress(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	s, f := collector(fs)
	for i := range 3 {
		kit.Put(t, fs, fmt.Sprintf("%s/sessions/%d.jsonl", kit.ZedAgent, i), kit.Chat(fmt.Sprint(i), "/home/zed/p", "x"))
	}
	var files []int
	g, err := upkeep.FindGarbage(t.Context(), s, f, upkeep.GCOptions{Progress: func(n int) { files = append(files, n) }})
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 3}, files)
	require.Equal(t, 3, g.FilesRead)
}

func TestOtherTextKeepsNoImage(t *testing.T) {
	t.Parallel()
	h := blobHashes(1)[0]
	for _, text := range []string{"", h, "blob:sha256:", "blob:sha256:" + h[:63], "blob:sha256:" + h[:63] + "g", "blob:sha1:" + h, "blob:sha256: " + h} {
		fs := afero.NewMemMapFs()
		shelveOld(t, fs, zedBlobs+"/"+h, "image", 48*time.Hour)
		kit.Put(t, fs, kit.SessionsRoot+"/-p/a.jsonl", text)
		require.Equal(t, []string{h}, basesOf(garbage(t, fs, upkeep.GCOptions{}).Blobs), text)
	}
}

func TestYoungAndStrangeFilesAreNoGarbage(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	h := blobHashes(4)
	shelve(t, fs)
	for i, ago := range []time.Duration{59 * time.Minute, 61 * time.Minute, 30 * time.Hour, -time.Hour} {
		shelveOld(t, fs, zedBlobs+"/"+h[i], "image", ago)
	}
	for _, name := range []string{strings.ToUpper(h[0]), h[0] + ".png", h[0][:63], "README", "." + h[0]} {
		shelveOld(t, fs, zedBlobs+"/"+name, "strange", 48*time.Hour)
	}
	require.NoError(t, fs.MkdirAll(zedBlobs+"/"+fmt.Sprintf("%064x", 1), 0o700))
	shelveOld(t, fs, "/home/zed/.omp/agent/blobs/"+h[1], "theirs", 48*time.Hour)
	require.Equal(t, h[1:3], basesOf(garbage(t, fs, upkeep.GCOptions{}).Blobs))
	require.Equal(t, h[2:3], basesOf(garbage(t, fs, upkeep.GCOptions{OlderThan: 24 * time.Hour}).Blobs))
	require.Len(t, garbage(t, fs, upkeep.GCOptions{OlderThan: time.Minute}).Blobs, 2, "never less than an hour")
}

func TestLeftovers(t *testing.T) {
	t.Parallel()
	kit.OnEveryFs(t, func(t *testing.T, fs afero.Fs) {
		shelve(t, fs)
		crumbs := kit.ZedAgent + "/terminal-sessions"
		left := []string{
			kit.SessionsRoot + "/-p/.a.jsonl.0123456789abcdef.tmp", zedBlobs + "/." + blobHashes(1)[0] + ".ABCDEFGHIJKLMNOPQRSTUVWXYZ.tmp",
			crumbs + "/.tty1.12345.tmp", zedCache + "/sessions.cache.123.tmp", zedCache + "/sessions.cache", kit.ZedAgent + "/trash/0123456789abcdef/.session.jsonl.0123456789abcdef.tmp",
		}
		none := []string{
			kit.SessionsRoot + "/-p/.a.jsonl.tmp", kit.SessionsRoot + "/-p/a.jsonl.0123456789abcdef.tmp", kit.SessionsRoot + "/-p/.a.jsonl.0123456789abcdef.moved",
			kit.SessionsRoot + "/-p/.a.jsonl.123.tmp", crumbs + "/tty1", kit.ZedAgent + "/xcsh-ls/sessions.cache", kit.ZedAgent + "/models.json",
			kit.ZedAgent + "/trash/gc-20261101T000000.000Z/leftovers/.a.jsonl.0123456789abcdef.tmp",
			"/home/zed/.pi/agent/sessions/-p/.a.jsonl.0123456789abcdef.tmp",
		}
		for _, path := range slices.Concat(left, none) {
			shelveOld(t, fs, path, "xcsh-ls list 0\n …", 2*time.Hour)
		}
		shelveOld(t, fs, kit.SessionsRoot+"/-p/.b.jsonl.0123456789abcdef.tmp", "young", time.Minute)
		s, f := collector(fs)
		g, err := upkeep.FindGarbage(t.Context(), s, f, upkeep.GCOptions{})
		require.NoError(t, err)
		got := []string{}
		for _, i := range g.Leftovers {
			got = append(got, filepath.ToSlash(i.Path))
		}
		require.ElementsMatch(t, left, got)

		before := holdings(t, fs)
		r, err := g.Remove(t.Context())
		require.NoError(t, err)
		require.Empty(t, r.Failed)
		require.Len(t, r.Moved, len(left))
		requireMoved(t, fs, before, r)
		require.True(t, garbage(t, fs, upkeep.GCOptions{}).Empty(), "once collected is collected")
	})
}

// Proves: AB-014 (leftovers)
func TestOnlyAnOlderVersionsCacheIsGarbage(t *testing.T) {
	t.Parallel()
	for head, old := range map[string]bool{
		"xcsh-ls list 0\nrest": true, "xcsh-ls list 1\nrest": true, "xcsh-ls list 2\nrest": true, "xcsh-ls list 3\nrest": false, "xcsh-ls list 4\nrest": false, "xcsh-ls list 17\n": false,
		"": false, "xcsh-ls list": false, "something else": false, "xcsh-ls list x\n": false, "list 0\n": false,
	} {
		fs := afero.NewMemMapFs()
		shelveOld(t, fs, zedCache+"/sessions.cache", head, 2*time.Hour)
		require.Equal(t, old, !garbage(t, fs, upkeep.GCOptions{}).Empty(), head)
	}
}

// requireMoved requires that the files moved by a collection are in the trash byte for
// byte, that its record has their old paths, and that nothing else changed except the
// removed files.
func requireMoved(t *testing.T, fs afero.Fs, before map[string]string, r upkeep.GCResult) {
	t.Helper()
	after := holdings(t, fs)
	moves := map[string]string{}
	for line := range strings.Lines(after[filepath.ToSlash(r.Into)+"/moved.jsonl"]) {
		var m struct{ From, To string }
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		moves[filepath.ToSlash(m.From)] = filepath.ToSlash(m.To)
	}
	for _, path := range r.Moved {
		path = filepath.ToSlash(path)
		require.NotContains(t, after, path)
		require.Equal(t, before[path], after[moves[path]], path)
		delete(before, path)
	}
	for path, was := range before {
		if !slices.Contains(r.Removed, filepath.FromSlash(path)) {
			require.Contains(t, after, path)
			require.Equal(t, was, after[path])
		}
	}
}

func TestUnusedImagesGoToTheTrash(t *testing.T) {
	t.Parallel()
	for _, apart := range []string{"", kit.ZedTrash} {
		st.RunStorage(t, func(t *testing.T, base afero.Fs) {
			fs := devices{Fs: base, apart: apart}
			h := blobHashes(3)
			shelve(t, fs)
			kit.Put(t, fs, kit.SessionsRoot+"/-p/a.jsonl", withBlob("1", h[0]))
			for _, hash := range h {
				shelveOld(t, fs, zedBlobs+"/"+hash, "image "+hash, 48*time.Hour)
			}
			before := holdings(t, base)
			g := garbage(t, fs, upkeep.GCOptions{})
			r, err := g.Remove(t.Context())
			require.NoError(t, err)
			require.Len(t, r.Moved, 2)
			require.Empty(t, r.Failed)
			require.Equal(t, kit.ZedTrash+"/gc-20261120T120000.000Z", filepath.ToSlash(r.Into))
			requireMoved(t, base, before, r)
			info, err := base.Stat(r.Into)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

			// A second collection in the same moment has a directory of its own.
			shelveOld(t, fs, zedBlobs+"/"+h[1], "image again", 48*time.Hour)
			r, err = garbage(t, fs, upkeep.GCOptions{}).Remove(t.Context())
			require.NoError(t, err)
			require.Equal(t, "gc-20261120T120000.001Z", filepath.Base(r.Into))
		})
	}
}

func TestRemovingNothingMakesNothing(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	shelve(t, fs)
	before := holdings(t, fs)
	g := garbage(t, fs, upkeep.GCOptions{Trash: true})
	require.True(t, g.Empty())
	r, err := g.Remove(t.Context())
	require.NoError(t, err)
	require.Empty(t, r.Into)
	require.Equal(t, before, holdings(t, fs))
}

// TestAnImageThatIsTakenIntoUseStays lets sessions refer to images at every moment of a
// collection: before it begins, and before each file that it moves.
func TestAnImageThatIsTakenIntoUseStays(t *testing.T) {
	t.Parallel()
	h := blobHashes(3)
	for moment := range 5 {
		t.Run(fmt.Sprint(moment), func(t *testing.T) {
			t.Parallel()
			base := afero.NewMemMapFs()
			shelve(t, base)
			for _, hash := range h {
				shelveOld(t, base, zedBlobs+"/"+hash, "image "+hash, 48*time.Hour)
			}
			name := func() { kit.Put(t, base, kit.SessionsRoot+"/-p/late.jsonl", withBlob("1", h[1])) }
			renames := 0
			fs := devices{Fs: base, before: func(op, path string) {
				if op == "rename" && strings.HasPrefix(path, zedBlobs) {
					require.False(t, moment == 0 && filepath.Base(path) == h[1], "what was named before is not even moved")
					if renames++; renames == moment {
						name()
					}
				}
			}}
			g := garbage(t, fs, upkeep.GCOptions{})
			require.Len(t, g.Blobs, 3)
			if moment == 0 {
				name()
			}
			r, err := g.Remove(t.Context())
			require.NoError(t, err)
			require.Empty(t, r.Failed)
			if moment == 4 { // without a reference to it
				require.Len(t, r.Moved, 3)
				return
			}
			require.Equal(t, []string{zedBlobs + "/" + h[1]}, toSlash(r.Kept))
			require.Len(t, r.Moved, 2)
			require.Equal(t, "image "+h[1], kit.Content(t, base, zedBlobs+"/"+h[1]))
		})
	}
}

func toSlash(paths []string) []string {
	list := []string{}
	for _, p := range paths {
		list = append(list, filepath.ToSlash(p))
	}
	return list
}

// TestAnImageThatIsStoredAgainStays: a writer with the same image stores it again.
func TestAnImageThatIsStoredAgainStays(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	h := blobHashes(1)[0]
	shelve(t, fs)
	shelveOld(t, fs, zedBlobs+"/"+h, "image", 48*time.Hour)
	g := garbage(t, fs, upkeep.GCOptions{})
	shelveOld(t, fs, zedBlobs+"/"+h, "image", 0)
	r, err := g.Remove(t.Context())
	require.NoError(t, err)
	require.Empty(t, r.Moved)
	require.Len(t, r.Failed, 1)
	require.Contains(t, r.Failed[0].Message, "changed")
	require.Equal(t, "image", kit.Content(t, fs, zedBlobs+"/"+h))
	require.Empty(t, r.Into)
	require.False(t, exists(t, fs, kit.ZedTrash))
}

func exists(t *testing.T, fs afero.Fs, path string) bool {
	t.Helper()
	ok, err := afero.Exists(fs, path)
	require.NoError(t, err)
	return ok
}

func TestStaleLocksAreRemoved(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		shelve(t, fs)
		record := func(pid int, host string) string {
			return fmt.Sprintf(`{"pid":%d,"startedAt":"2026-11-20T10:00:00.000Z","host":%q,"path":"/x.jsonl","app":"xcsh-ls"}`+"\n", pid, host)
		}
		host, err := os.Hostname()
		require.NoError(t, err)
		const dead = 2147483646
		pi := "/home/zed/.pi/agent/sessions/--home-zed-p--"
		stale := []string{
			zedLocks + "/dead.lock", zedLocks + "/junk.lock", zedLocks + "/dead.lock.claim", kit.SessionsRoot + "/-p/.dead.jsonl.lock",
			kit.SessionsRoot + "/-p/.blank.jsonl.lock", kit.SessionsRoot + "/-p/.dead.jsonl.lock.claim", pi + "/.dead.jsonl.lock",
		}
		for _, path := range stale {
			text := fmt.Sprintf("%d:1\n", dead)
			switch {
			case path == zedLocks+"/dead.lock":
				text = record(dead, host)
			case strings.Contains(path, "junk"), strings.Contains(path, "blank"):
				text = ""
			}
			shelveOld(t, fs, path, text, 2*time.Hour)
		}
		for path, text := range map[string]string{
			zedLocks + "/live.lock":                          record(os.Getppid(), host),
			zedLocks + "/elsewhere.lock":                     record(dead, "elsewhere"),
			kit.SessionsRoot + "/-p/.live.jsonl.lock":        fmt.Sprintf("%d:1\n", os.Getppid()),
			kit.SessionsRoot + "/-p/dead.jsonl.lock":         fmt.Sprintf("%d:1\n", dead),
			kit.SessionsRoot + "/-p/.dead.txt.lock":          fmt.Sprintf("%d:1\n", dead),
			kit.SessionsRoot + "/-p/.young.jsonl.lock.other": fmt.Sprintf("%d:1\n", dead),
		} {
			shelveOld(t, fs, path, text, 2*time.Hour)
		}
		shelveOld(t, fs, kit.SessionsRoot+"/-p/.young.jsonl.lock", fmt.Sprintf("%d:1\n", dead), time.Minute)
		g := garbage(t, fs, upkeep.GCOptions{})
		got := []string{}
		for _, i := range g.Locks {
			got = append(got, filepath.ToSlash(i.Path))
		}
		require.ElementsMatch(t, stale, got)
		r, err := g.Remove(t.Context())
		require.NoError(t, err)
		require.Empty(t, r.Failed)
		require.ElementsMatch(t, stale, toSlash(r.Removed))
		for _, path := range stale {
			require.False(t, exists(t, fs, path), path)
		}
		require.True(t, exists(t, fs, zedLocks+"/live.lock"))
		require.Empty(t, garbage(t, fs, upkeep.GCOptions{}).Locks)
	})
}

func TestALockThatWasTakenAgainStays(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	shelve(t, fs)
	path := kit.SessionsRoot + "/-p/.a.jsonl.lock"
	shelveOld(t, fs, path, "2147483646:1\n", 2*time.Hour)
	g := garbage(t, fs, upkeep.GCOptions{})
	require.Len(t, g.Locks, 1)
	kit.Put(t, fs, path, fmt.Sprintf("%d:2\n", os.Getppid()))
	r, err := g.Remove(t.Context())
	require.NoError(t, err)
	require.Empty(t, r.Removed)
	require.Empty(t, r.Failed)
	require.True(t, exists(t, fs, path))
}

func TestTheTrashIsEmptiedOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		shelve(t, fs)
		h := blobHashes(1)[0]
		shelveOld(t, fs, zedBlobs+"/"+h, "image", 48*time.Hour)
		kit.Put(t, fs, kit.MovedFrom, withBlob("1", h))
		s, f := collector(fs)
		trashed, err := upkeep.Trash(s, kit.MovedFrom) // at noon
		require.NoError(t, err)
		shelve(t, fs)
		kit.Put(t, fs, kit.ZedTrash+"/gc-20261001T000000.000Z/blobs/"+h, "image")
		kit.Put(t, fs, kit.ZedTrash+"/gc-20261119T000000.000Z/blobs/"+h, "image")
		kit.Put(t, fs, kit.ZedTrash+"/somebody's/notes.txt", "x")
		kit.Put(t, fs, kit.ZedTrash+"/0000000000000000/session.jsonl", "without a record")
		paths := func(g *upkeep.Garbage) []string {
			list := []string{}
			for _, i := range g.Trash {
				list = append(list, filepath.ToSlash(i.Path))
			}
			return list
		}
		require.Empty(t, garbage(t, fs, upkeep.GCOptions{OlderThan: 24 * time.Hour}).Trash)
		require.Empty(t, garbage(t, fs, upkeep.GCOptions{}).Blobs, "what is in the trash uses its images")
		require.Equal(t, []string{kit.ZedTrash + "/gc-20261001T000000.000Z"}, paths(garbage(t, fs, upkeep.GCOptions{Trash: true})))
		require.Equal(t, []string{kit.ZedTrash + "/gc-20261001T000000.000Z", kit.ZedTrash + "/gc-20261119T000000.000Z"},
			paths(garbage(t, fs, upkeep.GCOptions{Trash: true, OlderThan: 24 * time.Hour})))

		later := session.NewStore(session.StoreConfig{
			Fs: fs, Now: func() time.Time { return kit.Noon.AddDate(0, 0, 31) }, DirFor: f.DirFor, RootFor: f.FileRoot, LockDir: zedLocks,
		})
		g, err := upkeep.FindGarbage(t.Context(), later, f, upkeep.GCOptions{Trash: true})
		require.NoError(t, err)
		require.Len(t, g.Trash, 3)
		for _, i := range g.Trash {
			require.Equal(t, i.Path == trashed, filepath.ToSlash(i.Was) == kit.MovedFrom)
			require.Positive(t, i.Size)
		}
		before := holdings(t, fs)
		r, err := g.Remove(t.Context())
		require.NoError(t, err)
		require.Empty(t, r.Failed)
		require.Len(t, r.Removed, 3)
		after := holdings(t, fs)
		for path := range before {
			gone := slices.ContainsFunc(toSlash(r.Removed), func(dir string) bool { return strings.HasPrefix(path, dir+"/") })
			_, there := after[path]
			require.Equal(t, !gone, there, path)
		}
		g, err = upkeep.FindGarbage(t.Context(), later, f, upkeep.GCOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{h}, basesOf(g.Blobs), "now nothing names the image")
	})
}

// TestUnreadablePlacesMakeNothingGarbage denies reading one place after the other.
func TestUnreadablePlacesMakeNothingGarbage(t *testing.T) {
	t.Parallel()
	h := blobHashes(1)[0]
	build := func(t *testing.T) afero.Fs {
		fs := afero.NewMemMapFs()
		shelve(t, fs)
		shelveOld(t, fs, zedBlobs+"/"+h, "image", 48*time.Hour)
		kit.Put(t, fs, "/home/zed/.pi/agent/sessions/-q/b.jsonl", withBlob("2", h))
		kit.Put(t, fs, "/flat/c.jsonl", "x")
		return fs
	}
	for path, op := range map[string]string{
		kit.SessionsRoot: "readdir", filepath.Dir(kit.MovedFrom): "readdir", kit.MovedFrom: "open", zedBlobs: "readdir",
		"/home/zed/.pi/agent/sessions": "readdir", "/home/zed/.pi/agent/sessions/-q/b.jsonl": "read", "/flat/c.jsonl": "open",
	} {
		t.Run(strings.ReplaceAll(path, "/", "_"), func(t *testing.T) {
			t.Parallel()
			base := build(t)
			before := holdings(t, base)
			faulty := &st.FaultFs{Fs: base, At: 1, Mode: st.Dead, Reads: true, On: func(o, name string) bool {
				return o == op && filepath.ToSlash(name) == path
			}}
			s, f := collector(faulty)
			f.SessionDir = "/flat"
			_, err := upkeep.FindGarbage(t.Context(), s, f, upkeep.GCOptions{})
			require.True(t, faulty.Fired())
			require.Equal(t, fault.IO, fault.KindOf(err), err)
			require.Contains(t, err.Error(), "Nothing was removed")
			require.Contains(t, filepath.ToSlash(err.Error()), path)
			kit.RequireSentence(t, err)
			require.Equal(t, before, holdings(t, base))
		})
	}
}

func TestDirectoriesThatAreNamedMustBeThere(t *testing.T) {
	t.Parallel()
	h := blobHashes(1)[0]
	fs := afero.NewMemMapFs()
	shelve(t, fs)
	shelveOld(t, fs, zedBlobs+"/"+h, "image", 48*time.Hour)
	kit.Put(t, fs, "/also/deep/a.jsonl", withBlob("1", h))
	s, f := collector(fs)
	_, err := upkeep.FindGarbage(t.Context(), s, f, upkeep.GCOptions{Also: []string{"/nowhere"}})
	require.Equal(t, fault.IO, fault.KindOf(err))
	require.Contains(t, err.Error(), "/nowhere")
	g, err := upkeep.FindGarbage(t.Context(), s, f, upkeep.GCOptions{Also: []string{"/also"}})
	require.NoError(t, err)
	require.Empty(t, g.Blobs)
	f.SessionDir = "/nowhere"
	_, err = upkeep.FindGarbage(t.Context(), s, f, upkeep.GCOptions{})
	require.Equal(t, fault.IO, fault.KindOf(err))
	f.SessionDir = "/also"
	g, err = upkeep.FindGarbage(t.Context(), s, f, upkeep.GCOptions{})
	require.NoError(t, err)
	require.Empty(t, g.Blobs)

	// Images without any sessions belong to sessions somewhere else.
	f.SessionDir = ""
	require.NoError(t, fs.RemoveAll(kit.SessionsRoot))
	_, err = upkeep.FindGarbage(t.Context(), s, f, upkeep.GCOptions{})
	require.Equal(t, fault.IO, fault.KindOf(err))
	require.Contains(t, filepath.ToSlash(err.Error()), kit.SessionsRoot)
	require.NoError(t, fs.RemoveAll(zedBlobs))
	g, err = upkeep.FindGarbage(t.Context(), s, f, upkeep.GCOptions{})
	require.NoError(t, err, "without images nothing has to be seen")
	require.True(t, g.Empty())

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = upkeep.FindGarbage(ctx, s, f, upkeep.GCOptions{})
	require.Equal(t, fault.Cancelled, fault.KindOf(err))
}

// TestADirectoryThatWasListedBeforeIsSearched: an editor listed a session directory that is
// only in its settings.
func TestADirectoryThatWasListedBeforeIsSearched(t *testing.T) {
	t.Parallel()
	h := blobHashes(4)
	fs := afero.NewMemMapFs()
	shelve(t, fs)
	for _, hash := range h {
		shelveOld(t, fs, zedBlobs+"/"+hash, "image", 48*time.Hour)
	}
	for path, text := range map[string]string{
		"/talks/a.jsonl": withBlob("1", h[0]), "/talks/a/0.log": "blob:sha256:" + h[1], "/talks/src/big.txt": "blob:sha256:" + h[2],
	} {
		shelveOld(t, fs, path, text, time.Hour)
	}
	_, f := collector(fs)
	f.SessionDir = "/talks"
	_, _, err := f.List(t.Context(), "/home/zed/p", library.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, h[2:], basesOf(garbage(t, fs, upkeep.GCOptions{}).Blobs))
	require.NoError(t, fs.RemoveAll("/talks"))
	require.Equal(t, h, basesOf(garbage(t, fs, upkeep.GCOptions{}).Blobs))
}

func TestLinksAreFollowedWhenImagesAreSought(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	fs := afero.NewOsFs()
	h := blobHashes(1)[0]
	agentDir, elsewhere := filepath.Join(dir, "agent"), filepath.Join(dir, "disk")
	places := library.AgentPlaces(agentDir)
	shelveOld(t, fs, filepath.Join(places.Blobs, h), "image", 48*time.Hour)
	kit.Put(t, fs, filepath.Join(elsewhere, "-p", "a.jsonl"), withBlob("1", h))
	shelveOld(t, fs, filepath.Join(elsewhere, "-p", ".a.jsonl.0123456789abcdef.tmp"), "x", 2*time.Hour)
	require.NoError(t, os.MkdirAll(places.Sessions, 0o700))
	require.NoError(t, os.Symlink(filepath.Join(elsewhere, "-p"), filepath.Join(places.Sessions, "-p")))
	require.NoError(t, os.Symlink(places.Sessions, filepath.Join(places.Sessions, "loop")))
	f := library.Finder{Fs: fs, Roots: []library.Root{library.OwnRoot(places)}, RealPath: filepath.EvalSymlinks, Now: func() time.Time { return kit.Noon }}
	s := session.NewStore(session.StoreConfig{Fs: fs, Now: f.Now, DirFor: f.DirFor, RootFor: f.FileRoot})
	g, err := upkeep.FindGarbage(t.Context(), s, f, upkeep.GCOptions{})
	require.NoError(t, err)
	require.Empty(t, g.Blobs)
	require.Empty(t, g.Leftovers, "what is behind a link is somebody's")

	// A link that leads nowhere may have led to sessions, but not where no session is.
	require.NoError(t, os.Symlink(filepath.Join(dir, "gone"), filepath.Join(agentDir, "tool")))
	_, err = upkeep.FindGarbage(t.Context(), s, f, upkeep.GCOptions{})
	require.NoError(t, err)
	require.NoError(t, os.Symlink(filepath.Join(dir, "gone"), filepath.Join(places.Sessions, "--gone--")))
	_, err = upkeep.FindGarbage(t.Context(), s, f, upkeep.GCOptions{})
	require.Equal(t, fault.IO, fault.KindOf(err))
	require.Contains(t, err.Error(), "--gone--")
}
