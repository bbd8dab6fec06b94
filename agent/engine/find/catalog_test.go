package find

import (
	"context"
	"errors"
	"maps"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Every directory of a package manager is searched, after the PATH.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at  string
		env map[string]string
		npm string // content of .npmrc
	}{
		{at: "/opt/tools/bin", env: map[string]string{"PATH": "relative::/opt/tools/bin:/bin"}},
		{at: home + "/.local/bin"},
		{at: home + "/.bun/bin"},
		{at: "/x/bun/bin", env: map[string]string{"BUN_INSTALL": "/x/bun"}},
		{at: home + "/.npm-global/bin"},
		{at: home + "/.npm-packages/bin", npm: "registry=https://x\nprefix = ~/.npm-packages\n"},
		{at: home + "/p/bin", npm: "prefix=\"${HOME}/p\"\n"},
		{at: "/x/npm/bin", env: map[string]string{"npm_config_prefix": "/x/npm"}},
		{at: home + "/.volta/bin"},
		{at: "/x/volta/bin", env: map[string]string{"VOLTA_HOME": "/x/volta"}},
		{at: home + "/.local/share/mise/shims"},
		{at: home + "/.asdf/shims"},
		{at: "/x/asdf/shims", env: map[string]string{"ASDF_DATA_DIR": "/x/asdf"}},
		{at: home + "/.local/share/pnpm"},
		{at: "/opt/homebrew/bin"},
		{at: "/usr/local/bin"},
		{at: home + "/.nvm/versions/node/v22.20.0/bin"},
		{at: "/x/nvm/versions/node/v24.1.0/bin", env: map[string]string{"NVM_DIR": "/x/nvm"}},
		{at: home + "/.local/share/fnm/node-versions/v22.20.0/installation/bin"},
	} {
		w := newWorld(t)
		maps.Copy(w.env, c.env)
		if c.npm != "" {
			w.file(home+"/.npmrc", c.npm, 0o600)
		}
		w.program(c.at+"/pi", "1.5.2")
		require.Equal(t, []string{"pi 1.5.2 " + c.at + "/pi"}, w.list(w.catalog(Setting{})), c.at)
	}
}

// On Windows the scripts of npm for cmd.exe are found, and their script is run with node.exe.
func TestNpmOnWindows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.os, w.env = "windows", map[string]string{"PATH": `"/win/system";/nodejs`, "APPDATA": "/roaming"}
	w.file("/roaming/npm/pi.cmd", "@ECHO off\r\nGOTO start\r\n:start\r\n\"%_prog%\"  \"%dp0%\\node_modules\\@x\\pi\\dist\\cli.js\" %*\r\n", 0o644)
	w.file("/roaming/npm/node_modules/@x/pi/dist/cli.js", "", 0o644)
	w.file("/roaming/npm/node_modules/@x/pi/package.json", `{"version":"1.5.2","engines":{"node":">=22.19.0"}}`, 0o644)
	w.file("/nodejs/node.exe", "", 0o644)
	w.outputs["/nodejs/node.exe"] = "v22.19.0\n"
	w.file("/roaming/npm/omp.exe", "", 0o644)
	w.outputs["/roaming/npm/omp.exe"] = "omp/18.2.3\n"
	p := w.find("pi")
	require.Empty(t, p.Problem)
	require.Equal(t, "/nodejs/node.exe", p.Path)
	require.Equal(t, []string{"/roaming/npm/node_modules/@x/pi/dist/cli.js"}, p.Args)
	require.Equal(t, "/roaming/npm;/nodejs;/win/system", pathOf(p.Env))
	require.Equal(t, []string{"/roaming/npm/pi.cmd"}, p.Login)
	require.Equal(t, "/roaming/npm/omp.exe", w.find("omp").Path)
}

// Of several versions of Node.js, the newest that has the program is used.
func TestTheNewestOfNvm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for dir, version := range map[string]string{"v9.11.2": "1.0.0", "v22.20.0": "1.4.0", "v22.9.0": "1.3.0", "system": "1.9.9"} {
		w.program(home+"/.nvm/versions/node/"+dir+"/bin/pi", version)
	}
	w.file(home+"/.nvm/versions/node/v24.0.0/bin/node", "", 0o755)
	require.Equal(t, []string{"pi 1.4.0 " + home + "/.nvm/versions/node/v22.20.0/bin/pi"}, w.list(w.catalog(Setting{})))
}

