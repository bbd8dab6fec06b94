package look

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/contents"
)

// place is a folder that commands change.
type place struct {
	folder   string
	contents *contents.Store
	o        Options
}

// template is made once: a repository with a few files, of which some are dirty, untracked or ignored.
var template = sync.OnceValues(func() (string, error) {
	base, err := os.MkdirTemp("", "look-template-")
	if err != nil {
		return "", err
	}
	p := &place{folder: base, o: Options{Env: os.Environ()}}
	return base, p.command(context.Background(), `git init -q -b main
		printf 'a\nb\nc\n' >a.txt; printf 'x' >dirty.txt; mkdir -p d/e; echo in >d/e/f.txt; echo run >run.sh; chmod +x run.sh; ln -s a.txt link
		printf '*.log\n.env\nnode_modules/\n' >.gitignore
		git add -A; git commit -qm one; rm .git/hooks/*
		echo more >>dirty.txt; echo new >untracked.txt; echo secret >.env; mkdir node_modules; echo m >node_modules/m.js`)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if base, err := template(); err == nil {
		_ = os.RemoveAll(base)
	}
	os.Exit(code)
}

// newPlace returns a folder; with git it is a copy of the template, as git knows it.
func newPlace(t *testing.T, git bool) *place {
	t.Helper()
	p := emptyPlace(t)
	if git {
		from, err := template()
		require.NoError(t, err)
		p.sh(t, "cp -a "+from+"/. .; git update-index -q --refresh || true")
	} else {
		p.sh(t, `printf 'a\nb\n' >a.txt; mkdir -p d/e; echo in >d/e/f.txt; echo run >run.sh; chmod +x run.sh; ln -s a.txt link`)
	}
	return p
}

func emptyPlace(t *testing.T) *place {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := &place{folder: filepath.Join(base, "w"), contents: contents.Open(contents.Options{Fs: afero.NewOsFs()})}
	require.NoError(t, os.Mkdir(p.folder, 0o755))
	p.o = Options{
		Folder: p.folder, Home: filepath.Join(base, "home"), Fs: afero.NewOsFs(), Contents: p.contents, Memory: &Memory{},
		Temp: filepath.Join(base, "temp"), Log: zap.NewNop(), Env: append(os.Environ(), "HOME="+filepath.Join(base, "home")),
	}
	return p
}

// sh runs a command in the folder.
func (p *place) sh(t *testing.T, script string) {
	t.Helper()
	require.NoError(t, p.command(t.Context(), script))
}

func (p *place) command(ctx context.Context, script string) error {
	cmd := exec.CommandContext(ctx, "sh", "-ec", script)
	cmd.Dir = p.folder
	cmd.Env = append(p.o.Env, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// files are the files of the folder but those of git and ignored directories: their mode and content.
func (p *place) files(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(p.folder, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		rel, _ := filepath.Rel(p.folder, path)
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || d.Name() == ".git" || d.Type()&fs.ModeNamedPipe != 0:
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			found[rel] = "link " + target
			return err
		}
		info, err := d.Info()
		require.NoError(t, err)
		raw, err := os.ReadFile(path)
		found[rel] = info.Mode().String() + " " + string(raw)
		return err
	}))
	return found
}

// back undoes changes of files.
func (p *place) back(t *testing.T, files map[string]string, changes []change.Change) map[string]string {
	t.Helper()
	for _, c := range changes {
		require.Equal(t, p.text(t, *c.After), files[c.Path], "the state after the command of %s", c.Path)
		if c.Before.Kind == change.Absent {
			delete(files, c.Path)
			continue
		}
		files[c.Path] = p.text(t, c.Before)
	}
	return files
}

// text formats a state like files.
func (p *place) text(t *testing.T, s change.State) string {
	t.Helper()
	switch s.Kind {
	case change.Absent:
		return ""
	case change.Link:
		raw, err := p.contents.Get(s.SHA256)
		require.NoError(t, err)
		return "link " + string(raw)
	case change.Regular:
		raw, err := p.contents.Get(s.SHA256)
		require.NoError(t, err)
		return fs.FileMode(s.Mode).String() + " " + string(raw)
	}
	return string(s.Kind)
}

