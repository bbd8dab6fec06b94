package preference_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/preference"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/tier"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

var next = provider.Ref{Provider: "openai", ID: "gpt-5.2"}

func storeOn(fs afero.Fs) *preference.Store {
	return &preference.Store{Fs: fs, Dirs: []preference.Dir{
		{Path: "/h/.xcsh/agent", Program: session.Xcsh}, {Path: "/h/.pi/agent", Program: session.Pi}, {Path: "/h/.omp/agent", Program: session.Omp},
	}}
}

var files = map[session.Dialect]string{
	session.Xcsh: "/h/.xcsh/agent/config.yml", session.Pi: "/h/.pi/agent/settings.json", session.Omp: "/h/.omp/agent/config.yml",
}

func write(t *testing.T, fs afero.Fs, path, content string) {
	t.Helper()
	require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
}

func read(t *testing.T, fs afero.Fs, path string) string {
	t.Helper()
	content, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	return string(content)
}

// Only the value changes: comments, order, unknown settings, line endings and marks stay.
func TestOnlyTheValueChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		program    session.Dialect
		role       string
		from, want string // want "": refused
	}{
		"pi: nothing":            {session.Pi, "", "", "{\n  \"defaultProvider\": \"openai\",\n  \"defaultModel\": \"gpt-5.2\"\n}"},
		"pi: empty object":       {session.Pi, "", "{}", "{\n  \"defaultProvider\": \"openai\",\n  \"defaultModel\": \"gpt-5.2\"\n}"},
		"pi: replaced":           {session.Pi, "", "{\n\t\"theme\" : \"dark\", \"defaultModel\":\"a\\u0062\",\n\"n\": 1e400000, \"defaultProvider\" :  \"p\"}\n\n", ""},
		"pi: replaced in place":  {session.Pi, "", "{\n\t\"theme\" : \"dark\", \"defaultModel\":\"a\\u0062\",\n\"n\": 1.0, \"defaultProvider\" :  \"p\"}\n\n", "{\n\t\"theme\" : \"dark\", \"defaultModel\":\"gpt-5.2\",\n\"n\": 1.0, \"defaultProvider\" :  \"openai\"}\n\n"},
		"pi: added":              {session.Pi, "", "{\r\n    \"theme\": \"dark\"\r\n}\r\n", "{\r\n    \"theme\": \"dark\",\r\n    \"defaultProvider\": \"openai\",\r\n    \"defaultModel\": \"gpt-5.2\"\r\n}\r\n"},
		"pi: a mark":             {session.Pi, "", "\uFEFF{\"a\":1}", "\uFEFF{\"a\":1,\"defaultProvider\": \"openai\",\"defaultModel\": \"gpt-5.2\"}"},
		"pi: a name twice":       {session.Pi, "", `{"defaultModel":"x","defaultModel":"y","defaultProvider":"z"}`, `{"defaultModel":"x","defaultModel":"gpt-5.2","defaultProvider":"openai"}`},
		"pi: a comment":          {session.Pi, "", "{// no\n}", ""},
		"pi: a list":             {session.Pi, "", "[]", ""},
		"pi: null":               {session.Pi, "", "null", ""},
		"pi: two values":         {session.Pi, "", "{}{}", ""},
		"pi: no roles":           {session.Pi, "smol", "{}", ""},
		"xcsh: nothing":          {session.Xcsh, "", "", "modelRoles:\n  default: openai/gpt-5.2\n"},
		"xcsh: only a comment":   {session.Xcsh, "", "# mine", "# mine\nmodelRoles:\n  default: openai/gpt-5.2\n"},
		"xcsh: another setting":  {session.Xcsh, "", "theme: dark # black\n", "theme: dark # black\nmodelRoles:\n  default: openai/gpt-5.2\n"},
		"xcsh: no line ending":   {session.Xcsh, "", "a: 1\r\ntheme: dark", "a: 1\r\ntheme: dark\r\nmodelRoles:\r\n  default: openai/gpt-5.2\r\n"},
		"xcsh: replaced":         {session.Xcsh, "", "modelRoles:\n    smol: a/b   # fast\n    default:   c/d  # ü\ntheme: x\n", "modelRoles:\n    smol: a/b   # fast\n    default:   openai/gpt-5.2  # ü\ntheme: x\n"},
		"xcsh: quoted":           {session.Xcsh, "", "modelRoles: {smol: 'ü/''b', \"default\": \"c/\\\"d\"} # x\n", "modelRoles: {smol: 'ü/''b', \"default\": openai/gpt-5.2} # x\n"},
		"xcsh: a level stays":    {session.Xcsh, "", "modelRoles:\n  default: c/d:high\n", "modelRoles:\n  default: openai/gpt-5.2:high\n"},
		"xcsh: no level":         {session.Xcsh, "", "modelRoles:\n  default: ollama/qwen3:14b\n", "modelRoles:\n  default: openai/gpt-5.2\n"},
		"xcsh: another role":     {session.Xcsh, "smol", "modelRoles:\n  # the main one\n  default: c/d\n\n  plan: e/f\n", "modelRoles:\n  # the main one\n  smol: openai/gpt-5.2\n  default: c/d\n\n  plan: e/f\n"},
		"xcsh: a role to quote":  {session.Xcsh, "no", "modelRoles: {}\n", "modelRoles: {\"no\": openai/gpt-5.2}\n"},
		"xcsh: flow":             {session.Xcsh, "smol", "modelRoles: { default: c/d }\n", "modelRoles: {smol: openai/gpt-5.2,  default: c/d }\n"},
		"xcsh: no value":         {session.Xcsh, "", "modelRoles:   # later\ntheme: x\n", "modelRoles: {default: openai/gpt-5.2}   # later\ntheme: x\n"},
		"xcsh: null":             {session.Xcsh, "", "modelRoles: ~\n", "modelRoles: {default: openai/gpt-5.2}\n"},
		"xcsh: a role is null":   {session.Xcsh, "", "modelRoles:\n  default:\n  smol: a/b\n", "modelRoles:\n  default: openai/gpt-5.2\n  smol: a/b\n"},
		"xcsh: the end is named": {session.Xcsh, "", "a: 1\n...\n", ""},
		"xcsh: the start is too": {session.Xcsh, "", "---\nmodelRoles:\n  default: c/d\n", "---\nmodelRoles:\n  default: openai/gpt-5.2\n"},
		"xcsh: a tab":            {session.Xcsh, "", "modelRoles:\n\tdefault: c/d\n", ""},
		"xcsh: a list":           {session.Xcsh, "", "- a\n", ""},
		"xcsh: a word":           {session.Xcsh, "", "modelRoles: a/b\n", ""},
		"xcsh: two documents":    {session.Xcsh, "", "a: 1\n---\nb: 2\n", ""},
		"xcsh: a block scalar":   {session.Xcsh, "", "modelRoles:\n  default: >\n    a/b\n", ""},
		"xcsh: several lines":    {session.Xcsh, "", "modelRoles:\n  default: \"a/\\\n    b\"\n", ""},
		"xcsh: an anchor":        {session.Xcsh, "", "modelRoles:\n  default: &m a/b\n  smol: *m\n", ""},
		"xcsh: an alias":         {session.Xcsh, "", "x: &m a/b\nmodelRoles:\n  default: *m\n", ""},
		"xcsh: a tag":            {session.Xcsh, "", "modelRoles:\n  default: !!str a/b\n", ""},
		"xcsh: flow at the top":  {session.Xcsh, "", "{a: 1}\n", ""},
		"xcsh: a name twice":     {session.Xcsh, "", "modelRoles: {}\nmodelRoles: {}\n", ""},
		"omp: replaced":          {session.Omp, "", "modelRoles:\n  default: c/d\n", "modelRoles:\n  default: openai/gpt-5.2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := afero.NewMemMapFs()
			path := files[c.program]
			if c.from != "" {
				write(t, fsys, path, c.from)
			}
			err := storeOn(fsys).RememberModel(t.Context(), c.program, c.role, next)
			if c.want == "" {
				require.ErrorContains(t, err, "The default of new sessions in "+path+" was not changed: ")
				require.Equal(t, c.from, read(t, fsys, path))
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, read(t, fsys, path))
			role := c.role
			if role == "" {
				role = "default"
			}
			require.True(t, strings.HasPrefix(storeOn(fsys).Of(c.program).Roles[role], "openai/gpt-5.2"), "it is read back")
			left, err := afero.ReadDir(fsys, filepath.Dir(path))
			require.NoError(t, err)
			require.Len(t, left, 1, "no lock and no temporary file is left")
			require.NoError(t, storeOn(fsys).RememberModel(t.Context(), c.program, c.role, next))
			require.Equal(t, c.want, read(t, fsys, path), "again is no change")
		})
	}
}

