package look

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/contents"
)

// clean asserts that the contents of files were not stored, because the index has them.
func clean(t *testing.T, l *Look, paths ...string) {
	t.Helper()
	for _, path := range paths {
		for _, r := range l.roots {
			require.NotContains(t, r.kept, filepath.Join(l.folder, path))
		}
	}
}

// In every kind of repository, changes of commands are undone exactly.
// Proves: RW-40, RW-48
func TestKindsOfRepositories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare, script string
		folder          string   // of the look, below that of the test
		clean           []string // files that the index knows
		limits          []string
		paths           []string // all that changed
		bare            bool     // without the template
	}{
		"split index": {
			prepare: `git update-index --split-index; echo n >n.txt; git add n.txt; ls .git/sharedindex.* >&2`, clean: []string{"a.txt", "n.txt", "d/e/f.txt"},
			script: `rm a.txt n.txt; echo x >>d/e/f.txt; git update-index --no-split-index; rm -f .git/sharedindex.*`, paths: []string{"a.txt", "d/e/f.txt", "n.txt"},
		},
		"sparse checkout": {
			prepare: `mkdir s; echo s >s/s.txt; git add s; git commit -qm s; git checkout -q -- dirty.txt; git sparse-checkout set --cone --sparse-index d`, clean: []string{"a.txt", "d/e/f.txt"},
			script: `echo x >>d/e/f.txt; mkdir -p s; echo other >s/s.txt`, paths: []string{"d/e/f.txt", "s/s.txt"},
		},
		"sparse checkout ends": {
			prepare: `mkdir s; echo s >s/s.txt; git add s; git commit -qm s; git checkout -q -- dirty.txt; git sparse-checkout set d`,
			script:  `git sparse-checkout disable`, paths: []string{"s/s.txt"},
		},
		"worktree": {
			prepare: `git worktree add -q ../linked -b linked; cd ../linked; echo d >>dirty.txt`, folder: "../linked", clean: []string{"a.txt"},
			script: `cd ../linked; git checkout -q -- .; rm a.txt; echo n >n; git commit -qam gone`, paths: []string{"a.txt", "dirty.txt", "n"},
		},
		"folder in a repository": {
			folder: "d", script: `echo x >>a.txt; echo y >>d/e/f.txt`, clean: []string{"e/f.txt"}, paths: []string{"e/f.txt", "ABS/a.txt"},
		},
		"settings say that case does not matter": {
			prepare: `git config core.ignorecase true`, script: `mv a.txt A.TXT; echo u >UNTRACKED.TXT`, clean: []string{"a.txt"}, paths: []string{"A.TXT", "UNTRACKED.TXT", "a.txt"},
		},
		"no commit": {
			bare: true, prepare: `git init -q; echo a >a; git add a; echo b >b`, script: `git commit -qm one; rm a; echo c >>b`, paths: []string{"a", "b"}, clean: []string{"a"},
		},
		"nothing at all": {bare: true, prepare: `git init -q`, script: `echo a >a; git add a; git commit -qm one`, paths: []string{"a"}},
		"no index": {
			prepare: `rm .git/index`, script: `rm a.txt; echo x >>dirty.txt; git add -A`, paths: []string{"a.txt", "dirty.txt"},
		},
		"detached": {prepare: `git checkout -q --detach`, script: `git checkout -q -- .; git checkout -q main`, paths: []string{"dirty.txt"}},
		"line ends": {
			bare: true, prepare: `git init -q; git config core.autocrlf true; printf 'a\r\nb\r\n' >a; printf 'end missing\missing\r\n' >b; printf 'x\n' >c; git add . 2>/dev/null; git commit -qm one; rm b; git checkout -q -- b`,
			script: `rm a b; echo more >>c`, clean: []string{"a", "b", "c"}, paths: []string{"a", "b", "c"},
		},
		"attributes change too": {
			bare: true, prepare: `git init -q; printf '*.txt text eol=crlf\n' >.gitattributes; printf 'a\r\nb\r\n' >a.txt; git add . 2>/dev/null; git commit -qm one`,
			script: `rm .gitattributes; printf 'a\n' >a.txt; git config core.autocrlf input`, clean: []string{"a.txt"}, paths: []string{".gitattributes", "a.txt"},
		},
		"files that git is set to ignore changes of": {
			prepare: `git update-index --assume-unchanged a.txt; git update-index --skip-worktree run.sh; echo mine >>run.sh`,
			script:  `echo x >>a.txt; echo y >>run.sh`, paths: []string{"a.txt", "run.sh"},
		},
		"a copied repository": {
			prepare: `for i in $(seq 300); do echo $i >f$i; done; git add f*; git commit -qm more; cp -a . ../copy; cd ../copy`, folder: "../copy",
			clean: []string{"f1", "f300"}, script: `cd ../copy; rm f1; echo x >>f2; touch f3`, paths: []string{"f1", "f2"},
		},
		"private files": {
			bare: true, prepare: `umask 077; git init -q; echo a >a; echo b >b; chmod +x b; git add .; git commit -qm one`, script: `rm a b`, clean: []string{"a", "b"}, paths: []string{"a", "b"},
		},
		"conflict": {
			prepare: `git checkout -q -- .; git checkout -qb o; echo o >a.txt; git commit -qam o; git checkout -q main; echo p >a.txt; git commit -qam p; git merge -q o >/dev/null || true`,
			script:  `git merge --abort`, paths: []string{"a.txt"},
		},
		"submodule": {
			prepare: `git init -q ../sub; cd ../sub; echo s >s.txt; echo t >t.txt; git add .; git commit -qm s; cd ../w; git -c protocol.file.allow=always submodule --quiet add ../sub sub 2>/dev/null; git commit -qm sub; echo u >sub/u.txt`,
			script:  `echo x >>sub/s.txt; rm sub/t.txt sub/u.txt; echo v >sub/v.txt`, clean: []string{"sub/s.txt", "sub/t.txt"}, paths: []string{"sub/s.txt", "sub/t.txt", "sub/u.txt", "sub/v.txt"},
		},
		"nested repository": {
			prepare: `git init -q n; cd n; echo s >s.txt; git add .; git commit -qm s; echo u >u.txt`, script: `rm n/s.txt; echo x >>n/u.txt`,
			clean: []string{"n/s.txt"}, paths: []string{"n/s.txt", "n/u.txt"},
		},
		"nested repository becomes an ordinary folder": {
			prepare: `git init -q n; cd n; echo s >s.txt; git add .; git commit -qm s; echo u >u.txt`, script: `rm -rf n/.git; echo x >>n/u.txt`, paths: []string{"n/u.txt"},
		},
		"nested repository is made": {script: `git init -q n; echo s >n/s.txt`, limits: []string{change.LimitSubmodule}, paths: []string{}},
		"rules change": {
			prepare: `mkdir out; echo o >out/o; echo l >x.log`, script: `printf '' >.gitignore; echo more >>out/o`, paths: []string{".gitignore", "out/o"}, limits: []string{change.LimitIgnored},
		},
		"an ignored file is made":    {script: `echo k >k.log; rm .env`, paths: []string{".env", "k.log"}},
		"a directory becomes a link": {script: `mv d D; ln -s D d`, clean: []string{"d/e/f.txt"}, paths: []string{"D/e/f.txt", "d", "d/e/f.txt"}},
		"a link loop":                {prepare: `ln -s loop loop; ln -s . self`, script: `rm loop; ln -s self loop; rm -r d; ln -s d d`, paths: []string{"d", "d/e/f.txt", "loop"}},
		"pipes":                      {prepare: `mkfifo old; rm a.txt; mkfifo a.txt`, script: `mkfifo new; rm dirty.txt; mkfifo dirty.txt`, paths: []string{"dirty.txt"}},
		"names": {
			prepare: "echo n >'new\nline.txt'; echo s >' space.txt'; echo t >'tab\t'; echo g >'g*[a].txt'; printf '* text eol=crlf\n' >.gitattributes; git add -A; git commit -qm names; rm new* ' space.txt'; git checkout -q -- .",
			script:  "rm new* ' space.txt' tab* 'g*[a].txt'; echo c >':(top)c'; echo d >-d", paths: []string{" space.txt", "-d", ":(top)c", "g*[a].txt", "new\nline.txt", "tab\t"},
			clean: []string{" space.txt", "new\nline.txt", "g*[a].txt"},
		},
		"a name that a record can't have": {script: `echo x >$(printf 'n\377'); echo y >>a.txt`, paths: []string{"a.txt"}, limits: []string{change.LimitBudget}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := emptyPlace(t)
			if !c.bare {
				p = newPlace(t, true)
			}
			p.sh(t, c.prepare)
			start := p.folder
			p.folder = filepath.Join(p.folder, c.folder)
			p.o.Folder = p.folder
			before := p.files(t)
			l, err := Before(t.Context(), p.o)
			require.NoError(t, err)
			defer l.Close()
			clean(t, l, c.clean...)
			p.folder = start
			p.sh(t, c.script)
			p.folder = p.o.Folder
			seen, err := l.After(t.Context())
			require.NoError(t, err)
			require.NotNil(t, seen.Git)
			var inside []change.Change
			var paths []string
			for _, ch := range seen.Changes {
				paths = append(paths, strings.Replace(ch.Path, filepath.ToSlash(start), "ABS", 1))
				if !filepath.IsAbs(ch.Path) && ch.After.Kind != change.Special {
					inside = append(inside, ch)
				}
			}
			require.ElementsMatch(t, c.paths, paths)
			for _, limit := range c.limits {
				require.Contains(t, seen.Limits, limit)
			}
			if len(c.limits) > 0 || name == "pipes" {
				return // not everything was seen
			}
			require.NotContains(t, seen.Limits, change.LimitBudget)
			require.Equal(t, before, p.back(t, p.files(t), inside))
		})
	}
}

