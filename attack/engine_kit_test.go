package attack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// engines are the programs that answer in the tests below, by name: each makes an executable called pi in a directory
// of its own, which it returns. The build tag peers adds the real one.
var engines = map[string]func(v *victim) (dir string){
	"double": func(v *victim) string { return filepath.Dir(enginetest.Build(v.t, "pi")) },
}

// eachEngine runs a test with each of the programs, pi is its path.
func eachEngine(t *testing.T, test func(t *testing.T, v *victim, pi string)) {
	t.Helper()
	for name, install := range engines {
		t.Run(name, func(t *testing.T) {
			v := newVictim(t)
			dir := install(v)
			require.NoError(t, os.MkdirAll(v.piSessions(), 0o700))
			v.pathBefore(dir)
			test(t, v, filepath.Join(dir, "pi"))
		})
	}
}

// piSessions is where pi keeps its sessions.
func (v *victim) piSessions() string { return filepath.Join(v.home, ".pi", "agent", "sessions") }

// wrapper writes a script called pi that runs a program with variables of its own. It returns its directory.
func (v *victim) wrapper(p enginetest.Program) (dir string) {
	v.t.Helper()
	dir = filepath.Join(v.home, ".local", "bin")
	text := "#!/bin/sh\n"
	for _, variable := range p.Env {
		text += "export '" + variable + "'\n"
	}
	text += fmt.Sprintf("exec '%s' '%s' \"$@\"\n", p.Path, strings.Join(p.Args, "' '"))
	v.write(filepath.Join(dir, "pi"), text)
	require.NoError(v.t, os.Chmod(filepath.Join(dir, "pi"), 0o700))
	return dir
}

// piFiles returns the session files of pi by the ids of their sessions.
func (v *victim) piFiles() map[string]string {
	v.t.Helper()
	found, err := filepath.Glob(filepath.Join(v.piSessions(), "*", "*.jsonl"))
	require.NoError(v.t, err)
	files := map[string]string{}
	for _, path := range found {
		_, id, ok := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".jsonl"), "_")
		require.True(v.t, ok, path)
		require.NotContains(v.t, files, id, "two files of one session")
		files[id] = path
	}
	return files
}

// load reads a session file as the server does. Nothing in it may be damaged.
func (v *victim) load(path string) *session.Document {
	v.t.Helper()
	store := session.NewStore(session.StoreConfig{Fs: afero.NewOsFs(), LockDir: v.t.TempDir()})
	doc, err := store.Load(path)
	require.NoError(v.t, err)
	require.Empty(v.t, doc.Problems(), path)
	return doc
}