func TestThinkingIsRemembered(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	s := storeOn(fsys)
	for program, path := range files {
		require.NoError(t, s.RememberThinking(t.Context(), program, provider.High))
		require.NoError(t, s.RememberThinking(t.Context(), program, provider.Off))
		require.Equal(t, provider.Off, s.Of(program).Thinking, "%s", read(t, fsys, path))
	}
	write(t, fsys, files[session.Pi], `{"defaultProvider":"p","defaultModel":"m","defaultThinkingLevel":"low","modelThinkingLevels":{"p/m":"high"}}`)
	require.Equal(t, preference.Preferences{Roles: map[string]string{"default": "p/m"}, Thinking: "high"}, s.Of(session.Pi))
}

func TestTheProgramsTiersAreRead(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	write(t, fsys, files[session.Xcsh], "serviceTier: flex\n")
	write(t, fsys, files[session.Omp], "tier:\n  openai: none\n  anthropic: priority\n  google: 7\n")
	require.Equal(t, tier.Tiers{tier.OpenAI: "flex"}, storeOn(fsys).Of(session.Xcsh).Tiers)
	require.Equal(t, tier.Tiers{tier.Anthropic: "priority"}, storeOn(fsys).Of(session.Omp).Tiers)
}

// A file that cannot be read is no default, which is reported; it is never changed.
func TestDamagedFilesAreReported(t *testing.T) {
	t.Parallel()
	for program, content := range map[session.Dialect]string{
		session.Pi: `{"defaultModel":`, session.Xcsh: "modelRoles: [a\n", session.Omp: strings.Repeat("#", 2<<20),
	} {
		fsys := afero.NewMemMapFs()
		s := storeOn(fsys)
		var reports []string
		s.Report = func(_, text string) { reports = append(reports, text) }
		write(t, fsys, files[program], content)
		require.Empty(t, s.Of(program).Roles)
		require.Len(t, reports, 1)
		require.Contains(t, reports[0], files[program])
		require.Error(t, s.RememberModel(t.Context(), program, "", next))
		require.Equal(t, content, read(t, fsys, files[program]))
	}
}

