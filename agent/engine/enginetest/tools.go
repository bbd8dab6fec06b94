package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// errAborted is the result of a tool that was aborted before it ran.
var errAborted = errors.New("Operation aborted") //nolint:staticcheck // pi's words

// result is that of a tool.
type result struct {
	text    string
	details json.RawMessage
	err     error
}

// prepare announces calls, asks for permission for each and executes them at once. It returns what records their results.
func (t *turns) prepare(calls []toolCall) (done []func() json.RawMessage) {
	refused := make([]error, len(calls))
	for i, call := range calls {
		start := func() {
			t.event("tool_execution_start", "toolCallId", call.id, "toolName", call.name, "args", call.args)
		}
		if t.kin == nil {
			start()
		}
		refused[i] = t.permit(t.ctx, call)
		if t.kin != nil {
			start()
		}
	}
	messages := make([]json.RawMessage, len(calls))
	var all sync.WaitGroup
	for i, call := range calls {
		all.Go(func() { messages[i] = t.runTool(call, refused[i]) })
		done = append(done, func() json.RawMessage {
			t.record(messages[i], false)
			return messages[i]
		})
	}
	all.Wait()
	return done
}

// runTool executes a call that was not refused, and returns the message of its result.
func (t *turns) runTool(call toolCall, refused error) json.RawMessage {
	began := time.Now()
	r := result{err: refused}
	if refused == nil {
		r = t.execute(call)
	}
	var details any = absent
	text := r.text
	if r.details != nil {
		details = r.details
	}
	if r.err != nil {
		text, details = r.err.Error(), object()
	}
	content := array([]json.RawMessage{object("type", "text", "text", text)})
	took := time.Since(began).Milliseconds()
	t.event("tool_execution_end", "toolCallId", call.id, "toolName", call.name, "result", object("content", content, "details", details), "isError", r.err != nil, "durationMs", took)
	return object("role", "toolResult", "toolCallId", call.id, "toolName", call.name, "content", content, "details", details,
		"isError", r.err != nil, "durationMs", took, "timestamp", time.Now().UnixMilli())
}

// execute runs one of the tools.
func (t *turns) execute(call toolCall) result {
	var args struct {
		Path, Content, Command string
		Edits                  []struct{ OldText, NewText string }
		OldText, NewText       string
	}
	if err := json.Unmarshal(call.args, &args); err != nil {
		return result{err: err}
	}
	path := args.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.session.cwd, path)
	}
	switch call.name {
	case "read":
		text, err := t.readFile(path, false)
		return result{text: text, err: err}
	case "write":
		if err := t.writeFile(call.id, path, args.Content); err != nil {
			return result{err: err}
		}
		return result{text: "Successfully wrote to " + args.Path}
	case "edit":
		if args.OldText != "" {
			args.Edits = append(args.Edits, struct{ OldText, NewText string }{args.OldText, args.NewText})
		}
		text, err := t.readFile(path, true)
		if err != nil {
			return result{err: err}
		}
		for _, e := range args.Edits {
			if strings.Count(text, e.OldText) != 1 {
				return result{err: fmt.Errorf("Could not find the exact text in %s. The old text must match exactly including all whitespace and newlines.", args.Path)} //nolint:staticcheck // pi's words
			}
			text = strings.Replace(text, e.OldText, e.NewText, 1)
		}
		if err := t.writeFile(call.id, path, text); err != nil {
			return result{err: err}
		}
		return result{text: fmt.Sprintf("Successfully replaced %d block(s) in %s.", len(args.Edits), args.Path), details: object("diff", "-\n+", "patch", "", "firstChangedLine", 1)}
	case "bash":
		return t.runBash(call, args.Command)
	default:
		return result{err: fmt.Errorf("Tool %s not found", call.name)} //nolint:staticcheck // pi's words
	}
}

