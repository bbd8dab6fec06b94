// Command demo demonstrates xcsh-ls. It builds the server, copies session files of three terminal agents
// from testdata to a temporary directory, and performs the operations of an editor over the protocol:
// list, resume, dump, fork, prompt a model that needs no API key, and export.
//
//	go run ./scripts/demo
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "xcsh-ls-demo-")
	if err != nil {
		return err
	}
	home, workspace, server := filepath.Join(dir, "home"), filepath.Join(dir, "project"), filepath.Join(dir, "xcsh-ls")
	step("Building the server")
	build := exec.CommandContext(ctx, "go", "build", "-o", server, "./cmd/xcsh-ls")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build failed; run the demo in the root of the repository: %w", err)
	}
	if err := layOut(home, workspace); err != nil {
		return err
	}
	c, err := start(ctx, server, home)
	if err != nil {
		return err
	}
	if err := converse(c, workspace); err != nil {
		return fmt.Errorf("%w\n%s", err, c.log.String())
	}
	return c.stop()
}

// layOut stores one session of the workspace in the directory of each of oh-my-pi, pi and xcsh, as these
// programs do.
func layOut(home, workspace string) error {
	name := "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(strings.TrimPrefix(workspace, "/")) + "--"
	for age, f := range []struct{ from, agent, file string }{
		{"omp/linear.jsonl", ".omp", "2026-11-20T10-25-31-286Z_01a1f87d-6a96-72a8-b80c-6eb380c47d97.jsonl"},
		{"pi/sm-compaction-twice.jsonl", ".pi", "2026-11-01T09-00-37-750Z_01a19656-ddf6-77ae-890b-3e5bf404b6a2.jsonl"},
		{"pi/v1-real-0.27.9.jsonl", ".xcsh", "2025-11-20T10-00-00-000Z_5f72cfb4-6bad-40f0-997e-98376f73c2cf.jsonl"},
	} {
		content, err := os.ReadFile(filepath.Join("testdata/sessions", f.from))
		if err != nil {
			return err
		}
		to := filepath.Join(home, f.agent, "agent/sessions", name, f.file)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(to, inWorkspace(content, workspace), 0o600); err != nil {
			return err
		}
		at := time.Now().AddDate(0, 0, -age)
		if err := os.Chtimes(to, at, at); err != nil {
			return err
		}
	}
	return os.MkdirAll(workspace, 0o700)
}

var cwdMember = regexp.MustCompile(`"cwd":"[^"]*"`)

// inWorkspace changes the working directory of a recorded session to the workspace.
func inWorkspace(content []byte, workspace string) []byte {
	quoted, _ := json.Marshal(workspace)
	done := false
	return cwdMember.ReplaceAllFunc(content, func(old []byte) []byte {
		if done {
			return old
		}
		done = true
		return append([]byte(`"cwd":`), quoted...)
	})
}

// ask continues the session with a question to the offline model, a script that makes one real tool call.
func ask(c *client, workspace string) error {
	if err := os.WriteFile(filepath.Join(workspace, "notes.txt"), []byte("one\ntwo\n"), 0o600); err != nil {
		return err
	}
	if err := c.run("xcsh.setModel", map[string]any{"model": "offline/demo"}, nil); err != nil {
		return err
	}
	const question = "What is in notes.txt?"
	var turn struct {
		StopReason string
		Message    struct {
			Content []struct{ Text string }
		}
	}
	if err := c.run("xcsh.prompt", map[string]any{"text": question}, &turn); err != nil {
		return err
	}
	step("Asked offline/demo: %s", question)
	for _, block := range turn.Message.Content {
		fmt.Println("  " + block.Text)
	}
	return nil
}

type session struct {
	SessionID string `json:"sessionId"`
	File      string `json:"file"`
	Messages  int    `json:"messageCount"`
	Model     struct {
		Provider string `json:"provider"`
		ID       string `json:"id"`
	} `json:"model"`
}

func converse(c *client, workspace string) error {
	var hello struct {
		ServerInfo   struct{ Name, Version string }
		Capabilities struct {
			ExecuteCommandProvider struct{ Commands []string }
		}
	}
	err := c.call("initialize", map[string]any{
		"processId": os.Getpid(), "capabilities": map[string]any{},
		"workspaceFolders": []any{map[string]string{"uri": "file://" + filepath.ToSlash(workspace), "name": "project"}},
	}, &hello)
	if err != nil {
		return err
	}
	step("%s %s started with %d commands", hello.ServerInfo.Name, hello.ServerInfo.Version, len(hello.Capabilities.ExecuteCommandProvider.Commands))
	if err := c.notify("initialized", map[string]any{}); err != nil {
		return err
	}

	var list struct {
		Sessions []struct {
			ID, Name, Origin, TimeAgo, FirstMessage string
			MessageCount                            int
		}
	}
	if err := c.run("xcsh.list", map[string]any{}, &list); err != nil {
		return err
	}
	step("Sessions of %s", workspace)
	for _, s := range list.Sessions {
		fmt.Printf("  %-12s %-8s  %q, %d messages\n", s.ID[:8]+"…", s.TimeAgo, s.Name, s.MessageCount)
	}

	var resumed struct {
		Session session
		Summary struct{ Text string }
	}
	if err := c.run("xcsh.resume", map[string]any{"target": list.Sessions[0].ID}, &resumed); err != nil {
		return err
	}
	step("Resumed %s", resumed.Session.File)
	fmt.Printf("  %s\n  model %s/%s, %d messages in the context\n", resumed.Summary.Text, resumed.Session.Model.Provider, resumed.Session.Model.ID, resumed.Session.Messages)

	var dump struct{ Text string }
	if err := c.run("xcsh.dump", map[string]any{}, &dump); err != nil {
		return err
	}
	_, prompt, _ := strings.Cut(dump.Text, "\n## User") // skip the system prompt and the tools
	step("Dump (%d lines; the first prompt and answer)", strings.Count(dump.Text, "\n")+1)
	for _, line := range strings.SplitN("## User"+prompt, "\n", 13)[:12] {
		fmt.Println("  | " + line)
	}

	var forked struct{ Session session }
	if err := c.run("xcsh.fork", map[string]any{}, &forked); err != nil {
		return err
	}
	step("Forked into %s", forked.Session.File)

	if err := ask(c, workspace); err != nil {
		return err
	}

	var export struct {
		Path  string
		Bytes int
	}
	if err := c.run("xcsh.export", map[string]any{}, &export); err != nil {
		return err
	}
	step("Exported %d bytes of HTML; open it in a browser:", export.Bytes)
	fmt.Println("  " + export.Path)
	return nil
}

func step(format string, args ...any) { fmt.Printf("\n▸ "+format+"\n", args...) }