// A bomb of aliases and deep nesting neither take long nor end the process.
func TestHostileYAML(t *testing.T) {
	t.Parallel()
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i, before := 1, "a0"; i < 12; i++ {
		name := "a" + string(rune('0'+i%10)) + strings.Repeat("x", i)
		bomb += name + ": &" + name + " [" + strings.Repeat("*"+before+",", 9) + "*" + before + "]\n"
		before = name
	}
	for _, content := range []string{bomb, strings.Repeat("[", 1<<19), "modelRoles: " + strings.Repeat("{a: ", 1<<17)} {
		fsys := afero.NewMemMapFs()
		write(t, fsys, files[session.Xcsh], content)
		s := storeOn(fsys)
		require.Empty(t, s.Of(session.Xcsh).Roles)
		require.Error(t, s.RememberModel(t.Context(), session.Xcsh, "", next))
		require.Equal(t, content, read(t, fsys, files[session.Xcsh]))
	}
}

// The programs take over the settings of their older versions only while there is no new file.
func TestOldSettingsAreNotHidden(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	write(t, fsys, "/h/.xcsh/agent/settings.json", `{"theme":"dark"}`)
	err := storeOn(fsys).RememberModel(t.Context(), session.Xcsh, "", next)
	require.ErrorContains(t, err, "start the terminal program once")
	exists, err := afero.Exists(fsys, files[session.Xcsh])
	require.NoError(t, err)
	require.False(t, exists)
}

func TestAForbiddenDirectoryIsNotTouched(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	write(t, fsys, files[session.Pi], `{"defaultProvider":"p","defaultModel":"m"}`)
	s := storeOn(fsys)
	s.Usable = func(dir string) bool { return dir != "/h/.pi/agent" }
	require.Empty(t, s.Of(session.Pi).Roles)
	require.NoError(t, s.RememberModel(t.Context(), session.Pi, "", next))
	require.Equal(t, `{"defaultProvider":"p","defaultModel":"m"}`, read(t, fsys, files[session.Pi]))
}

// A link is not followed: the file that it leads to may belong to something else. Its mode stays.
func TestLinksAndModes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &preference.Store{Fs: afero.NewOsFs(), Dirs: []preference.Dir{{Path: dir, Program: session.Pi}}}
	path, other := filepath.Join(dir, "settings.json"), filepath.Join(dir, "dotfiles.json")
	require.NoError(t, os.WriteFile(path, []byte("{}"), 0o640))
	require.NoError(t, os.Chmod(path, 0o640))
	require.NoError(t, s.RememberModel(t.Context(), session.Xcsh, "", next))
	info, err := os.Lstat(path)
	require.NoError(t, err)
	if info.Mode().Perm()&0o007 == 0 { // not on Windows
		require.Equal(t, fs.FileMode(0o640), info.Mode().Perm())
	}
	require.NoError(t, os.Rename(path, other))
	if os.Symlink(other, path) != nil {
		t.Skip("no links here")
	}
	before, err := os.ReadFile(other)
	require.NoError(t, err)
	err = s.RememberModel(t.Context(), session.Xcsh, "", provider.Ref{Provider: "a", ID: "b"})
	require.ErrorContains(t, err, "it is a link")
	after, err := os.ReadFile(other)
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Equal(t, "openai/gpt-5.2", s.Of(session.Xcsh).Roles["default"], "a link is read")
}

