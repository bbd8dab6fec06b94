package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

const (
	local  = sessionsRoot + "/--w--/"
	remote = sessionsRoot + "/--v--/"
)

// conventional is the name the programs give the file of a session.
func conventional(id string) string { return "2026-11-20T10-00-00-000Z_" + id + ".jsonl" }

// library is a store with sessions of two projects. Later ones are older.
func library(t *testing.T) (afero.Fs, session.Finder) {
	t.Helper()
	fs := afero.NewMemMapFs()
	for i, s := range []struct{ path, content string }{
		{local + conventional("15d56a686bbe0001"), titled("15d56a686bbe0001", "/w", "Fix the login")},
		{local + conventional("15d56a686bbe0002"), chat("15d56a686bbe0002", "/w", "hello")},
		{local + conventional("15d5ffff00000003"), chat("15d5ffff00000003", "/w")},
		{local + "renamed.jsonl", chat("0DD1DE00", "/w", "hello")},
		{local + "by-hand_SUFFIX1.jsonl", chat("0ther", "/w", "hello")},
		{local + conventional("0123456789abcdef"), chat("zz-belied", "/w", "hello")},
		{local + conventional("ident"), chat("ident", "/w", "hello")},
		{local + conventional("identical"), chat("identical", "/w", "hello")},
		{remote + conventional("aaaa000000000001"), titled("aaaa000000000001", "/v", "Far away")},
		{remote + conventional("15d56a686bbe0009"), chat("15d56a686bbe0009", "/v", "hello")},
	} {
		putSession(t, fs, s.path, s.content, time.Duration(i)*time.Minute)
	}
	return fs, newFinder(fs)
}

