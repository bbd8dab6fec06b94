package library_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

const (
	local  = kit.SessionsRoot + "/--w--/"
	remote = kit.SessionsRoot + "/--v--/"
)

// conventional is the file name that the programs give a session.
func conventional(id string) string { return "2026-11-20T10-00-00-000Z_" + id + ".jsonl" }

// twoProjects is a store with sessions of two projects. Later ones are older.
func twoProjects(t *testing.T) (afero.Fs, library.Finder) {
	t.Helper()
	fs := afero.NewMemMapFs()
	for i, s := range []struct{ path, content string }{
		{local + conventional("15d56a686bbe0001"), titled("15d56a686bbe0001", "/w", "Fix the login")},
		{local + conventional("15d56a686bbe0002"), kit.Chat("15d56a686bbe0002", "/w", "hello")},
		{local + conventional("15d5ffff00000003"), kit.Chat("15d5ffff00000003", "/w")},
		{local + "renamed.jsonl", kit.Chat("0DD1DE00", "/w", "hello")},
		{local + "by-hand_SUFFIX1.jsonl", kit.Chat("0ther", "/w", "hello")},
		{local + conventional("0123456789abcdef"), kit.Chat("zz-belied", "/w", "hello")},
		{local + conventional("ident"), kit.Chat("ident", "/w", "hello")},
		{local + conventional("identical"), kit.Chat("identical", "/w", "hello")},
		{remote + conventional("aaaa000000000001"), titled("aaaa000000000001", "/v", "Far away")},
		{remote + conventional("15d56a686bbe0009"), kit.Chat("15d56a686bbe0009", "/v", "hello")},
	} {
		kit.PutSession(t, fs, s.path, s.content, time.Duration(i)*time.Minute)
	}
	return fs, kit.NewFinder(fs)
}

// Proves, O-042, A-009
func TestResolve(t *testing.T) {
	t.Parallel()
	const a, b, empty = "15d56a686bbe0001", "15d56a686bbe0002", "15d5ffff00000003"
	for _, c := range []struct {
		name, target string
		opts         library.ResolveOptions
		want         []string // ids
		scope        string
		one          string // the id that One picks, or the kind of its error
	}{
		{"a whole id", a, library.ResolveOptions{}, []string{a}, "local", a},
		{"case does not matter", strings.ToUpper(a), library.ResolveOptions{}, []string{a}, "local", a},
		{"space around does not matter", " " + a + " ", library.ResolveOptions{}, []string{a}, "local", a},
		{"a prefix that two share, the newest first", "15d56a", library.ResolveOptions{}, []string{a, b}, "local", "ambiguous"},
		{"a whole id before one that goes on", "ident", library.ResolveOptions{}, []string{"ident", "identical"}, "local", "ident"},
		{"an id that the file name does not tell", "0dd1", library.ResolveOptions{}, []string{"0DD1DE00"}, "local", "0DD1DE00"},
		{"an id that the file name belies, when no name matches", "zz-b", library.ResolveOptions{}, []string{"zz-belied"}, "local", "zz-belied"},
		{"the beginning of a file name", "2026-11-20t10-00", library.ResolveOptions{}, []string{a, b, "zz-belied", "ident", "identical"}, "local", "ambiguous"},
		{"a whole file name", "renamed", library.ResolveOptions{}, []string{"0DD1DE00"}, "local", "0DD1DE00"},
		{"a whole file name with its ending", "renamed.jsonl", library.ResolveOptions{}, []string{"0DD1DE00"}, "local", "0DD1DE00"},
		{"what is behind the last underscore", "suffix", library.ResolveOptions{}, []string{"0ther"}, "local", "0ther"},
		{"a whole title", "fix the LOGIN", library.ResolveOptions{}, []string{a}, "local", a},
		{"the beginning of a title", "fix", library.ResolveOptions{}, []string{a}, "local", a},
		{"the middle of an id is no match", "6a686bbe", library.ResolveOptions{}, nil, "global", "notFound"},
		{"another project when there is none here", "aaaa", library.ResolveOptions{}, []string{"aaaa000000000001"}, "global", "aaaa000000000001"},
		{"another project's title", "far", library.ResolveOptions{}, []string{"aaaa000000000001"}, "global", "aaaa000000000001"},
		{"only this folder", "aaaa", library.ResolveOptions{Scope: "folder"}, nil, "local", "notFound"},
		{"all projects at once", "15d56a", library.ResolveOptions{Scope: "all"}, []string{a, b, "15d56a686bbe0009"}, "global", "ambiguous"},
		{"a forced directory is the only one", "aaaa", library.ResolveOptions{SessionDir: local}, nil, "local", "notFound"},
		{"a forced directory holds other projects too", "aaaa", library.ResolveOptions{SessionDir: remote}, []string{"aaaa000000000001"}, "local", "aaaa000000000001"},
		{"without messages by a prefix", "15d5f", library.ResolveOptions{}, nil, "global", "notFound"},
		{"without messages by its whole id", empty, library.ResolveOptions{}, []string{empty}, "local", empty},
		{"nothing stands for nothing", "", library.ResolveOptions{}, nil, "local", "notFound"},
		{"blanks stand for nothing", " \t", library.ResolveOptions{}, nil, "local", "notFound"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fs, f := twoProjects(t)
			f.Fs = afero.NewReadOnlyFs(fs)
			r, err := f.Resolve(t.Context(), "/w", c.target, c.opts)
			require.NoError(t, err)
			require.Equal(t, c.scope, r.Scope)
			require.NotNil(t, r.Matches)
			var ids []string
			for _, m := range r.Matches {
				ids = append(ids, m.ID)
			}
			require.Equal(t, c.want, ids)
			one, err := r.One()
			if err != nil {
				require.Equal(t, c.one, string(fault.KindOf(err)))
				return
			}
			require.Equal(t, c.one, one.ID)
		})
	}
}

