package manifest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/schema"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// maxShown is how much of the arguments is shown in a permission prompt's title, in bytes.
const maxShown = 300

// call is a tool as it was loaded.
type call struct {
	folder     Folder
	manifest   manifest
	file       string // of the manifest
	digest     string
	parameters schema.Parameters
}

func (c call) tool() Tool {
	confirmed := c.manifest.ReadOnly && c.folder.ReadOnly != nil && c.folder.ReadOnly(c.manifest.Name, c.digest)
	return Tool{
		Executable: c.folder.path(c.manifest.Executable), ReadOnly: c.manifest.ReadOnly, Confirmed: confirmed,
		Tool: tool.Tool{
			Tool: provider.Tool{
				Name: c.manifest.Name, Description: strings.TrimSpace(c.manifest.Description), Parameters: c.manifest.Parameters,
			},
			Digest: c.digest,
			// Without it the call has no permission, whose zero value is the strict sandbox.
			Changes: !confirmed,
			Check:   c.parameters.Check,
			Preview: c.preview,
			Limit:   func(json.RawMessage) time.Duration { return 0 }, // the program has a time limit
			Run:     c.run,
		},
	}
}

// preview shows the executable and its arguments.
func (c call) preview(_ context.Context, _ tool.Env, args json.RawMessage) (tool.Preview, error) {
	shown := tool.Printable(string(args))
	if len(shown) > maxShown {
		shown = strings.ToValidUTF8(shown[:maxShown], "") + "…"
	}
	return tool.Preview{Title: fmt.Sprintf("Run the tool %s (%s) with %s", c.manifest.Name, filepath.Base(c.manifest.Executable), shown)}, nil
}

// run runs the executable, if it is the one that was loaded.
func (c call) run(ctx context.Context, env tool.Env, args json.RawMessage) (tool.Result, error) {
	line, err := c.parameters.Check(args)
	if err != nil {
		return tool.Result{}, err
	}
	if c.folder.Check != nil {
		if err := c.folder.Check(env.Cwd); err != nil {
			return tool.Result{}, err
		}
	}
	if now, err := c.folder.digest(c.file, c.manifest.Executable); err != nil || now != c.digest {
		return tool.Result{}, fault.New(fault.Denied, "The tool %s was not run because its manifest or executable has changed since the server started. The user can restart the server to use it.", c.manifest.Name)
	}
	out := &output{update: env.Update}
	end, err := c.folder.Shell.RunProgram(ctx, env, tool.Program{
		Path: c.folder.path(c.manifest.Executable), Env: []string{"XCSH_TOOL_NAME=" + c.manifest.Name},
		Input: append(line, '\n'), Timeout: c.manifest.timeout(), MaxOutput: maxOutput,
	}, out.take)
	if err != nil {
		return tool.Result{}, err
	}
	r := c.result(end, out.rest())
	for _, note := range end.Notes {
		r.Content = append(r.Content, provider.Text(note))
	}
	return r, nil
}

// result turns the end of a call into a result.
func (c call) result(end tool.ProgramEnd, raw []byte) tool.Result {
	var why string
	switch {
	case end.Cancelled:
		why = "was stopped"
	case end.TimedOut:
		why = fmt.Sprintf("exceeded its time limit of %g s and was ended", c.manifest.timeout().Seconds())
	case end.TooMuch:
		why = fmt.Sprintf("returned more than %d bytes and was ended", maxOutput)
	case end.ExitCode != 0:
		why = fmt.Sprintf("failed with exit code %d", end.ExitCode)
	default:
		r, err := parseResult(raw)
		if err == nil {
			return r
		}
		why = err.Error()
	}
	text := fmt.Sprintf("The tool %s %s.", c.manifest.Name, why)
	if errors := strings.TrimSpace(end.Errors); errors != "" {
		text += "\n\n" + errors
	}
	r := tool.TextResult(text)
	r.IsError = true
	return r
}

// output collects the standard output of a call. Progress is passed on at once.
type output struct {
	update func(tool.Result) // may be nil

	mu      sync.Mutex
	pending []byte    // guarded by mu; the output without progress
	result  bool      // guarded by mu; the result has begun
	last    time.Time // guarded by mu; of an update
}

// updateEvery is the shortest time between two updates.
const updateEvery = 100 * time.Millisecond

// take reads a piece of the standard output.
func (o *output) take(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.result {
		o.pending = append(o.pending, b...)
		return
	}
	for len(b) > 0 && !o.result {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			o.pending = append(o.pending, b...)
			return
		}
		o.pending = append(o.pending, b[:i+1]...)
		b = b[i+1:]
		text, ok := progress(o.pending)
		if !ok && len(bytes.TrimSpace(o.pending)) > 0 {
			o.result = true
			break
		}
		o.pending = o.pending[:0]
		if now := time.Now(); ok && o.update != nil && now.Sub(o.last) >= updateEvery {
			o.last = now
			o.update(tool.TextResult(text))
		}
	}
	o.pending = append(o.pending, b...)
}

// rest returns the output without progress.
func (o *output) rest() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := progress(o.pending); ok && !o.result {
		return nil
	}
	return o.pending
}