// readFile reads a document that is open in the editor from there.
func (t *turns) readFile(path string, changes bool) (string, error) {
	if t.host.Files {
		for _, op := range []string{"open", "read"} {
			a, err := t.request(t.ctx, "op", op, "path", path)
			if err != nil {
				return "", err
			}
			if op == "read" && a.Here {
				return a.Text, nil
			}
			if op == "open" && !a.Here && !changes {
				break // the tool of the disk
			}
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("ENOENT: no such file or directory, access '%s'", path)
	}
	return string(text), nil
}

func (t *turns) writeFile(callID, path, text string) error {
	if t.host.Files {
		a, err := t.request(t.ctx, "op", "write", "path", path, "text", text, "toolCallId", callID)
		if err != nil || a.Here {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as pi makes it
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644) //nolint:gosec // as pi makes it
}

// runBash runs the command of a model.
func (t *turns) runBash(call toolCall, script string) result {
	t.event("tool_execution_update", "toolCallId", call.id, "toolName", call.name, "args", call.args, "partialResult", object("content", array[string](nil)))
	started := func() {
		if s, _, _ := t.plan(); s.faults.is("crash-in-tool") {
			killSelf()
		}
	}
	output, code, err := runShell(t.ctx, t.session.cwd, script, started, func(all string) {
		t.event("tool_execution_update", "toolCallId", call.id, "toolName", call.name, "args", call.args, "partialResult",
			object("content", array([]json.RawMessage{object("type", "text", "text", all)}), "details", object()))
	})
	switch {
	case err != nil:
		return result{err: fmt.Errorf("%s%w", separated(output), err)}
	case code != 0:
		return result{err: fmt.Errorf("%sCommand exited with code %d", separated(output), code)}
	}
	return result{text: output}
}

// separated returns a text that another one follows after an empty line.
func separated(text string) string {
	if text == "" {
		return ""
	}
	return text + "\n\n"
}

// runShell runs a command in a group of its own. update gets all output so far.
func runShell(ctx context.Context, dir, script string, started func(), update func(all string)) (output string, code int, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir = dir
	detach(cmd)
	out := &growing{update: update}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second
	if err = cmd.Start(); err == nil {
		started()
		err = cmd.Wait()
	}
	if ctx.Err() != nil {
		return out.text(), 0, errors.New("Command aborted") //nolint:staticcheck // pi's words
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.text(), exit.ExitCode(), nil
	}
	return out.text(), 0, err
}

// growing is the output of a command.
type growing struct {
	mu     sync.Mutex
	all    bytes.Buffer // guarded by mu
	update func(string)
}

func (g *growing) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all.Write(b)
	g.update(g.all.String())
	return len(b), nil
}

func (g *growing) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.all.String()
}

// bash runs a command of the user and records it, after the run if there is one. It can be aborted at once.
func (d *double) bash(c command) (json.RawMessage, error) {
	ctx, cancel := context.WithCancel(context.Background())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bashes = append(d.bashes, cancel)
	cwd := d.session.cwd
	d.work.Go(func() {
		defer cancel()
		d.handle(c, func(d *double, c command) (json.RawMessage, error) { return d.bashIn(ctx, cwd, c) })
	})
	return nil, errAnswered
}

func (d *double) bashIn(ctx context.Context, cwd string, c command) (json.RawMessage, error) {
	sent := 0
	output, code, err := runShell(ctx, cwd, c.Command, func() {}, func(all string) {
		d.event("bash_execution_update", "id", idOf(c), "delta", all[sent:])
		sent = len(all)
	})
	cancelled := ctx.Err() != nil
	if err != nil && !cancelled {
		return nil, err
	}
	var exit, exclude any = code, absent
	if cancelled {
		exit = absent
	}
	if c.Exclude {
		exclude = true
	}
	record := object("role", "bashExecution", "command", c.Command, "output", output, "exitCode", exit, "cancelled", cancelled, "truncated", false,
		"timestamp", time.Now().UnixMilli(), "excludeFromContext", exclude)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run != nil {
		d.late = append(d.late, record)
	} else if _, err := d.session.append("message", "message", record); err != nil {
		return nil, err
	}
	return object("output", output, "exitCode", exit, "cancelled", cancelled, "truncated", false), nil
}

func (d *double) abortBash(command) (json.RawMessage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, cancel := range d.bashes {
		cancel()
	}
	d.bashes = nil
	return nil, nil
}