// All known programs, with the arguments that make them speak their protocol, and their login commands.
func TestKnownPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, version := range map[string]string{"pi": "1.5.2", "omp": "omp/18.2.3", "xcsh": "18.38.0", "gemini": "0.61.0", "opencode": "1.18.33", "codex-acp": "", "claude-agent-acp": ""} {
		w.program("/usr/bin/"+name, version)
	}
	w.program("/usr/bin/codex", "")
	var got []engine.Program
	for _, p := range w.catalog(Setting{}).List(t.Context(), nil) {
		require.True(t, p.Usable(), p.Problem)
		require.Equal(t, "/usr/bin/"+p.Name, p.Path)
		p.Path = ""
		got = append(got, p)
	}
	require.Equal(t, []engine.Program{
		{Name: "pi", Version: "1.5.2", Protocol: engine.PiRPC, Login: []string{"/usr/bin/pi"}},
		{Name: "omp", Version: "18.2.3", Protocol: engine.ACP, Args: []string{"acp"}, Login: []string{"/usr/bin/omp"}},
		{Name: "xcsh", Version: "18.38.0", Protocol: engine.OmpRPC, Login: []string{"/usr/bin/xcsh"}},
		{Name: "claude-agent-acp", Protocol: engine.ACP, Login: []string{"/usr/bin/claude-agent-acp", "--cli", "/login"}},
		{Name: "codex-acp", Protocol: engine.ACP, Login: []string{"/usr/bin/codex", "login"}},
		{Name: "gemini", Version: "0.61.0", Protocol: engine.ACP, Args: []string{"--acp"}, Login: []string{"/usr/bin/gemini"}},
		{Name: "opencode", Version: "1.18.33", Protocol: engine.ACP, Args: []string{"acp"}, Login: []string{"/usr/bin/opencode", "auth", "login"}},
	}, got)
	w.program("/usr/bin/claude", "")
	require.Equal(t, []string{"/usr/bin/claude", "/login"}, w.find("claude-agent-acp").Login)
}

// An adapter is not run to learn its version: it would wait for a client.
func TestTheVersionOfAnAdapterIsThatOfItsPackage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.script("/x/lib/claude/dist/claude-agent-acp", "")
	w.file("/x/lib/claude/dist/package.json", `{"type":"module"}`, 0o644)
	w.file("/x/lib/claude/package.json", `{"version":"0.100.0","engines":{"node":">=20"}}`, 0o644)
	w.env["PATH"] += ":/x/lib/claude/dist"
	p := w.find("claude-agent-acp")
	require.Empty(t, p.Problem)
	require.Equal(t, "0.100.0", p.Version)
	require.Equal(t, []string{"/usr/bin/node"}, w.paths())
}

// Old programs cannot be used, and the user learns which version is needed.
func TestOldPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.program("/usr/bin/pi", "0.99.3")
	w.program("/usr/bin/omp", "omp/17.9.0")
	require.Equal(t, []string{
		"pi 0.99.3 /usr/bin/pi (pi 0.99.3 is too old. Update it to version 1 or newer.)",
		"omp 17.9.0 /usr/bin/omp (omp 17.9.0 is too old. Update it to version 18 or newer.)",
	}, w.list(w.catalog(Setting{})))
	w.program(home+"/.bun/bin/pi", "1.0.0") // a newer one that is found later
	require.Equal(t, home+"/.bun/bin/pi", w.find("pi").Path)
}

// A program that is newer than those that were tested is used, with one note.
func TestNewerPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.program("/usr/bin/pi", "2.0.0-beta.1")
	c := w.catalog(Setting{})
	for range 2 {
		p, err := c.Find(t.Context(), "pi", nil)
		require.NoError(t, err)
		require.True(t, p.Usable())
	}
	require.Equal(t, []string{"pi 2.0.0-beta.1 is newer than the versions that were tested with this version of xcsh-ls."}, w.said)
}