// Files with a filter of the user are covered although filters are not run: their contents were stored before the command.
func TestFiltersOfTheUser(t *testing.T) {
	t.Parallel()
	p := newPlace(t, true)
	require.NoError(t, os.MkdirAll(p.o.Home, 0o700))
	p.sh(t, `git config --global filter.up.clean 'tr A-Z a-z'; git config --global filter.up.smudge 'tr a-z A-Z'
		printf '*.up filter=up\n' >.gitattributes; echo loud >x.up; echo LOUD >y.up; git add .; git commit -qm up; rm x.up; git checkout -q -- x.up`)
	before := p.files(t)
	require.Contains(t, before["x.up"], "LOUD")
	seen := p.looked(t, `rm x.up; echo SO >>y.up; rm a.txt`)
	require.Len(t, seen.Changes, 3)
	require.Equal(t, before, p.back(t, p.files(t), seen.Changes))
	found, err := AtHead(t.Context(), p.o, p.folder, []string{filepath.Join(p.folder, "x.up"), filepath.Join(p.folder, "a.txt")})
	require.NoError(t, err)
	require.Equal(t, map[string][]byte{filepath.Join(p.folder, "a.txt"): []byte("a\nb\nc\n")}, found)
}

// A command that changes the settings of the repository can't make the second look start a program.
func TestACommandChangesTheSettings(t *testing.T) {
	t.Parallel()
	p := newPlace(t, true)
	before := p.files(t)
	marker := filepath.Join(filepath.Dir(p.folder), "started")
	seen := p.looked(t, `echo '* filter=f' >.gitattributes; touch run.sh; rm a.txt
		for k in clean smudge process; do git config filter.f.$k "touch `+marker+`; cat"; done
		git config core.fsmonitor "touch `+marker+`"; git config core.worktree /; git config extensions.partialClone origin; git config remote.origin.url "ext::touch `+marker+`"
		rm -f .git/info/attributes; mkdir -p .git/info; echo '* filter=f' >.git/info/attributes`)
	require.NoFileExists(t, marker)
	require.Equal(t, before, p.back(t, p.files(t), seen.Changes))
	p.sh(t, `rm -f `+marker+`; git --work-tree=. status -s >/dev/null || true`)
	require.FileExists(t, marker, "git itself runs it")
}

