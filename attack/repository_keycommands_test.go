package attack

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// keysAsCommands are the providers of a file with models whose keys a command prints.
func (v *victim) keysAsCommands(command string) string {
	raw, err := json.Marshal(map[string]any{"providers": map[string]any{"evil": map[string]any{
		"baseUrl": v.Server.URL("openai-completions"), "api": "openai-completions", "apiKey": "!" + command, "models": []any{map[string]any{"id": "m"}},
	}}})
	require.NoError(v.t, err)
	return string(raw)
}

// A file of a project runs no command for a key, wherever the programs keep keys, and neither does an agent directory of the
// workspace that a setting names.
func TestAWorkspaceRunsNoCommandForAKey(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	ran := filepath.Join(v.outside, "ran")
	evil := "touch '" + ran + "'; echo key"
	elsewhere := filepath.Join(v.outside, "agent") // which the user did not choose either
	for _, dir := range []string{v.work, v.path(".pi"), v.path(".omp"), v.path(".xcsh"), v.path(".xcsh/agent"), v.path(".agent"), elsewhere} {
		v.write(filepath.Join(dir, "auth.json"), `{"fake":{"type":"api_key","key":"!`+evil+`"},"evil":{"type":"api_key","key":"!`+evil+`"}}`)
		v.write(filepath.Join(dir, "models.json"), v.keysAsCommands(evil))
		v.write(filepath.Join(dir, "models.yml"), v.keysAsCommands(evil))
	}
	for _, options := range []lsptest.Fields{{}, {"agentDir": v.path(".agent")}, {"agentDir": elsewhere}, {"roots": []string{elsewhere}}, {"roots": []string{v.path(".agent"), v.path(".pi")}, "keys": lsptest.Fields{"commands": true}}} {
		ed := v.edit(options)
		for _, model := range []string{"evil/m", "fake/m"} {
			_, _ = ed.Exec("xcsh.setModel", lsptest.Fields{"model": model, "cwd": v.work})
			v.Script("m", providertest.Reply{Text: "Done."})
			_, _ = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "go", "cwd": v.work})
		}
		_, _ = ed.Exec("xcsh.providers", lsptest.Fields{"cwd": v.work})
		_, err := os.Stat(ran)
		require.ErrorIs(t, err, os.ErrNotExist, "%v", options)
	}
	v.run("run", "--model", "evil/m", "go")
	_, err := os.Stat(ran)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// What a command prints is sent to its service, and is nowhere else: not in the session, the log, an event, a list or the doctor. The setting
// turns the commands off.
func TestAPrintedKeyGoesToItsServiceOnly(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command is that of a Unix shell")
	}
	v := newVictim(t)
	runs := filepath.Join(v.home, "runs")
	raw, err := json.Marshal(map[string]any{"fake": map[string]any{"type": "api_key", "key": "!printf x >> '" + runs + "'; echo " + secret + " >&2; echo ${X}" + serviceKey}})
	require.NoError(t, err)
	v.write(filepath.Join(v.agentDir(), "auth.json"), string(raw))
	v.write(filepath.Join(v.home, ".omp/agent/models.yml"), "providers: {broken: {apiKey: "+secret+", models: [{id: 7}]}}\n")

	off := v.edit(lsptest.Fields{"keys": lsptest.Fields{"commands": false}})
	_, failure := off.Exec("xcsh.prompt", lsptest.Fields{"text": "go", "cwd": v.work})
	require.NotNil(t, failure)
	require.Contains(t, failure.Message, "The command that fake's key comes from (~/.xcsh/agent/auth.json) was not run because the setting keys.commands is off.")
	_, err = os.Stat(runs)
	require.ErrorIs(t, err, os.ErrNotExist)

	ed := v.edit(nil)
	var seen strings.Builder
	for range 2 {
		v.Script("m", providertest.Reply{Text: "Done."})
		raw, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "go", "cwd": v.work})
		require.Nil(t, failure, "the service got the key")
		seen.Write(raw)
	}
	require.Equal(t, "x", v.read(runs), "it ran once")
	for _, command := range []string{"xcsh.providers", "xcsh.models", "xcsh.state", "xcsh.setup", "xcsh.doctor", "xcsh.snapshot"} {
		raw, _ := ed.Exec(command, lsptest.Fields{"cwd": v.work})
		seen.Write(raw)
	}
	for _, m := range ed.Messages() {
		seen.Write(m.Params)
		seen.Write(m.Result)
	}
	for _, args := range [][]string{{"doctor"}, {"setup", "--json"}, {"models", "--all", "--json"}, {"list", "--json"}} {
		o := v.run(args...)
		seen.WriteString(o.stdout + o.stderr)
	}
	require.Contains(t, seen.String(), "models.yml was not used: line 1: ", "the user learns of the error")
	err = filepath.WalkDir(v.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Base(path) == "auth.json" || strings.HasPrefix(filepath.Base(path), "models.") {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.HasPrefix(path, filepath.Join(v.agentDir())) {
			seen.Write(content)
		}
		return err
	})
	require.NoError(t, err)
	require.NotContains(t, seen.String(), serviceKey)
	require.NotContains(t, seen.String(), secret)
}