// A script gets the Node.js next to it, and one that is too old is named before the program starts.
// Proves: EF-03
func TestNode(t *testing.T) {
	t.Parallel()
	const nvm = home + "/.nvm/versions/node/v22.20.0/bin"
	t.Run("next to the program", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.script(nvm+"/pi", "1.5.2")
		w.program(nvm+"/node", "v22.20.0")
		p := w.find("pi")
		require.Empty(t, p.Problem)
		require.Equal(t, nvm+":/usr/bin:/bin", pathOf(p.Env))
		require.Equal(t, []string{nvm + "/node", nvm + "/pi"}, w.paths())
		require.Equal(t, nvm+":/usr/bin:/bin", pathOf(w.ran[1].Env), "it is asked for its version in the same way")
	})
	t.Run("on the path", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.script(home+"/.local/bin/pi", "1.5.2")
		require.Equal(t, home+"/.local/bin:/usr/bin:/bin", pathOf(w.find("pi").Env))
	})
	t.Run("too old", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.script("/usr/bin/pi", "1.5.2")
		w.outputs["/usr/bin/node"] = "v20.19.2\n"
		require.Equal(t, []string{"pi  /usr/bin/pi (pi needs Node 22.19; /usr/bin/node is 20.19.2.)"}, w.list(w.catalog(Setting{})))
		require.Equal(t, []string{"/usr/bin/node"}, w.paths(), "the program was not run")
	})
	t.Run("as the package says", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.script("/usr/lib/node_modules/pi/cli", "1.5.2")
		w.file("/usr/lib/node_modules/pi/package.json", `{"version":"3.0.0","engines":{"node":"^26.2 || >=28"}}`, 0o644)
		w.env["PATH"] = "/usr/lib/node_modules/pi:/usr/bin"
		require.NoError(t, w.fs.Rename("/usr/lib/node_modules/pi/cli", "/usr/lib/node_modules/pi/pi"))
		require.Equal(t, []string{"pi 3.0.0 /usr/lib/node_modules/pi/pi (pi needs Node 26.2; /usr/bin/node is 26.1.0.)"}, w.list(w.catalog(Setting{})))
	})
	t.Run("another one that is new enough", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.script("/usr/bin/pi", "1.5.2")
		w.outputs["/usr/bin/node"] = "v20.19.2\n"
		w.program(nvm+"/node", "v22.20.0")
		p := w.find("pi")
		require.Empty(t, p.Problem)
		require.Equal(t, nvm+":/usr/bin:/bin", pathOf(p.Env), "env must not find the old one")
	})
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.script("/usr/bin/pi", "1.5.2")
		require.NoError(t, w.fs.Remove("/usr/bin/node"))
		require.Equal(t, "pi needs Node 22.19, which was not found.", w.find("pi").Problem)
	})
	t.Run("another interpreter", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.file(home+"/.bun/bin/omp", "#!/usr/bin/env -S bun run\n", 0o755)
		w.outputs[home+"/.bun/bin/omp"] = "18.2.3"
		require.Equal(t, "omp needs bun, which was not found.", w.find("omp").Problem)
		w.program(home+"/.bun/bin/bun", "1.4.5")
		p := w.find("omp")
		require.Empty(t, p.Problem)
		require.Equal(t, home+"/.bun/bin:/usr/bin:/bin", pathOf(p.Env))
	})
	t.Run("named by its path", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.file("/usr/bin/pi", "#!/old/node --flag\n", 0o755)
		w.outputs["/usr/bin/pi"] = "1.5.2"
		require.Equal(t, "pi needs /old/node, which cannot be run.", w.find("pi").Problem)
		w.program("/old/node", "v18.0.0")
		require.Equal(t, "pi needs Node 22.19; /old/node is 18.0.0.", w.find("pi").Problem)
	})
}

// A version is asked for once, until the file changes, also by another process.
func TestVersionsAreRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.program("/usr/bin/pi", "1.5.2")
	c := w.catalog(Setting{})
	w.list(c)
	w.list(c)
	w.list(w.catalog(Setting{})) // reads the file
	require.Equal(t, []string{"/usr/bin/pi"}, w.paths())
	w.now = w.now.Add(time.Hour)
	w.program("/usr/bin/pi", "1.6.0")
	require.Equal(t, []string{"pi 1.6.0 /usr/bin/pi"}, w.list(c))
	require.Len(t, w.paths(), 2)
}