// Too many changes for a record are not recorded. Files that differ only in their times are not changed.
func TestManyPaths(t *testing.T) {
	t.Parallel()
	p := emptyPlace(t)
	p.o.most = 20
	p.sh(t, `git init -q -b main; mkdir m; cd m; seq 21 | xargs touch; cd ..; git add .; git commit -qm many; git checkout -qb other; echo o >o; git add o; git commit -qm o; git checkout -q main`)
	seen := p.looked(t, `touch m/*; echo x >m/1`)
	require.Equal(t, []string{"m/1"}, pathsOf(seen))
	require.Empty(t, seen.Limits)
	seen = p.looked(t, `git checkout -q -- .; git checkout -q other; git rm -rq m; git commit -qm gone`)
	require.Empty(t, seen.Changes)
	require.Equal(t, []string{change.LimitLarge}, seen.Limits)
	require.NotEqual(t, seen.Git.Head, seen.Git.HeadAfter)

	p.sh(t, `git checkout -q main; git rm -q --cached -r m; git commit -qm untracked`) // too many untracked files
	seen = p.looked(t, `echo y >m/1; rm m/21 m/9; rm o 2>/dev/null || true`)
	require.Len(t, seen.Changes, 3)
	require.Contains(t, seen.Limits, change.LimitBudget)
}

