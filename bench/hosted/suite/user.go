package suite

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// The directories of a user, below a root.
func homeOf(root string) string { return filepath.Join(root, "home") }
func workOf(root string) string { return filepath.Join(root, "work") }
func binOf(root string) string  { return filepath.Join(root, "bin") }

// sessionOf is the session that the user continues.
func sessionOf(root string) string {
	return filepath.Join(homeOf(root), ".pi", "agent", "sessions", "--large--", "2026-01-01T00-00-00-000Z_large.jsonl")
}

// environment returns the variables of the programs, which take precedence over those of this process.
func environment(root string) []string {
	return []string{
		"HOME=" + homeOf(root), "USERPROFILE=" + homeOf(root), "TERM=dumb", "PATH=" + binOf(root) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_NO_TITLE=1",
	}
}

type object map[string]any

// settle makes the user whose directories are below root: the agent is installed, and all models are those of the service. session is copied
// into the agent's directory, with a folder that exists.
func settle(root string, e Engine, service, session string) error {
	agent := filepath.Join(homeOf(root), ".pi", "agent")
	ours := filepath.Join(homeOf(root), ".xcsh", "agent")
	for _, dir := range []string{agent, ours, workOf(root), binOf(root)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	models := object{"providers": object{
		"fake": object{"baseUrl": service, "apiKey": "k", "api": "anthropic-messages", "models": []any{object{
			"id": "m", "name": "m", "reasoning": false, "input": []string{"text"}, "contextWindow": 200_000, "maxTokens": 8192,
			"cost": object{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
		}}},
		"anthropic": object{"baseUrl": service, "apiKey": "k"}, // generated sessions have its models
	}}
	settings := object{"defaultProvider": "fake", "defaultModel": "m", "enableInstallTelemetry": false, "compaction": object{"enabled": false}}
	err := errors.Join(
		writeJSON(filepath.Join(agent, "models.json"), models), writeJSON(filepath.Join(ours, "models.json"), models),
		writeJSON(filepath.Join(agent, "settings.json"), settings), install(root, e),
	)
	if err == nil && session != "" {
		err = moveIn(sessionOf(root), session, workOf(root))
	}
	return err
}

func writeJSON(path string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o600)
}

// install puts the agent where the server finds it.
func install(root string, e Engine) error {
	script := "#!/bin/sh\nexec '" + strings.Join(e.Argv, "' '") + "' \"$@\"\n"
	return os.WriteFile(filepath.Join(binOf(root), "pi"), []byte(script), 0o700) //nolint:gosec // it is a program
}

// moveIn copies a session into the folder cwd: its header names it.
func moveIn(to, from, cwd string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	r := bufio.NewReaderSize(in, 1<<20)
	head, err := r.ReadBytes('\n')
	if err != nil {
		return err
	}
	id, ok := rawjson.GetString(head, "id")
	if !ok {
		return fmt.Errorf("%s has no header", from)
	}
	if head, err = json.Marshal(object{
		"type": "session", "version": 3, "id": id, "timestamp": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "cwd": cwd,
	}); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, headErr := out.Write(append(head, '\n'))
	_, err = io.Copy(out, r)
	return errors.Join(headErr, err, out.Close())
}
