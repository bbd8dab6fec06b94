package enginetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// RealPi returns the pi that bench/peers/install.sh installed, with a [NewService] as the service of its models, which
// it writes into the pi directory below home. XCSH_PI names the directory of another pi, and XCSH_PI_NODE another Node.js. The
// test is skipped if pi is not installed.
func RealPi(t testing.TB, home string) Program {
	t.Helper()
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	root := installed(t, "XCSH_PI", "@earendil-works", "pi-coding-agent")
	node := installed(t, "XCSH_PI_NODE", "node-"+runtime.GOOS+"-"+arch, "bin", "node")
	model := func(id string, thinks bool) map[string]any {
		return map[string]any{
			"id": id, "name": id, "reasoning": thinks, "input": []string{"text", "image"}, "contextWindow": 200000, "maxTokens": 8192,
			"cost": map[string]int{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
		}
	}
	dir := filepath.Join(home, ".pi", "agent")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]any{
		"models.json": map[string]any{"providers": map[string]any{provider: map[string]any{
			"baseUrl": NewService(t).URL, "apiKey": "k", "api": "anthropic-messages", "models": []any{model("mock-large", true), model("mock-plain", false)},
		}}},
		"settings.json": map[string]any{
			"defaultProvider": provider, "defaultModel": "mock-large", "enableInstallTelemetry": false,
			"retry": map[string]int{"baseDelayMs": 20}, "compaction": map[string]int{"keepRecentTokens": 10},
		},
	} {
		raw, err := json.Marshal(content)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return Program{Path: node, Args: []string{filepath.Join(root, "dist", "bundle", "cli.js")}, Env: []string{"PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_NO_TITLE=1"}}
}

// installed returns the path of a program for comparison.
func installed(t testing.TB, variable string, parts ...string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		path = filepath.Join(append([]string{sources(t), "..", "..", "..", "bench", "peers", "node_modules"}, parts...)...)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip("pi is not installed; run bench/peers/install.sh pi")
	}
	return path
}