// Proves: X-178
func TestResolutionOneWordsItsErrors(t *testing.T) {
	t.Parallel()
	_, f := twoProjects(t)
	r, err := f.Resolve(t.Context(), "/w", "nobody", library.ResolveOptions{})
	require.NoError(t, err)
	_, err = r.One()
	require.Equal(t, `Session "nobody" not found.`, err.Error())

	r, err = f.Resolve(t.Context(), "/w", "15d56a", library.ResolveOptions{})
	require.NoError(t, err)
	_, err = r.One()
	var ambiguous *fault.Error
	require.ErrorAs(t, err, &ambiguous)
	require.Equal(t, []library.Candidate{
		{Path: local + conventional("15d56a686bbe0001"), ID: "15d56a686bbe0001", Name: "Fix the login", Cwd: "/w", Modified: "2026-11-20T12:00:00.000Z"},
		{Path: local + conventional("15d56a686bbe0002"), ID: "15d56a686bbe0002", Name: "hello", Cwd: "/w", Modified: "2026-11-20T11:59:00.000Z"},
	}, ambiguous.Data["candidates"])
}

// Proves: X-172
func TestResolveTwoFilesOfOneID(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	kit.PutSession(t, fs, kit.SessionsRoot+"/-p/a.jsonl", kit.Chat("same", "/home/zed/p", "new"), 0)
	kit.PutSession(t, fs, kit.SessionsRoot+"/--home-zed-p--/a.jsonl", kit.Chat("same", "/home/zed/p", "old"), time.Hour)
	r, err := f.Resolve(t.Context(), "/home/zed/p", "same", library.ResolveOptions{})
	require.NoError(t, err)
	require.Len(t, r.Matches, 2)
	_, err = r.One()
	require.Equal(t, fault.Ambiguous, fault.KindOf(err), "two files are two sessions")
}

// Proves, AB-055
func TestResolveAPath(t *testing.T) {
	t.Parallel()
	fs, f := twoProjects(t)
	kit.PutSession(t, fs, "/w/notes/s.jsonl", kit.Chat("s", "/elsewhere"), 0)
	kit.PutSession(t, fs, "/w/here.jsonl", kit.Chat("here", "/w"), 0)
	kit.PutSession(t, fs, "/w/sp ace/é.jsonl", kit.Chat("odd", "/w"), 0)
	kit.PutSession(t, fs, "/home/zed/mine.jsonl", kit.Chat("mine", "/w"), 0)
	kit.PutSession(t, fs, "/w/no.jsonl", "no session\n", 0)
	kit.PutSession(t, fs, "/w/plain.txt", kit.Chat("txt", "/w"), 0)
	for _, c := range []struct{ name, target, id, kind string }{
		{"absolute", "/w/notes/s.jsonl", "s", ""},
		{"absolute with steps back", "/w/x/../notes/./s.jsonl", "s", ""},
		{"relative to the working directory", "notes/s.jsonl", "s", ""},
		{"below it", "./here.jsonl", "here", ""},
		{"only a name", "here.jsonl", "here", ""},
		{"in the home directory", "~/mine.jsonl", "mine", ""},
		{"a URI", "file:///w/notes/s.jsonl", "s", ""},
		{"a URI with escapes", "FILE://localhost/w/sp%20ace/%C3%A9.jsonl", "odd", ""},
		{"any name when there is a slash", "./plain.txt", "txt", ""},
		{"missing", "/w/gone.jsonl", "", "notFound"},
		{"missing by name", "gone.jsonl", "", "notFound"},
		{"missing with backslashes", `gone\x`, "", "notFound"},
		{"a directory", "/w/notes", "", "io"},
		{"no session", "/w/no.jsonl", "", "damaged"},
		{"out of the working directory", "../home/zed/mine.jsonl", "mine", ""},
		{"out of it to nowhere", "../../etc/passwd", "", "notFound"},
		{"nothing but dots", "..", "", "io"},
		{"a NUL byte in a path", "/w/a\x00b.jsonl", "", "invalidArgument"},
		{"a NUL byte in an id", "a\x00b", "", "invalidArgument"},
		{"a NUL byte in a URI", "file:///w/a%00b", "", "invalidArgument"},
		{"a URI that is none", "file:///w/%zz", "", "invalidArgument"},
		{"a URI without a path", "file:s.jsonl", "", "invalidArgument"},
		{"a URI of another machine", "file://elsewhere/w/s.jsonl", "", "invalidArgument"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := f.Resolve(t.Context(), "/w", c.target, library.ResolveOptions{Scope: "folder"})
			if c.kind != "" {
				require.Equal(t, c.kind, string(fault.KindOf(err)))
				require.Empty(t, r.Matches)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "path", r.Scope)
			one, err := r.One()
			require.NoError(t, err)
			require.Equal(t, c.id, one.ID)
		})
	}
	_, err := f.Resolve(t.Context(), "/w", "gone.jsonl", library.ResolveOptions{})
	require.Equal(t, "File not found: "+filepath.Join("/w", "gone.jsonl"), err.Error())
	_, err = f.Resolve(t.Context(), "/w", "x", library.ResolveOptions{Scope: "galaxy"})
	require.Equal(t, fault.InvalidArgument, fault.KindOf(err))
}