// npm gives all files the same time, and the script that starts a program may not change with it.
func TestTheVersionAfterAnUpdateByNpm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.script("/opt/pi/pi", "1.5.2")
	w.file("/opt/pi/package.json", `{"version":"1.5.2"}`, 0o644)
	w.env["PATH"] = "/opt/pi:/usr/bin"
	c := w.catalog(Setting{})
	require.Equal(t, []string{"pi 1.5.2 /opt/pi/pi"}, w.list(c))
	w.script("/opt/pi/pi", "1.6.0")
	w.file("/opt/pi/package.json", `{"version":"1.6.0"}`, 0o644)
	require.Equal(t, []string{"pi 1.6.0 /opt/pi/pi"}, w.list(c))
}

// The file of a version manager's shim does not change with the version, so it is asked again after a minute.
func TestTheVersionOfAShim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shim := home + "/.volta/bin/pi"
	w.program(shim, "1.5.2")
	c := w.catalog(Setting{})
	w.list(c)
	w.list(c)
	require.Len(t, w.paths(), 1)
	w.outputs[shim] = "1.6.0"
	w.now = w.now.Add(shimAge + time.Second)
	require.Equal(t, []string{"pi 1.6.0 " + shim}, w.list(c))
	w.list(w.catalog(Setting{}))
	require.Len(t, w.paths(), 3, "another process asks by itself")
}

// A damaged file of versions is as good as none.
func TestDamagedVersions(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"{", "[]", `{"/usr/bin/pi":{"version":"<b>","size":4,"time":"2001-09-09T01:46:40Z"}}`, `{"/usr/bin/pi":7}`, strings.Repeat("x", maxStored+1)} {
		w := newWorld(t)
		w.program("/usr/bin/pi", "1.5.2")
		w.file(home+"/.xcsh/agent/cache/engines.json", content, 0o600)
		require.Equal(t, []string{"pi 1.5.2 /usr/bin/pi"}, w.list(w.catalog(Setting{})), content)
	}
}

// A program that cannot tell its version is not used, and is asked again the next time.
func TestProgramsThatFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		prints string
		pi     string
		gemini string
	}{
		{context.DeadlineExceeded, "", "/usr/bin/pi --version did not answer within 5 seconds.", ""},
		{&exec.ExitError{}, "", "/usr/bin/pi --version failed: <nil>.", "/usr/bin/gemini --version failed: <nil>."},
		{syscall.ENOEXEC, "", "/usr/bin/pi could not be run: exec format error.", "/usr/bin/gemini could not be run: exec format error."},
		{nil, "hello", "/usr/bin/pi --version printed no version.", ""},
		{nil, "\x1b[31m" + strings.Repeat("9", 100), "/usr/bin/pi --version printed no version.", ""},
		{errors.New("warning"), "1.5.2", "", ""},
	} {
		w := newWorld(t)
		w.program("/usr/bin/pi", c.prints)
		w.program("/usr/bin/gemini", c.prints)
		w.fails["/usr/bin/pi"], w.fails["/usr/bin/gemini"] = c.err, c.err
		catalog := w.catalog(Setting{})
		for name, want := range map[string]string{"pi": c.pi, "gemini": c.gemini} {
			p, err := catalog.Find(t.Context(), name, nil)
			require.NoError(t, err)
			require.Equal(t, want, p.Problem)
		}
		if c.err != nil && c.prints == "" {
			w.outputs["/usr/bin/pi"], w.fails["/usr/bin/pi"] = "1.5.2", nil
			p, err := catalog.Find(t.Context(), "pi", nil)
			require.NoError(t, err)
			require.Equal(t, "1.5.2", p.Version)
		}
	}
}

// A program whose protocol is not spoken is not run.
func TestUnsupportedProtocols(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.program("/usr/bin/xcsh", "18.38.0")
	c := New(Config{Machine: w.machine(), Make: map[engine.Protocol]func(engine.Program) (engine.Engine, error){engine.PiRPC: every[engine.PiRPC]}})
	require.Equal(t, []string{"xcsh  /usr/bin/xcsh (This version of xcsh-ls cannot use xcsh.)"}, w.list(c))
	require.Empty(t, w.paths())
	for _, p := range []engine.Program{c.List(t.Context(), nil)[0], {Name: "pi", Protocol: engine.PiRPC}, {Name: "x", Path: "/x", Protocol: engine.ACP}} {
		_, err := c.Engine(p)
		require.True(t, fault.Is(err, fault.Provider), err)
		require.Equal(t, "engine", errData(err)["class"])
	}
	_, err := c.Engine(engine.Program{Name: "pi", Path: "/usr/bin/pi", Protocol: engine.PiRPC})
	require.NoError(t, err)
}