func pathsOf(seen Seen) (paths []string) {
	for _, c := range seen.Changes {
		paths = append(paths, c.Path)
	}
	return paths
}

// A work tree that the settings put elsewhere, and folders that are not projects, are not scanned.
func TestWhatIsNotLookedAt(t *testing.T) {
	t.Parallel()
	t.Run("work tree elsewhere", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, true)
		p.sh(t, `git config core.worktree `+filepath.Dir(p.folder)+`; echo s >../secret`)
		before := p.files(t)
		seen := p.looked(t, `rm a.txt; rm ../secret`)
		require.Nil(t, seen.Git)
		require.Equal(t, before, p.back(t, p.files(t), seen.Changes))
		require.Equal(t, []string{change.LimitNoGit}, seen.Limits)
	})
	t.Run("bare", func(t *testing.T) {
		t.Parallel()
		p := emptyPlace(t)
		p.sh(t, `git init -q --bare`)
		seen := p.looked(t, `echo x >new`)
		require.Empty(t, seen.Changes)
		require.Equal(t, []string{change.LimitNoGit}, seen.Limits)
	})
	t.Run("home", func(t *testing.T) {
		t.Parallel()
		p := newPlace(t, false)
		for _, home := range []string{p.folder, filepath.Join(p.folder, "d")} {
			p.o.Home = home
			l, err := Before(t.Context(), p.o)
			require.NoError(t, err)
			require.True(t, l.Blind())
		}
	})
}

// A repository on which git hangs is given up in time, and nothing is left of the look.
// Proves: RW-47 (slow)
func TestALookEndsInTime(t *testing.T) {
	t.Parallel()
	p := newPlace(t, true)
	p.sh(t, `mkfifo ../pipe; git config core.excludesFile ../pipe`)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err := Before(ctx, p.o)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	left, err := os.ReadDir(p.o.Temp)
	require.True(t, err == nil || os.IsNotExist(err))
	require.Empty(t, left)
}

// The contents of large files are not stored, but their changes are recorded.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t, true)
	p.contents = contents.Open(contents.Options{Fs: afero.NewOsFs(), MaxFile: 10, Exclude: []string{"secret*"}})
	p.o.Contents = p.contents
	p.sh(t, `echo 0123456789abcdef >big; git add big; git commit -qm big; echo 0123456789abcdef >big2; truncate -s 5G huge; echo s >secret.txt`)
	seen := p.looked(t, `echo x >>big; echo y >>big2; truncate -s 6G huge; echo t >secret.txt`)
	require.Equal(t, []string{"big", "big2", "huge", "secret.txt"}, pathsOf(seen))
	for _, c := range seen.Changes {
		require.Equal(t, change.Large, c.Before.Kind, c.Path)
		require.Equal(t, change.Large, c.After.Kind, c.Path)
		require.Len(t, c.Before.SHA256, 64, c.Path)
		require.NotEqual(t, c.Before.SHA256, c.After.SHA256, c.Path)
	}
	require.Contains(t, seen.Limits, change.LimitLarge)
}

