package library_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// links is a RealPath that knows some symbolic links and fails for missing paths.
func links(to map[string]string) func(string) (string, error) {
	return func(path string) (string, error) {
		if target, ok := to[path]; ok {
			if target == "" {
				return "", errors.New("no such file")
			}
			return target, nil
		}
		return path, nil
	}
}

// TestCwdEncodingVectors compares with the names that xcsh itself gave.
// Proves: X-002, F-24
func TestCwdEncodingVectors(t *testing.T) {
	t.Parallel()
	var cases []struct{ Home, Tmp, Cwd, Dir string }
	kit.ReadJSON(t, filepath.Join(kit.Fixtures, "xcsh/cwd-encoding.json"), &cases)
	real := links(map[string]string{"/home/zed/link": "/tmp/xw-realdir", "/opt/xlink": "/home/zed/inner"})
	for _, c := range cases {
		t.Run(c.Cwd, func(t *testing.T) {
			t.Parallel()
			cwd := c.Cwd
			if !strings.HasPrefix(cwd, "/") {
				cwd = "/tmp/xw-oracle/" + cwd // the original's directory
			}
			require.Equal(t, c.Dir, library.DirNames(cwd, c.Home, c.Tmp, real)[0])
			require.Contains(t, library.DirNames(cwd, c.Home, c.Tmp, nil), "--"+
				strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(filepath.Clean(cwd)[1:])+"--")
		})
	}
}

