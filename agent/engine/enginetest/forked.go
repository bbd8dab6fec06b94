package enginetest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// forked holds the differences of omp and xcsh, which were forked from pi; nil for pi.
type forked struct {
	name     string
	ready    json.RawMessage // the first line
	versions bool            // it has negotiate_protocol
	reports  bool            // prompt_result
	serial   bool            // it reads nothing while a command runs
	parses   bool            // the failure of a command has no id, and says that a line could not be parsed
	drops    bool            // --no-extensions counts for -e, too
}

var forks = map[string]*forked{
	"omp": {
		name: "omp", versions: true, reports: true,
		ready: object("type", "ready", "protocolVersion", 1, "supportedProtocolVersions", []int{1, 2}, "maxFrameBytes", mib, "maxReassembledFrameBytes", 64*mib),
	},
	"xcsh": {name: "xcsh", serial: true, parses: true, drops: true, ready: object("type", "ready")},
}

// omitted are the commands of pi that its forks do not have.
var omitted = []string{"clear_queue", "get_available_thinking_levels", "get_commands", "fork", "clone", "get_entries", "get_fork_messages"}

// forkFlags are all flags of a fork: others are errors.
var forkFlags = []string{"--version", "-v", "--mode", "--resume", "--session-dir", "-e", "--extension", "--model", "--thinking", "--no-extensions", "--allow-home", "--no-title"}

// checkFlags fails for a flag that a fork does not have, as the forks do.
func checkFlags(args []string) error {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") && !slices.Contains(forkFlags, arg) {
			return fmt.Errorf("Error: Nonexistent flag: %s", arg) //nolint:staticcheck // the words of the forks
		}
	}
	return nil
}

// handler returns the function of a command that a fork has.
func (f *forked) handler(name string) (func(*double, command) (json.RawMessage, error), bool) {
	switch {
	case name == "negotiate_protocol" && f.versions:
		return (*double).negotiate, true
	case name == "get_available_commands" && f.versions:
		return (*double).listCommands, true
	case slices.Contains(omitted, name):
		return nil, false
	}
	handle, ok := handlers[name]
	return handle, ok
}

// followForked handles a line as a fork does.
func (d *double) followForked(c command) {
	handle, ok := d.kin.handler(c.Type)
	switch {
	case !ok:
		d.out.send(object("type", "response", "command", c.Type, "success", false, "error", "Unknown command: "+c.Type))
	case d.kin.serial || !slow[c.Type]:
		d.handle(c, handle)
	default:
		d.handleLater(c, handle)
	}
}

// refuseForked answers a command that failed.
func (d *double) refuseForked(c command, words string) {
	if d.kin.parses && c.Type != "prompt" {
		d.respond(c, object("type", "response", "command", "parse", "success", false, "error", "Failed to parse command: "+words))
		return
	}
	d.respond(c, object("id", idOf(c), "type", "response", "command", c.Type, "success", false, "error", words))
}

// promptForked acknowledges a prompt at once, and refuses it afterwards if it must.
func (d *double) promptForked(c command) (json.RawMessage, error) {
	d.accept(c, nil)
	if words, ok := d.faults.has("refuse-later"); ok {
		d.refuse(c, words)
		return nil, errAnswered
	}
	if name, args, ok := strings.Cut(c.Message+" ", " "); ok && strings.HasPrefix(name, "/") {
		if handle, ok := d.commands()[name[1:]]; ok {
			go func() {
				handle(strings.TrimSpace(args))
				if d.kin.reports {
					d.out.send(object("type", "prompt_result", "id", idOf(c), "agentInvoked", false))
				}
			}()
			return nil, errAnswered
		}
	}
	if len(d.models) == 0 {
		d.refuse(c, "No model selected.\n\nUse /login or set an API key.")
		return nil, errAnswered
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{cancel: cancel, done: make(chan struct{})}
	d.mu.Lock()
	busy := d.run != nil || d.quitting
	if !busy {
		d.run = r
	}
	d.mu.Unlock()
	if !busy {
		go d.answer(ctx, r, c.Message, c.Images)
		return nil, errAnswered
	}
	cancel()
	if c.StreamingBehavior == "" {
		d.refuse(c, "Agent is already processing. Use steer() or followUp() to queue messages, or wait for completion.")
		return nil, errAnswered
	}
	d.queue(c.StreamingBehavior, c.Message)
	return nil, errAnswered
}

// negotiate agrees on a version of the protocol: the second one has long lines in pieces.
func (d *double) negotiate(c command) (json.RawMessage, error) {
	d.out.mu.Lock()
	d.out.pieces = true
	d.out.mu.Unlock()
	return object("protocolVersion", 2), nil
}

// The sizes of lines and pieces.
const (
	longLine = mib
	piece    = 256 << 10
)

// piecesOf returns a long line as omp sends it.
func piecesOf(line []byte, number int) (list [][]byte) {
	count := (len(line) + piece - 1) / piece
	for i := range count {
		part := line[i*piece : min(len(line), (i+1)*piece)]
		list = append(list, object("type", "rpc_chunk", "chunkId", fmt.Sprintf("rpc-%d", number), "index", i, "count", count, "byteLength", len(line),
			"data", base64.StdEncoding.EncodeToString(part)))
	}
	return list
}

// readSettings gives the bridge its settings as the forks get them: from a file beside it.
func (d *double) readSettings() error {
	if len(d.options.extensions) == 0 || d.faults.is("no-bridge") {
		return nil
	}
	path := filepath.Join(filepath.Dir(d.options.extensions[0]), "xcsh-ls-host.json")
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err == nil {
		err = json.Unmarshal(raw, &d.host)
	}
	return err
}

// forkFile opens the file of a session without entries as the forks do: they append their settings, and with the fault
// late-file everything with the first answer only.
func (d *double) forkFile() {
	s := d.session
	if len(s.entries) > 0 {
		return
	}
	if d.faults.is("late-file") {
		s.late, s.written, s.lead = true, false, len(s.text())
	}
	d.begin(s)
}

// nextRun begins another run with a message that waits, as the forks do after the end of one.
func (t *turns) nextRun() bool {
	t.mu.Lock()
	quitting := t.quitting
	t.mu.Unlock()
	if quitting {
		return false
	}
	text, queued := t.nextQueued(false)
	if queued {
		t.startTurns()
		t.addQueued(text)
	}
	return queued
}