// Whatever step fails, the file has its former content or the new one.
func TestEveryStepOfAChangeCanFail(t *testing.T) {
	t.Parallel()
	for program, path := range files {
		from := map[bool]string{true: `{"theme":"dark"}`, false: "theme: dark\n"}[program == session.Pi]
		for _, mode := range []st.Mode{st.Once, st.Dead, st.Short} {
			for at := 1; ; at++ {
				memory := afero.NewMemMapFs()
				write(t, memory, path, from)
				faulty := &st.FaultFs{Fs: memory, At: at, Mode: mode, Reads: true}
				err := storeOn(faulty).RememberModel(t.Context(), program, "", next)
				now := read(t, memory, path)
				if now != from {
					require.Contains(t, now, "gpt-5.2", "%v %d", mode, at)
					require.Contains(t, now, "dark", "%v %d", mode, at)
					require.Equal(t, "openai/gpt-5.2", storeOn(memory).Of(program).Roles["default"])
				} else {
					require.Error(t, err, "%v %d", mode, at)
				}
				if !faulty.Fired() {
					require.NoError(t, err)
					break
				}
			}
		}
	}
}

// A loss of power leaves the former content or the new one.
func TestALossOfPowerWhileRemembering(t *testing.T) {
	t.Parallel()
	power := st.NewPowerFs()
	write(t, power, files[session.Pi], `{"theme":"dark"}`)
	power.Settle(t)
	require.NoError(t, storeOn(power).RememberModel(t.Context(), session.Pi, "", next))
	require.Contains(t, read(t, power.After(t, st.Loss{}), files[session.Pi]), "gpt-5.2", "it was acknowledged")
}

// changing is a storage in which another program changes a file just before it is replaced.
type changing struct {
	afero.Fs
	path, content string
	times         int
}

func (c *changing) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if flag&os.O_EXCL != 0 && c.times > 0 {
		c.times--
		c.content += " "
		if err := afero.WriteFile(c.Fs, c.path, []byte(c.content), 0o600); err != nil {
			return nil, err
		}
	}
	return c.Fs.OpenFile(name, flag, perm)
}

// A change by another program between reading and writing is kept.
func TestAChangeByAnotherProgramIsKept(t *testing.T) {
	t.Parallel()
	for times, lost := range map[int]bool{1: false, 9: true} {
		memory := afero.NewMemMapFs()
		write(t, memory, files[session.Omp], "theme: dark\n")
		c := &changing{Fs: memory, path: files[session.Omp], content: "theme: light\n#", times: times}
		err := storeOn(c).RememberModel(t.Context(), session.Omp, "", next)
		require.Equal(t, lost, err != nil)
		require.Contains(t, read(t, memory, files[session.Omp]), "theme: light")
		require.Equal(t, !lost, strings.Contains(read(t, memory, files[session.Omp]), "gpt-5.2"))
	}
}

// While pi or xcsh holds its lock, its change is waited for. The lock of a program that was killed is removed.
func TestTheLockOfTheTerminalProgram(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fsys := afero.NewMemMapFs()
		path := files[session.Pi]
		write(t, fsys, path, "{}")
		lock := path + ".lock"
		require.NoError(t, fsys.Mkdir(lock, 0o700))
		require.NoError(t, fsys.Chtimes(lock, time.Now(), time.Now()))
		done := make(chan error, 1)
		go func() { done <- storeOn(fsys).RememberModel(t.Context(), session.Pi, "", next) }()
		synctest.Wait()
		require.Equal(t, "{}", read(t, fsys, path))
		write(t, fsys, path, `{"theme":"dark"}`)
		require.NoError(t, fsys.Remove(lock))
		require.NoError(t, <-done)
		require.Contains(t, read(t, fsys, path), `"theme":"dark"`)
		require.Contains(t, read(t, fsys, path), "gpt-5.2")

		require.NoError(t, fsys.Mkdir(lock, 0o700))
		require.NoError(t, fsys.Chtimes(lock, time.Now(), time.Now()))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, storeOn(fsys).RememberModel(ctx, session.Pi, "", provider.Ref{Provider: "a", ID: "b"}))
		err := storeOn(fsys).RememberModel(t.Context(), session.Pi, "", provider.Ref{Provider: "a", ID: "b"})
		require.ErrorContains(t, err, "another program is changing it")
		require.NotContains(t, read(t, fsys, path), `"b"`)

		require.NoError(t, fsys.Chtimes(lock, time.Now(), time.Now().Add(-time.Minute)))
		require.NoError(t, storeOn(fsys).RememberModel(t.Context(), session.Pi, "", provider.Ref{Provider: "a", ID: "b"}))
		_, err = fsys.Stat(lock)
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
}