// The directory of git may be read-only, and a nested repository may go as a whole.
func TestReadOnlyAndRemoved(t *testing.T) {
	t.Parallel()
	p := newPlace(t, true)
	p.sh(t, `git init -q n; cd n; echo s >s.txt; git add .; git commit -qm s; echo u >u.txt; cd ..; chmod -R a-w .git`)
	t.Cleanup(func() { require.NoError(t, p.command(context.Background(), "chmod -R u+w .git")) })
	seen := p.looked(t, `rm a.txt; rm -rf n`)
	require.Equal(t, []string{"a.txt", "n/s.txt", "n/u.txt"}, pathsOf(seen))
	require.Equal(t, change.Large, seen.Changes[1].Before.Kind, "its objects are gone")
	require.Equal(t, change.Regular, seen.Changes[2].Before.Kind)
	require.Contains(t, seen.Limits, change.LimitBudget)
}

// Old private repositories of dead processes are removed, and no other files.
func TestWhatIsLeftIsSwept(t *testing.T) {
	t.Parallel()
	p := newPlace(t, true)
	old, young, other := filepath.Join(p.o.Temp, privatePrefix+"1"), filepath.Join(p.o.Temp, privatePrefix+"2"), filepath.Join(p.o.Temp, "other")
	for _, dir := range []string{old, young, other} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	for _, dir := range []string{old, other} {
		require.NoError(t, os.Chtimes(dir, time.Now().Add(-2*stale), time.Now().Add(-2*stale)))
	}
	p.looked(t, "true")
	require.NoDirExists(t, old)
	require.DirExists(t, young)
	require.DirExists(t, other)
}

// A saved look is not used for other folders.
func TestASavedLookIsNotBelieved(t *testing.T) {
	t.Parallel()
	p := newPlace(t, true)
	l, err := Before(t.Context(), p.o)
	require.NoError(t, err)
	defer l.Close()
	file := filepath.Join(filepath.Dir(p.folder), "look.json")
	require.NoError(t, l.Save(p.o.Fs, file))
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	for name, r := range map[string][2]string{
		"another top":     {`"top":"` + p.folder, `"top":"/elsewhere`},
		"another private": {`"dir":"` + p.o.Temp, `"dir":"/elsewhere`},
		"no private":      {`"private":`, `"other":`},
		"version":         {`"v":1`, `"v":2`},
		"no JSON":         {`{`, `[`},
	} {
		changed := strings.Replace(string(raw), r[0], r[1], 1)
		require.NotEqual(t, string(raw), changed, name)
		require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
		_, err := Load(p.o.Fs, file, p.o)
		require.Error(t, err, name)
	}
}

// Two looks at many files cost no more than a few times what git takes for its status. XCSH_LOOK_FILES sets their number.
func TestTheCostOfALook(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("XCSH_LOOK_FILES"))
	if n == 0 {
		t.Skip("XCSH_LOOK_FILES is not set")
	}
	p := emptyPlace(t)
	for i := range n {
		dir := filepath.Join(p.folder, fmt.Sprint("d", i/100))
		if i%100 == 0 {
			require.NoError(t, os.MkdirAll(dir, 0o755))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), []byte(strconv.Itoa(i%50)+"\n"), 0o644))
	}
	p.sh(t, `git init -q; git add .; git commit -qm one; git status -s`)
	p.looked(t, "true")
	best := func(f func()) time.Duration {
		least := time.Hour
		for range 5 {
			start := time.Now()
			f()
			least = min(least, time.Since(start))
		}
		return least
	}
	status := best(func() { p.sh(t, "git status -s -uall") })
	looks := best(func() { p.looked(t, "echo x >>d0/f1") })
	t.Logf("%d files: git status %v, two looks %v", n, status, looks)
	require.Less(t, looks, 4*status)
}