func errData(err error) map[string]any {
	f, _ := errors.AsType[*fault.Error](err)
	return f.Data
}

// The login shell is asked only if nothing else was found.
func TestTheLoginShellIsTheLastResort(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := 0
	w.login = func() []string { asked++; return []string{"/strange/bin"} }
	w.program("/strange/bin/omp", "18.2.3")
	require.Equal(t, []string{"omp 18.2.3 /strange/bin/omp"}, w.list(w.catalog(Setting{})))
	require.Equal(t, 1, asked)
	w.program("/usr/bin/pi", "1.5.2")
	require.Equal(t, []string{"pi 1.5.2 /usr/bin/pi"}, w.list(w.catalog(Setting{})))
	require.Equal(t, 1, asked, "there is one without it")
	require.Equal(t, "/strange/bin/omp", w.find("omp").Path, "that one is asked for")
}

// A program that is not there: the error names the places, and the place where it was.
func TestMissingPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.catalog(Setting{})
	_, err := c.Find(t.Context(), "pi", nil)
	require.True(t, fault.Is(err, fault.NotFound), err)
	require.Contains(t, err.Error(), "pi was not found. The search covered the PATH of xcsh-ls and these directories: ~/.local/bin, ~/.bun/bin, ")
	_, err = c.Find(t.Context(), "vim", nil)
	require.EqualError(t, err, `There is no engine "vim". The known ones are own, pi, omp, xcsh, claude-agent-acp, codex-acp, gemini, opencode.`)
	w.program("/usr/bin/pi", "1.5.2")
	w.list(c)
	require.NoError(t, w.fs.Remove("/usr/bin/pi"))
	_, err = c.Find(t.Context(), "pi", nil)
	require.EqualError(t, err, "pi is not installed any more (it was at /usr/bin/pi).")
	require.Empty(t, w.list(c))
	require.NoError(t, c.Remember("pi"))
	require.Equal(t, []string{"pi   (pi is not installed any more (it was at /usr/bin/pi).)"}, w.list(c), "the chosen one is listed")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Find(ctx, "pi", nil)
	require.True(t, fault.Is(err, fault.Cancelled), err)
}

// The answer to the first question holds for all windows and starts, and the setting takes precedence.
func TestRememberedAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.catalog(Setting{})
	require.Empty(t, c.Default())
	require.False(t, c.Offered())
	require.NoError(t, c.Remember("pi"))
	for _, c := range []*Catalog{c, w.catalog(Setting{})} {
		require.Equal(t, "pi", c.Default())
		require.True(t, c.Offered())
	}
	require.Equal(t, "omp", w.catalog(Setting{Name: "omp"}).Default())
	require.NoError(t, c.Remember(engine.Own))
	require.Equal(t, engine.Own, w.catalog(Setting{}).Default())
	for _, bad := range []string{"", "vim", "../pi"} {
		require.True(t, fault.Is(c.Remember(bad), fault.InvalidArgument), bad)
	}
	require.NoError(t, w.catalog(Setting{Name: "mine", Command: []string{"/x"}, Protocol: engine.ACP}).Remember("mine"))

	w.file(home+"/.xcsh/agent/xcsh-ls/engine.json", `{"engine":"pi","later":1}`, 0o600)
	require.NoError(t, c.Remember("omp"))
	content, err := afero.ReadFile(w.fs, home+"/.xcsh/agent/xcsh-ls/engine.json")
	require.NoError(t, err)
	require.JSONEq(t, `{"engine":"omp","later":1}`, string(content))
}

// A damaged answer is left unchanged, and the user is not asked each time because of it.
func TestADamagedAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = home + "/.xcsh/agent/xcsh-ls/engine.json"
	w.file(path, "{", 0o600)
	c := w.catalog(Setting{})
	require.Empty(t, c.Default())
	require.Empty(t, c.Default())
	require.True(t, c.Offered())
	require.Len(t, w.said, 1)
	require.Error(t, c.Remember("pi"))
	content, err := afero.ReadFile(w.fs, path)
	require.NoError(t, err)
	require.Equal(t, "{", string(content))
	w.file(path, `{"engine":"a\u001b[31m b"}`, 0o600)
	require.Empty(t, c.Default())
	require.EqualError(t, New(Config{Machine: w.machine()}).Remember("pi"), "The home directory is unknown, so the chosen engine cannot be stored. Set HOME.")
}