// looked runs a command between two looks.
func (p *place) looked(t *testing.T, script string) Seen {
	t.Helper()
	l, err := Before(t.Context(), p.o)
	require.NoError(t, err)
	defer l.Close()
	p.sh(t, script)
	seen, err := l.After(t.Context())
	require.NoError(t, err)
	return seen
}

// Changes of commands are undone exactly.
// Proves: RW-39, RW-40
func TestCommandsAreTakenBack(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"nothing":              `true`,
		"edit":                 `sed -i 's/b/B/' a.txt`,
		"edit of a dirty file": `echo again >>dirty.txt`,
		"edit of an untracked": `echo again >>untracked.txt`,
		"edit of an ignored":   `echo again >>.env`,
		"create":               `mkdir -p x/y; echo z >x/y/z.txt`,
		"remove":               `rm a.txt untracked.txt .env; rm -r d`,
		"move":                 `mv a.txt b.txt; git mv run.sh d/`,
		"mode":                 `chmod +x a.txt; chmod -x run.sh`,
		"link":                 `ln -sf dirty.txt link; ln -s nowhere new`,
		"checkout of files":    `git checkout -q -- dirty.txt`,
		"reset":                `git reset -q --hard`,
		"stash":                `git stash -q -u`,
		"clean":                `git clean -qfd`,
		"commit":               `git commit -qam two`,
		"add":                  `git add -A`,
		"branch":               `git stash -q; git checkout -qb other; echo o >o.txt; git add o.txt; git commit -qm o; git checkout -q main`,
		"merge":                `git checkout -qb other; echo o >>a.txt; git commit -qm o a.txt; git checkout -q main; git merge -q other`,
		"rebase":               `git stash -q; git checkout -qb other; echo o >o; git add o; git commit -qm o; git checkout -q main; echo p >p; git add p; git commit -qm p; git rebase -q other`,
		"file to directory":    `rm a.txt; mkdir a.txt; echo in >a.txt/in`,
		"directory to file":    `rm -r d; echo file >d`,
		"link to directory":    `rm -r d; ln -s node_modules d`,
		"rewritten the same":   `cp a.txt t; mv t a.txt; touch dirty.txt`,
		"names":                "echo n >'new\nline'; echo s >'  space '; echo q >'\"q\"'; rm a.txt",
		"index removed":        `rm .git/index; echo i >>a.txt`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, true)
			before := p.files(t)
			seen := p.looked(t, script)
			require.Equal(t, before, p.back(t, p.files(t), seen.Changes))
			require.Contains(t, seen.Limits, change.LimitIgnored, "there is an ignored directory")
			require.NotNil(t, seen.Git)
			left, err := os.ReadDir(p.o.Temp)
			require.NoError(t, err)
			require.Empty(t, left, "no copy of the index is left")
		})
	}
}

// Proves: RW-47
func TestWithoutGit(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"nothing": `true`,
		"several": `sed -i 's/b/B/' a.txt; rm -r d; echo n >n; chmod -x run.sh; ln -sf n link; mkfifo pipe`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, false)
			before := p.files(t)
			seen := p.looked(t, script)
			require.NoError(t, os.RemoveAll(filepath.Join(p.folder, "pipe")))
			changes := seen.Changes[:0]
			for _, c := range seen.Changes {
				if c.Path != "pipe" {
					changes = append(changes, c)
				}
			}
			require.Equal(t, before, p.back(t, p.files(t), changes))
			require.Equal(t, []string{change.LimitNoGit}, seen.Limits)
			require.Nil(t, seen.Git)
		})
	}
}

// Nothing of the repository is written by a look.
func TestALookWritesNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t, true)
	all := func() map[string]string {
		found := map[string]string{}
		require.NoError(t, filepath.WalkDir(filepath.Join(p.folder, ".git"), func(path string, d fs.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := d.Info()
			require.NoError(t, err)
			raw := ""
			if info.Mode().IsRegular() {
				content, err := os.ReadFile(path)
				require.NoError(t, err)
				raw = string(content)
			}
			found[path] = info.ModTime().String() + raw
			return nil
		}))
		return found
	}
	was := all()
	require.Empty(t, p.looked(t, "true").Changes)
	require.Equal(t, was, all())
}

