package find

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// FuzzFiles feeds the readers of foreign files with anything.
func FuzzFiles(f *testing.F) {
	for _, s := range []string{"#!/usr/bin/env node\n", "#!/usr/bin/env -S node --x", "#! ", "v22.19.0", ">=22 || ^20.1", `{"version":"1.2.3"}`, "prefix=~/x", `"%dp0%\a\b.js"`, "\x00", "1.5.2\nx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, onPath := interpreter(text)
		require.False(t, onPath && (name == "" || strings.Contains(name, "/")), name)
		if v := findVersion(text); v != "" {
			require.Regexp(t, validText, v)
			require.LessOrEqual(t, len(v), 64)
		}
		leastVersion(text)
		fsys := afero.NewMemMapFs()
		for _, path := range []string{"/h/.npmrc", "/p/package.json", "/p/x.cmd", "/h/c.json"} {
			require.NoError(t, afero.WriteFile(fsys, path, []byte(text), 0o700))
		}
		m := Machine{OS: "windows", Home: "/h", Fs: fsys, Getenv: func(string) string { return text }}
		if dir := m.npmPrefix(); dir != "" {
			require.True(t, filepath.IsAbs(dir))
		}
		m.packageOf("/p/x.js")
		m.shimTarget("/p/x.cmd")
		for _, p := range m.places() {
			require.True(t, filepath.IsAbs(p.dir), p.dir)
		}
		(&probes{m: m, path: "/h/c.json"}).claim("/p/x", known{})
		for _, dir := range loginPath(t.Context(), func(context.Context, Command) (string, error) { return text, nil }, "/bin/sh", "/h") {
			require.True(t, filepath.IsAbs(dir))
		}
	})
}