// Proves, AB-055
func TestTargetPath(t *testing.T) {
	t.Parallel()
	f := kit.NewFinder(afero.NewMemMapFs())
	for _, id := range []string{"15d56a", "fix the login", "file", "", "jsonl"} {
		_, ok, err := f.TargetPath("/w", id)
		require.NoError(t, err)
		require.False(t, ok, "%q is no path", id)
	}
	path, ok, err := f.TargetPath("/w", "s.jsonl")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, filepath.Join("/w", "s.jsonl"), path)
	path, ok, err = f.TargetPath("/w", "new/s.jsonl")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, filepath.Join("/w", "new", "s.jsonl"), path, "it need not exist")
}

func TestResolveReportsDamagedFiles(t *testing.T) {
	t.Parallel()
	fs, f := twoProjects(t)
	kit.PutSession(t, fs, local+conventional("bad0000000000001"), `{"type":"session","id":"ba`, 0)
	_, err := f.Resolve(t.Context(), "/w", "bad0", library.ResolveOptions{})
	require.Equal(t, fault.Damaged, fault.KindOf(err))
	require.Contains(t, err.Error(), "bad0000000000001")
	kit.PutSession(t, fs, local+conventional("bad0000000000002"), kit.Chat("bad0000000000002", "/w", "hello"), 0)
	r, err := f.Resolve(t.Context(), "/w", "bad0", library.ResolveOptions{})
	require.NoError(t, err)
	require.Len(t, r.Matches, 1, "a good match goes before a damaged one")
}

// openedFs records which files are opened.
type openedFs struct {
	afero.Fs
	opened *[]string
}

func (o openedFs) Open(name string) (afero.File, error) {
	if strings.HasSuffix(name, ".jsonl") {
		*o.opened = append(*o.opened, name)
	}
	return o.Fs.Open(name)
}

func TestResolveByNameOpensNoOtherFile(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	for i := range 100 {
		id := fmt.Sprintf("%04xaaaaaaaaaaaa", i)
		kit.PutSession(t, fs, local+conventional(id), kit.Chat(id, "/w", "hello"), time.Duration(i)*time.Minute)
	}
	var opened []string
	f := kit.NewFinder(openedFs{fs, &opened})
	r, err := f.Resolve(t.Context(), "/w", "0042", library.ResolveOptions{})
	require.NoError(t, err)
	require.Len(t, r.Matches, 1)
	require.Equal(t, []string{local + conventional("0042aaaaaaaaaaaa")}, opened)
}

// Proves: AB-056
func TestResolveOnDiskPassesOverLinks(t *testing.T) {
	t.Parallel()
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	f := kit.NewFinder(fs)
	kit.PutSession(t, fs, local+conventional("abcd"), kit.Chat("abcd", "/w", "hello"), 0)
	real, err := fs.(*afero.BasePathFs).RealPath(local)
	require.NoError(t, err)
	if err := os.Symlink(conventional("abcd"), filepath.Join(real, conventional("abce"))); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	require.NoError(t, os.Mkdir(filepath.Join(real, conventional("abcf")), 0o700))
	r, err := f.Resolve(t.Context(), "/w", "abc", library.ResolveOptions{})
	require.NoError(t, err)
	require.Len(t, r.Matches, 1)
}

func BenchmarkResolvePrefix(b *testing.B) {
	fs := afero.NewBasePathFs(afero.NewOsFs(), b.TempDir())
	f := kit.NewFinder(fs)
	for i := range 1000 {
		id := fmt.Sprintf("%04xaaaaaaaaaaaa", i)
		kit.PutSession(b, fs, fmt.Sprintf("%s/--w%d--/%s", kit.SessionsRoot, i%10, conventional(id)), kit.Chat(id, fmt.Sprintf("/w%d", i%10), "hello"), 0)
	}
	for b.Loop() {
		r, err := f.Resolve(b.Context(), "/w3", "0042", library.ResolveOptions{})
		require.NoError(b, err)
		require.Len(b, r.Matches, 1)
	}
}