// A setting can describe a program, with its arguments. Its version is not checked.
func TestConfiguredPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.script(home+"/src/pi/cli", "0.1.0")
	w.file(home+"/src/pi/package.json", `{"version":"0.1.0"}`, 0o644)
	w.program("/usr/bin/pi", "1.5.2")
	w.program("/usr/bin/agent", "")
	for _, c := range []struct {
		setting Setting
		want    engine.Program
	}{
		{
			Setting{"pi", []string{"~/src/pi/cli", "--debug"}, engine.PiRPC},
			engine.Program{Name: "pi", Path: home + "/src/pi/cli", Args: []string{"--debug"}, Version: "0.1.0", Protocol: engine.PiRPC, Env: []string{"PATH=" + home + "/src/pi:/usr/bin:/bin"}},
		},
		{Setting{"mine", []string{"agent", "acp"}, engine.ACP}, engine.Program{Name: "mine", Path: "/usr/bin/agent", Args: []string{"acp"}, Protocol: engine.ACP}},
		{Setting{"mine", []string{"/gone/agent"}, engine.ACP}, engine.Program{Name: "mine", Protocol: engine.ACP, Problem: `The program /gone/agent of the setting "engine" was not found.`}},
	} {
		catalog := w.catalog(c.setting)
		p, err := catalog.Find(t.Context(), c.setting.Name, nil)
		require.NoError(t, err)
		require.Equal(t, c.want, p)
		list := catalog.List(t.Context(), nil)
		require.Equal(t, c.want, list[0])
		names := map[string]bool{}
		for _, p := range list {
			require.False(t, names[p.Name], "%s twice", p.Name)
			names[p.Name] = true
		}
	}
}

func TestInvalidSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.program("/usr/bin/pi", "1.5.2")
	const prefix = `The setting "engine" is not valid: `
	for _, c := range []struct {
		setting Setting
		want    string
	}{
		{Setting{Name: "vim"}, "use own, pi, omp, xcsh, claude-agent-acp, codex-acp, gemini, opencode, or an object with name, command and protocol."},
		{Setting{"own", []string{"/x"}, engine.ACP}, `the name "own" is not a name of letters, digits, dots and hyphens, or is that of the program's own loop.`},
		{Setting{"a b", []string{"/x"}, engine.ACP}, `the name "a b" is not a name of letters, digits, dots and hyphens, or is that of the program's own loop.`},
		{Setting{"x", []string{"/x"}, "mcp"}, "the protocol must be pi-rpc, omp-rpc or acp."},
		{Setting{"x", []string{"./x"}, engine.ACP}, "the command must begin with an absolute path or the name of a program."},
		{Setting{"x", []string{"node_modules/.bin/x"}, engine.ACP}, "the command must begin with an absolute path or the name of a program."},
		{Setting{"x", []string{"../x"}, engine.ACP}, "the command must begin with an absolute path or the name of a program."},
		{Setting{"x", []string{""}, engine.ACP}, "the command must begin with an absolute path or the name of a program."},
		{Setting{"x", []string{"/x", strings.Repeat("x", maxArgumentLen+1)}, engine.ACP}, "the command has too many arguments, or one that is too long."},
		{Setting{"x", make([]string, maxArguments+1), engine.ACP}, "the command has too many arguments, or one that is too long."},
		{Setting{Name: "pi", Protocol: engine.ACP}, "use own, pi, omp, xcsh, claude-agent-acp, codex-acp, gemini, opencode, or an object with name, command and protocol."},
	} {
		require.EqualError(t, c.setting.Check(), prefix+c.want, "%+v", c.setting)
		p, err := w.catalog(c.setting).Find(t.Context(), c.setting.Name, nil)
		if c.setting.Name == engine.Own {
			continue
		}
		require.NoError(t, err)
		require.False(t, p.Usable())
		require.Equal(t, prefix+c.want, p.Problem)
	}
	require.Empty(t, w.paths(), "no other program takes its place")
	for _, good := range []Setting{{}, {Name: "own"}, {Name: "gemini"}, {"x-1.y", []string{"/x"}, engine.PiRPC}, {"omp", []string{"/x"}, engine.OmpRPC}} {
		require.NoError(t, good.Check())
	}
}