// Proves: X-002, F-24
func TestDirNames(t *testing.T) {
	t.Parallel()
	const hash = `-[0-9a-f]{64}`
	for _, c := range []struct {
		name, cwd, home, temp string
		real                  map[string]string
		want                  []string
		hashed                string
	}{
		{
			"a neighbour of home has a name of its own, and the one it is misfiled under",
			"/home/zed-old/x", "/home/zed", "/tmp", nil,
			[]string{"--home-zed-old-x--", "-old-x"},
			"abs-x",
		},
		{
			"a child of home that begins with two dots counts as outside",
			"/home/zed/..foo", "/home/zed", "/tmp", nil,
			[]string{"--home-zed-..foo--", "-..foo"},
			"abs-..foo",
		},
		{
			"home is looked at before the temporary directory",
			"/home/zed/tmp/x", "/home/zed", "/home/zed/tmp", nil,
			[]string{"-tmp-x", "--home-zed-tmp-x--"},
			"home-x",
		},
		{
			"a symbolic link is looked for under its target and under its own name",
			"/home/zed/link", "/home/zed", "/tmp",
			map[string]string{"/home/zed/link": "/srv/real"},
			[]string{"--srv-real--", "-link", "--home-zed-link--"},
			"abs-real",
		},
		{
			"a home that is a symbolic link is home under both names",
			"/home/zed/p", "/home/zed", "/tmp",
			map[string]string{"/home/zed": "/data/zed", "/home/zed/p": "/data/zed/p"},
			[]string{"-p", "--home-zed-p--", "--data-zed-p--"},
			"home-p",
		},
		{
			"a missing directory goes by its path",
			"/tmp/gone", "/home/zed", "/tmp",
			map[string]string{"/tmp/gone": ""},
			[]string{"-tmp-gone", "--tmp-gone--"},
			"tmp-gone",
		},
		{
			"no home is known",
			"/srv/x", "", "", nil,
			[]string{"--srv-x--"},
			"abs-x",
		},
		{
			"the root is home, as in a container",
			"/app", "/", "/tmp", nil,
			[]string{"-app", "--app--"},
			"home-app",
		},
		{
			"a drive letter does not matter in case, the name keeps the case given",
			`c:\Users\Zed\Proj`, `C:\users\zed`, `C:\Temp`, nil,
			[]string{"-Proj", "--c--Users-Zed-Proj--"},
			"home-Proj",
		},
		{
			"slashes in a Windows path are backslashes",
			`D:/work/../code/`, `C:\Users\zed`, `C:\Temp`, nil,
			[]string{"--D--code--"},
			"abs-code",
		},
		{
			"a share",
			`\\srv\share\x\..\y`, `C:\Users\zed`, `C:\Temp`, nil,
			[]string{"---srv-share-y--"},
			"abs-y",
		},
		{
			"the root of a drive",
			`C:\`, `D:\home`, ``, nil,
			[]string{"--C----"},
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := library.DirNames(c.cwd, c.home, c.temp, links(c.real))
			require.NotEmpty(t, got)
			last := got[len(got)-1]
			if c.hashed != "" {
				require.Regexp(t, "^"+c.hashed+hash+"$", last)
			}
			require.Equal(t, c.want, got[:len(got)-1])
		})
	}
}

// Proves: X-002
func TestWriteDirName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, cwd string
		existing  []string
		want      string
	}{
		{"an empty root gets the documented name", "/home/zed/p", nil, "--home-zed-p--"},
		{"a root with documented names goes on with them", "/home/zed/p", []string{"--home-zed-q--"}, "--home-zed-p--"},
		{"a root with new names goes on with them", "/home/zed/p", []string{"--opt-q--", "-q"}, "-p"},
		{"home alone shows the new naming", "/tmp/p", []string{"-"}, "-tmp-p"},
		{"the directory there is is used again, even if the others are new", "/home/zed/p", []string{"-q", "--home-zed-p--"}, "--home-zed-p--"},
		{"of two, the one that today's xcsh reads", "/home/zed/p", []string{"--home-zed-p--", "-p"}, "-p"},
		{"outside home and temp both namings agree", "/opt/p", []string{"-q"}, "--opt-p--"},
		{"a neighbour of home never goes into a child's directory", "/home/zed-old/x", []string{"-old-x"}, "--home-zed-old-x--"},
		{"a link is filed under its target by the new naming", "/opt/link", []string{"-q"}, "-real"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			real := links(map[string]string{"/opt/link": "/home/zed/real"})
			require.Equal(t, c.want, library.WriteDirName(c.cwd, "/home/zed", "/tmp", real, c.existing))
		})
	}
}

func TestDirFor(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(afero.NewReadOnlyFs(fs))
	dir, err := f.DirFor("/home/zed/p")
	require.NoError(t, err)
	require.Equal(t, kit.SessionsRoot+"/--home-zed-p--", dir, "a root that does not exist is empty")
	require.NoError(t, fs.MkdirAll(kit.SessionsRoot+"/-q", 0o700))
	dir, err = f.DirFor("/home/zed/p")
	require.NoError(t, err)
	require.Equal(t, kit.SessionsRoot+"/-p", dir)

	_, err = f.DirFor("relative")
	require.Equal(t, fault.InvalidArgument, fault.KindOf(err))
	f.SessionDir = "/flat"
	dir, err = f.DirFor("/home/zed/p")
	require.NoError(t, err)
	require.Equal(t, "/flat", dir)
	_, err = library.Finder{Fs: fs}.DirFor("/x")
	require.Equal(t, fault.Internal, fault.KindOf(err))
}

// Proves: X-010, F-23, F-24 (Windows paths), AB-080 (Windows paths), AB-081
func TestSameCwd(t *testing.T) {
	t.Parallel()
	f := kit.NewFinder(afero.NewMemMapFs())
	f.RealPath = links(map[string]string{"/link": "/real"})
	for pair, want := range map[[2]string]bool{
		{"/a", "/a/"}: true, {"/a/../b", "/b"}: true, {"/link", "/real"}: true, {"/real", "/link"}: true, {"/a", "/b"}: false,
		{"/a", "/A"}: false, {`C:\A-Z`, `c:\a-z\`}: true, {`C:/a/b`, `C:\a\b`}: true, {`\\s/d/a`, `\\s\d\a`}: true, {"/a", ""}: false,
	} {
		require.Equal(t, want, f.SameCwd(pair[0], pair[1]), "%q", pair)
	}
}

// TestProjectsOfOneDirectoryAreKeptApart: three paths whose names are the same.
// Proves: X-003, F-10, F-33, AB-078, AB-079
func TestProjectsOfOneDirectoryAreKeptApart(t *testing.T) {
	t.Parallel()
	cwds := []string{"/opt/a-b", "/opt/a/b", "/opt/a:b"}
	fs := afero.NewMemMapFs()
	for i, cwd := range cwds {
		kit.PutSession(t, fs, kit.SessionsRoot+"/--opt-a-b--/"+string(rune('p'+i))+".jsonl", kit.Chat("id"+cwd, cwd, "hello"), 0)
	}
	f := kit.NewFinder(fs)
	for i, cwd := range cwds {
		require.Equal(t, []string{kit.SessionsRoot + "/--opt-a-b--/" + string(rune('p'+i)) + ".jsonl"}, kit.Listed(t, f, cwd))
		recent, err := f.Recent(t.Context(), cwd, 0)
		require.NoError(t, err)
		require.Len(t, recent, 1)
		require.Equal(t, "id"+cwd, recent[0].ID)
		path, ok, err := f.MostRecent(t.Context(), cwd, session.Xcsh)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, recent[0].Path, path)
	}
	require.Len(t, kit.ListedAll(t, f), 3)
	require.False(t, slices.Equal(kit.Listed(t, f, cwds[0]), kit.Listed(t, f, cwds[1])))
}

// A program's own directory has the name that the program gives it.
func TestDirOf(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	f.Roots = append(f.Roots,
		library.Root{Places: library.AgentPlaces("/home/zed/.pi/agent"), Dialect: session.Pi},
		library.Root{Places: library.AgentPlaces("/home/zed/.omp/agent"), Dialect: session.Omp})
	require.NoError(t, fs.MkdirAll("/home/zed/.pi/agent/sessions/-q", 0o700))
	require.NoError(t, fs.MkdirAll("/home/zed/.omp/agent/sessions/-q", 0o700))
	for program, want := range map[session.Dialect]string{
		session.Xcsh: kit.SessionsRoot + "/--home-zed-p--",
		session.Pi:   "/home/zed/.pi/agent/sessions/--home-zed-p--",
		session.Omp:  "/home/zed/.omp/agent/sessions/-p",
	} {
		dir, err := f.DirOf("/home/zed/p", program)
		require.NoError(t, err)
		require.Equal(t, want, dir)
		_, err = f.DirOf("relative", program)
		require.Equal(t, fault.InvalidArgument, fault.KindOf(err))
	}
	f.Roots = f.Roots[:1]
	_, err := f.DirOf("/home/zed/p", session.Omp)
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	dir, err := f.DirOf("/home/zed/p", session.Pi)
	require.NoError(t, err)
	require.Equal(t, "/home/zed/.pi/agent/sessions/--home-zed-p--", dir, "before pi was started")
	nobody := f
	nobody.Home = ""
	_, err = nobody.DirOf("/home/zed/p", session.Pi)
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	f.SessionDir = "/flat"
	dir, err = f.DirOf("/home/zed/p", session.Pi)
	require.NoError(t, err)
	require.Equal(t, "/flat", dir)
}