func TestResolve(t *testing.T) {
	t.Parallel()
	const a, b, empty = "15d56a686bbe0001", "15d56a686bbe0002", "15d5ffff00000003"
	for _, c := range []struct {
		name, target string
		opts         session.ResolveOptions
		want         []string // ids
		scope        string
		one          string // the id that One picks, or the kind of its error
	}{
		{"a whole id", a, session.ResolveOptions{}, []string{a}, "local", a},
		{"case does not matter", strings.ToUpper(a), session.ResolveOptions{}, []string{a}, "local", a},
		{"space around does not matter", " " + a + " ", session.ResolveOptions{}, []string{a}, "local", a},
		{"a prefix that two share, the newest first", "15d56a", session.ResolveOptions{}, []string{a, b}, "local", "ambiguous"},
		{"a whole id before one that goes on", "ident", session.ResolveOptions{}, []string{"ident", "identical"}, "local", "ident"},
		{"an id that the file name does not tell", "0dd1", session.ResolveOptions{}, []string{"0DD1DE00"}, "local", "0DD1DE00"},
		{"an id that the file name belies, when no name matches", "zz-b", session.ResolveOptions{}, []string{"zz-belied"}, "local", "zz-belied"},
		{"the beginning of a file name", "2026-11-20t10-00", session.ResolveOptions{}, []string{a, b, "zz-belied", "ident", "identical"}, "local", "ambiguous"},
		{"a whole file name", "renamed", session.ResolveOptions{}, []string{"0DD1DE00"}, "local", "0DD1DE00"},
		{"a whole file name with its ending", "renamed.jsonl", session.ResolveOptions{}, []string{"0DD1DE00"}, "local", "0DD1DE00"},
		{"what is behind the last underscore", "suffix", session.ResolveOptions{}, []string{"0ther"}, "local", "0ther"},
		{"a whole title", "fix the LOGIN", session.ResolveOptions{}, []string{a}, "local", a},
		{"the beginning of a title", "fix", session.ResolveOptions{}, []string{a}, "local", a},
		{"the middle of an id is no match", "6a686bbe", session.ResolveOptions{}, nil, "global", "notFound"},
		{"another project when there is none here", "aaaa", session.ResolveOptions{}, []string{"aaaa000000000001"}, "global", "aaaa000000000001"},
		{"another project's title", "far", session.ResolveOptions{}, []string{"aaaa000000000001"}, "global", "aaaa000000000001"},
		{"only this folder", "aaaa", session.ResolveOptions{Scope: "folder"}, nil, "local", "notFound"},
		{"all projects at once", "15d56a", session.ResolveOptions{Scope: "all"}, []string{a, b, "15d56a686bbe0009"}, "global", "ambiguous"},
		{"a forced directory is the only one", "aaaa", session.ResolveOptions{SessionDir: local}, nil, "local", "notFound"},
		{"a forced directory holds other projects too", "aaaa", session.ResolveOptions{SessionDir: remote}, []string{"aaaa000000000001"}, "local", "aaaa000000000001"},
		{"without messages by a prefix", "15d5f", session.ResolveOptions{}, nil, "global", "notFound"},
		{"without messages by its whole id", empty, session.ResolveOptions{}, []string{empty}, "local", empty},
		{"nothing stands for nothing", "", session.ResolveOptions{}, nil, "local", "notFound"},
		{"blanks stand for nothing", " \t", session.ResolveOptions{}, nil, "local", "notFound"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fs, f := library(t)
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

func TestResolutionOneWordsItsErrors(t *testing.T) {
	t.Parallel()
	_, f := library(t)
	r, err := f.Resolve(t.Context(), "/w", "nobody", session.ResolveOptions{})
	require.NoError(t, err)
	_, err = r.One()
	require.Equal(t, `Session "nobody" not found.`, err.Error())

	r, err = f.Resolve(t.Context(), "/w", "15d56a", session.ResolveOptions{})
	require.NoError(t, err)
	_, err = r.One()
	var ambiguous *fault.Error
	require.ErrorAs(t, err, &ambiguous)
	require.Equal(t, []session.Candidate{
		{Path: local + conventional("15d56a686bbe0001"), ID: "15d56a686bbe0001", Name: "Fix the login", Cwd: "/w", Modified: "2026-11-20T12:00:00.000Z"},
		{Path: local + conventional("15d56a686bbe0002"), ID: "15d56a686bbe0002", Name: "hello", Cwd: "/w", Modified: "2026-11-20T11:59:00.000Z"},
	}, ambiguous.Data["candidates"])
}

func TestResolveTwoFilesOfOneID(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := newFinder(fs)
	putSession(t, fs, sessionsRoot+"/-p/a.jsonl", chat("same", "/home/zed/p", "new"), 0)
	putSession(t, fs, sessionsRoot+"/--home-zed-p--/a.jsonl", chat("same", "/home/zed/p", "old"), time.Hour)
	r, err := f.Resolve(t.Context(), "/home/zed/p", "same", session.ResolveOptions{})
	require.NoError(t, err)
	require.Len(t, r.Matches, 2)
	_, err = r.One()
	require.Equal(t, fault.Ambiguous, fault.KindOf(err), "two files are two sessions")
}

func TestResolveAPath(t *testing.T) {
	t.Parallel()
	fs, f := library(t)
	putSession(t, fs, "/w/notes/s.jsonl", chat("s", "/elsewhere"), 0)
	putSession(t, fs, "/w/here.jsonl", chat("here", "/w"), 0)
	putSession(t, fs, "/w/sp ace/é.jsonl", chat("odd", "/w"), 0)
	putSession(t, fs, "/home/zed/mine.jsonl", chat("mine", "/w"), 0)
	putSession(t, fs, "/w/no.jsonl", "no session\n", 0)
	putSession(t, fs, "/w/plain.txt", chat("txt", "/w"), 0)
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
			r, err := f.Resolve(t.Context(), "/w", c.target, session.ResolveOptions{Scope: "folder"})
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
	_, err := f.Resolve(t.Context(), "/w", "gone.jsonl", session.ResolveOptions{})
	require.Equal(t, "File not found: "+filepath.Join("/w", "gone.jsonl"), err.Error())
	_, err = f.Resolve(t.Context(), "/w", "x", session.ResolveOptions{Scope: "galaxy"})
	require.Equal(t, fault.InvalidArgument, fault.KindOf(err))
}

func TestTargetPath(t *testing.T) {
	t.Parallel()
	f := newFinder(afero.NewMemMapFs())
	for _, id := range []string{"15d56a", "fix the login", "file", "", "jsonl"} {
		_, ok, err := f.TargetPath("/w", id)
		require.NoError(t, err)
		require.False(t, ok, "%q is no path", id)
	}
	path, ok, err := f.TargetPath("/w", "new/s.jsonl")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, filepath.Join("/w", "new", "s.jsonl"), path, "it need not exist")
}

func TestResolveSaysWhatIsDamaged(t *testing.T) {
	t.Parallel()
	fs, f := library(t)
	putSession(t, fs, local+conventional("bad0000000000001"), `{"type":"session","id":"ba`, 0)
	_, err := f.Resolve(t.Context(), "/w", "bad0", session.ResolveOptions{})
	require.Equal(t, fault.Damaged, fault.KindOf(err))
	require.Contains(t, err.Error(), "bad0000000000001")
	putSession(t, fs, local+conventional("bad0000000000002"), chat("bad0000000000002", "/w", "hello"), 0)
	r, err := f.Resolve(t.Context(), "/w", "bad0", session.ResolveOptions{})
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
		putSession(t, fs, local+conventional(id), chat(id, "/w", "hello"), time.Duration(i)*time.Minute)
	}
	var opened []string
	f := newFinder(openedFs{fs, &opened})
	r, err := f.Resolve(t.Context(), "/w", "0042", session.ResolveOptions{})
	require.NoError(t, err)
	require.Len(t, r.Matches, 1)
	require.Equal(t, []string{local + conventional("0042aaaaaaaaaaaa")}, opened)
}

func TestResolveOnDiskPassesOverLinks(t *testing.T) {
	t.Parallel()
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	f := newFinder(fs)
	putSession(t, fs, local+conventional("abcd"), chat("abcd", "/w", "hello"), 0)
	real, err := fs.(*afero.BasePathFs).RealPath(local)
	require.NoError(t, err)
	if err := os.Symlink(conventional("abcd"), filepath.Join(real, conventional("abce"))); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	require.NoError(t, os.Mkdir(filepath.Join(real, conventional("abcf")), 0o700))
	r, err := f.Resolve(t.Context(), "/w", "abc", session.ResolveOptions{})
	require.NoError(t, err)
	require.Len(t, r.Matches, 1)
}

func BenchmarkResolvePrefix(b *testing.B) {
	fs := afero.NewBasePathFs(afero.NewOsFs(), b.TempDir())
	f := newFinder(fs)
	for i := range 1000 {
		id := fmt.Sprintf("%04xaaaaaaaaaaaa", i)
		putSession(b, fs, fmt.Sprintf("%s/--w%d--/%s", sessionsRoot, i%10, conventional(id)), chat(id, fmt.Sprintf("/w%d", i%10), "hello"), 0)
	}
	for b.Loop() {
		r, err := f.Resolve(b.Context(), "/w3", "0042", session.ResolveOptions{})
		require.NoError(b, err)
		require.Len(b, r.Matches, 1)
	}
}