// A repository's settings name programs at every place where git would start one. None is started, and the changes are right.
func TestNothingOfARepositoryIsRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t, true)
	marker := filepath.Join(filepath.Dir(p.folder), "started")
	evil := filepath.Join(filepath.Dir(p.folder), "evil")
	require.NoError(t, os.WriteFile(evil, []byte("#!/bin/sh\necho $0 $* >>"+marker+"\ncat\n"), 0o700))
	p.sh(t, strings.ReplaceAll(`
		printf '*.txt filter=f diff=f\n*.sh filter=g.h\n' >.gitattributes
		for k in core.fsmonitor core.sshCommand core.gitProxy core.pager core.editor diff.external diff.f.textconv diff.f.command credential.helper core.alternateRefsCommand; do git config $k EVIL; done
		for f in f g.h; do for k in clean smudge process; do git config filter.$f.$k EVIL; done; git config filter.$f.required true; done
		git config core.hooksPath `+filepath.Dir(evil)+`
		for h in post-checkout post-index-change pre-commit; do cp EVIL .git/hooks/$h; done`, "EVIL", evil))
	before := p.files(t)
	l, err := Before(t.Context(), p.o)
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, os.WriteFile(filepath.Join(p.folder, "dirty.txt"), []byte("by the command"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(p.folder, "new.txt"), []byte("new"), 0o644))
	seen, err := l.After(t.Context())
	require.NoError(t, err)
	require.Equal(t, before, p.back(t, p.files(t), seen.Changes))
	require.Len(t, seen.Changes, 2)
	_, err = AtHead(t.Context(), p.o, p.folder, []string{filepath.Join(p.folder, "a.txt")})
	require.NoError(t, err)
	require.NoFileExists(t, marker)
}

func TestHeadAndItsFiles(t *testing.T) {
	t.Parallel()
	p := newPlace(t, true)
	head, branch := Head(t.Context(), p.o, p.folder)
	require.Len(t, head, 40)
	require.Equal(t, "main", branch)
	paths := []string{filepath.Join(p.folder, "a.txt"), filepath.Join(p.folder, "dirty.txt"), filepath.Join(p.folder, "untracked.txt"), "/etc/passwd"}
	found, err := AtHead(t.Context(), p.o, p.folder, paths)
	require.NoError(t, err)
	require.Equal(t, map[string][]byte{paths[0]: []byte("a\nb\nc\n"), paths[1]: []byte("x")}, found)
	p.sh(t, `git commit -qam two; git commit -q --allow-empty -m three`)
	now, _ := Head(t.Context(), p.o, p.folder)
	require.Len(t, Commits(t.Context(), p.o, p.folder, head, now), 2)
	require.Empty(t, Commits(t.Context(), p.o, p.folder, head, head))
	require.Empty(t, Commits(t.Context(), p.o, p.folder, "--output=x", now))
	head, branch = Head(t.Context(), p.o, filepath.Dir(p.folder))
	require.Empty(t, head+branch)
}

// A look that was saved is completed by another process.
func TestASavedLook(t *testing.T) {
	t.Parallel()
	for _, git := range []bool{true, false} {
		p := newPlace(t, git)
		before := p.files(t)
		l, err := Before(t.Context(), p.o)
		require.NoError(t, err)
		file := filepath.Join(filepath.Dir(p.folder), "look.json")
		require.NoError(t, l.Save(p.o.Fs, file))
		p.sh(t, `echo more >>a.txt; rm -r d; echo n >n`)
		o := p.o
		o.Memory = &Memory{}
		again, err := Load(o.Fs, file, o)
		require.NoError(t, err)
		seen, err := again.After(t.Context())
		require.NoError(t, err)
		again.Close()
		require.Equal(t, before, p.back(t, p.files(t), seen.Changes))
		o.Folder = "/elsewhere"
		_, err = Load(o.Fs, file, o)
		require.Error(t, err)
	}
}
