package find

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A program of a workspace is not found, and the user learns why if there is no other.
func TestProgramsOfAWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.program("/w/node_modules/.bin/pi", "1.5.2")
	w.env["PATH"] = "/w/node_modules/.bin:node_modules/.bin:.::/usr/bin"
	c := w.catalog(Setting{})
	require.Empty(t, w.list(c, "/w"))
	require.Empty(t, w.list(c, "/other", "/w/node_modules"))
	_, err := c.Find(t.Context(), "pi", []string{"/w"})
	require.EqualError(t, err, "pi was not found, except for /w/node_modules/.bin/pi, which is not run because it is in a workspace folder.")
	require.Empty(t, w.paths())
	require.Equal(t, []string{"/w/node_modules/.bin/pi is not used as an engine because it is in a workspace folder."}, w.said)

	w.program("/usr/bin/pi", "1.5.2")
	w.said = nil
	p := w.find("pi", "/w")
	require.Equal(t, "/usr/bin/pi", p.Path)
	require.Equal(t, "/usr/bin", pathOf(p.Env), "the engine finds no programs of the workspace")
	require.Empty(t, w.said)
	require.Equal(t, "/w/node_modules/.bin/pi", w.find("pi", "/elsewhere").Path)
	require.Equal(t, "/usr/bin/pi", w.find("pi", "/w", home).Path, "the home directory counts as none")
}

// The interpreter of a script is never that of a workspace.
func TestTheInterpreterOfAWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.script(home+"/.local/bin/pi", "1.5.2")
	w.program("/w/bin/node", "v30.0.0")
	w.env["PATH"] = "/w/bin:/usr/bin"
	p := w.find("pi", "/w")
	require.Empty(t, p.Problem)
	require.Equal(t, home+"/.local/bin:/usr/bin", pathOf(p.Env))
	require.Equal(t, []string{"/usr/bin/node", home + "/.local/bin/pi"}, w.paths())
	w.file(home+"/.local/bin/pi", "#!/w/bin/node\n", 0o755)
	require.Equal(t, "pi is not run because /w/bin/node is in the workspace folder /w.", w.find("pi", "/w").Problem)
}

// The interpreter of a script is never one that others can change.
func TestTheInterpreterThatOthersCanChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.script(home+"/.local/bin/pi", "1.5.2")
	w.program("/open/node", "v30.0.0")
	require.NoError(t, w.fs.Chmod("/open", 0o777))
	w.env["PATH"] = "/open:/usr/bin"
	p := w.find("pi")
	require.Empty(t, p.Problem)
	require.Equal(t, home+"/.local/bin:/usr/bin:/open", pathOf(p.Env))
	require.Equal(t, []string{"/usr/bin/node", home + "/.local/bin/pi"}, w.paths())
	require.NoError(t, w.fs.Remove("/usr/bin/node"))
	require.Equal(t, "pi needs Node 22.19, which was not found.", w.find("pi").Problem)
	w.file(home+"/.local/bin/pi", "#!/open/node\n", 0o755)
	require.Equal(t, "/open/node is not run because every user may write to /open.", w.find("pi").Problem)
}

// A program that others can change is listed with the reason, and not run.
func TestProgramsThatOthersCanChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(w *world)
		want    string
	}{
		"the directory":     {func(w *world) { require.NoError(w.t, w.fs.Chmod("/x/bin", 0o777)) }, "/x/bin/pi is not run because every user may write to /x/bin."},
		"the file":          {func(w *world) { require.NoError(w.t, w.fs.Chmod("/x/bin/pi", 0o757)) }, "/x/bin/pi is not run because every user may write to /x/bin/pi."},
		"a directory above": {func(w *world) { require.NoError(w.t, w.fs.Chmod("/x", 0o777)) }, "/x/bin/pi is not run because every user may write to /x."},
	} {
		w := newWorld(t)
		w.program("/x/bin/pi", "1.5.2")
		w.env["PATH"] = "/x/bin:/usr/bin"
		c.prepare(w)
		require.Equal(t, []string{"pi  /x/bin/pi (" + c.want + ")"}, w.list(w.catalog(Setting{})), name)
		require.Nil(t, w.find("pi").Login)
		require.Empty(t, w.paths())
		p, err := w.catalog(Setting{"mine", []string{"/x/bin/pi"}, "acp"}).Find(t.Context(), "mine", nil)
		require.NoError(t, err)
		require.Equal(t, c.want, p.Problem, "also if the user names it")
		w.program("/usr/bin/pi", "1.5.2")
		require.Equal(t, "/usr/bin/pi", w.find("pi").Path, "the next one is used")
	}
}

// A directory that others may write to comes last in the PATH of an engine.
func TestThePathOfAnEngine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.program("/usr/bin/pi", "1.5.2")
	w.file("/open/x", "", 0o755)
	require.NoError(t, w.fs.Chmod("/open", 0o777))
	require.Nil(t, w.find("pi").Env, "an ordinary PATH stays as it is")
	w.env["PATH"] = "/open:/usr/bin:relative:/usr/bin:/bin"
	require.Equal(t, []string{"PATH=/usr/bin:/bin:/open"}, w.find("pi").Env)
}

// Settings of a workspace that name an engine are reported once.
func TestSettingsOfAWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file("/w/.vscode/settings.json", `{
		// one that runs our program
		"xcshLs.engine": {"name": "pi", "command": ["/w/evil"], "protocol": "pi-rpc"},
	}`, 0o644)
	w.program("/w/evil", "1.5.2")
	w.program("/w/bin/pi", "1.5.2")
	w.env["PATH"] += ":/w/bin"
	c := w.catalog(Setting{})
	require.Empty(t, w.list(c, "/w"))
	require.Empty(t, w.list(c, "/w"))
	_, err := c.Find(t.Context(), "pi", []string{"/w"})
	require.Error(t, err)
	require.Empty(t, c.Default())
	require.Empty(t, w.paths())
	require.Equal(t, []string{"The setting of the engine in /w/.vscode/settings.json is ignored. Only your own settings choose the engine."}, w.said)
}
