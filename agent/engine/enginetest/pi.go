package enginetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
)

// provider is that of all models of the double.
const provider = "mock"

// levels are the thinking levels of a model that thinks.
var levels = []string{"off", "minimal", "low", "medium", "high"}

type model struct {
	id     string
	thinks bool
}

// double is a running double of pi.
type double struct {
	kin     *forked // nil for pi
	options options
	faults  faults
	out     *lines
	end     func(code int)
	dir     string
	models  []model
	host    host

	work sync.WaitGroup // bash commands

	mu        sync.Mutex
	session   *session               // guarded by mu
	model     int                    // the index of the current one; guarded by mu
	thinking  string                 // guarded by mu
	run       *run                   // nil when idle; guarded by mu
	compacts  bool                   // guarded by mu
	steering  []string               // guarded by mu
	followUps []string               // guarded by mu
	late      []json.RawMessage      // bash records of a run; guarded by mu
	dialogs   map[string]chan answer // guarded by mu
	eaten     map[string]bool        // commands whose answer was lost; guarded by mu
	failures  map[string]int         // of the model's service, by prompt; guarded by mu
	bashes    []context.CancelFunc   // guarded by mu
	deaf      bool                   // nothing more is read; guarded by mu
	quitting  bool                   // guarded by mu
}

// run is a run of the agent.
type run struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// command is a line of the host.
type command struct {
	ID   json.RawMessage `json:"id"`
	Type string          `json:"type"`

	Message           string            `json:"message"`
	Images            []json.RawMessage `json:"images"`
	StreamingBehavior string            `json:"streamingBehavior"`
	Provider          string            `json:"provider"`
	ModelID           string            `json:"modelId"`
	Level             string            `json:"level"`
	Command           string            `json:"command"`
	Exclude           bool              `json:"excludeFromContext"`
	SessionPath       string            `json:"sessionPath"`
	ParentSession     string            `json:"parentSession"`
	EntryID           string            `json:"entryId"`
	Since             *string           `json:"since"`
	Name              string            `json:"name"`
	Instructions      string            `json:"customInstructions"`

	answer
}

// answer is the answer to a dialog.
type answer struct {
	Value     *string `json:"value"`
	Confirmed *bool   `json:"confirmed"`
	Cancelled bool    `json:"cancelled"`
}

// readAll follows lines until the input ends.
func (d *double) readAll(in io.Reader) {
	from := bufio.NewReader(in)
	for {
		line, err := from.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 && !d.faults.is("silent") {
			d.follow(line)
		}
		if err != nil {
			return
		}
		d.mu.Lock()
		deaf := d.deaf
		d.mu.Unlock()
		if deaf {
			select {}
		}
	}
}

// follow handles one line.
func (d *double) follow(line []byte) {
	if string(line) == "null" {
		_, _ = os.Stderr.WriteString("TypeError: Cannot read properties of null (reading 'type')\n    at handleLine\n")
		d.end(1)
		return
	}
	var any any
	if err := json.Unmarshal(line, &any); err != nil {
		d.out.send(object("type", "response", "command", "parse", "success", false, "error", "Failed to parse command: "+err.Error()))
		return
	}
	var c command
	if json.Unmarshal(line, &c) != nil || c.Type == "" {
		d.out.send(object("type", "response", "success", false, "error", "Unknown command: undefined"))
		return
	}
	if c.Type == "extension_ui_response" {
		d.answered(c)
		return
	}
	if d.kin != nil {
		d.followForked(c)
		return
	}
	handle, ok := handlers[c.Type]
	if !ok {
		d.refuse(c, "Unknown command: "+c.Type)
		return
	}
	if slow[c.Type] {
		d.handleLater(c, handle)
		return
	}
	d.handle(c, handle)
}

// handleLater answers a slow command while others are followed. An abort stops the run at once, as in pi: a prompt that follows begins another run.
func (d *double) handleLater(c command, handle func(*double, command) (json.RawMessage, error)) {
	if c.Type == "abort" && !d.faults.is("deaf") {
		ended := d.cancelRun()
		handle = func(*double, command) (json.RawMessage, error) {
			<-ended
			return nil, nil
		}
	}
	go d.handle(c, handle)
}

// slow are the commands that are answered while others are followed.
var slow = map[string]bool{"compact": true, "abort": true, "new_session": true, "switch_session": true, "fork": true, "clone": true}

// handlers are the commands. Each returns the data of its answer, nil for none. errAnswered means that there is none.
var handlers map[string]func(*double, command) (json.RawMessage, error)

var errAnswered = errors.New("answered")

func init() {
	nothing := func(*double, command) (json.RawMessage, error) { return nil, nil }
	handlers = map[string]func(*double, command) (json.RawMessage, error){
		"prompt": (*double).prompt, "abort": (*double).abort, "clear_queue": (*double).clearQueue,
		"steer":     func(d *double, c command) (json.RawMessage, error) { return d.queue("steer", c.Message), nil },
		"follow_up": func(d *double, c command) (json.RawMessage, error) { return d.queue("followUp", c.Message), nil },
		"get_state": (*double).state, "get_available_models": (*double).listModels, "set_model": (*double).setModel,
		"get_available_thinking_levels": (*double).listLevels, "set_thinking_level": (*double).setLevel,
		"compact": (*double).compact, "bash": (*double).bash, "abort_bash": (*double).abortBash,
		"new_session": (*double).newSession, "switch_session": (*double).switchSession, "fork": (*double).fork, "clone": (*double).clone,
		"get_entries": (*double).listEntries, "get_messages": (*double).listMessages, "get_fork_messages": (*double).forkMessages,
		"get_last_assistant_text": (*double).lastText, "set_session_name": (*double).rename, "get_commands": (*double).listCommands,
		"set_auto_compaction": nothing, "set_auto_retry": nothing, "abort_retry": nothing, "set_steering_mode": nothing, "set_follow_up_mode": nothing,
	}
}

func (d *double) handle(c command, handle func(*double, command) (json.RawMessage, error)) {
	data, err := handle(d, c)
	switch {
	case errors.Is(err, errAnswered):
	case err != nil:
		d.refuse(c, err.Error())
	default:
		d.accept(c, data)
	}
}

// accept answers a command, unless a fault loses the answer.
func (d *double) accept(c command, data json.RawMessage) {
	var more any = absent
	if data != nil {
		more = data
	}
	d.respond(c, object("id", idOf(c), "type", "response", "command", c.Type, "success", true, "data", more))
	if d.faults.of("twice", c.Type) {
		d.refuse(c, "it was refused later")
	}
}

func (d *double) refuse(c command, words string) {
	if d.kin != nil {
		d.refuseForked(c, words)
		return
	}
	d.respond(c, object("id", idOf(c), "type", "response", "command", c.Type, "success", false, "error", words))
}

func idOf(c command) any {
	if c.ID == nil {
		return absent
	}
	return c.ID
}

func (d *double) respond(c command, line []byte) {
	d.mu.Lock()
	first := !d.eaten[c.Type]
	d.eaten[c.Type] = true
	d.mu.Unlock()
	switch {
	case first && d.faults.of("eat", c.Type):
	case first && d.faults.of("half", c.Type):
		d.out.send(append([]byte(`{"half": `), line...))
	default:
		d.out.send(line)
	}
}

// event sends an event.
func (d *double) event(kind string, members ...any) {
	d.out.send(object(append([]any{"type", kind}, members...)...))
}

// queue adds a message for a run, also if there is none.
func (d *double) queue(behaviour, text string) json.RawMessage {
	d.mu.Lock()
	if behaviour == "steer" {
		d.steering = append(d.steering, text)
	} else {
		d.followUps = append(d.followUps, text)
	}
	d.queueChangedLocked()
	d.mu.Unlock()
	if d.kin != nil {
		return nil
	}
	return object("disposition", "queued")
}

func (d *double) queueChangedLocked() {
	if d.kin != nil {
		return
	}
	d.event("queue_update", "steering", array(d.steering), "followUp", array(d.followUps))
}

func (d *double) clearQueue(command) (json.RawMessage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := object("steering", array(d.steering), "followUp", array(d.followUps))
	d.steering, d.followUps = nil, nil
	d.queueChangedLocked()
	return was, nil
}

// prompt starts a run, queues a message or runs a command.
func (d *double) prompt(c command) (json.RawMessage, error) {
	if d.kin != nil {
		return d.promptForked(c)
	}
	if name, args, ok := strings.Cut(c.Message+" ", " "); ok && strings.HasPrefix(name, "/") {
		if handle, ok := d.commands()[name[1:]]; ok {
			go func() {
				handle(strings.TrimSpace(args))
				d.accept(c, object("disposition", "handled"))
			}()
			return nil, errAnswered
		}
		if name == "/fix" {
			c.Message = "Please fix " + strings.TrimSpace(args) + " [[say:template expanded]]"
		}
	}
	if len(d.models) == 0 {
		return nil, errors.New("No API key found for the selected model.\n\nUse /login to log into a provider via OAuth or API key. See:\n  docs/providers.md") //nolint:staticcheck // pi's words
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{cancel: cancel, done: make(chan struct{})}
	d.mu.Lock()
	busy := d.run != nil || d.quitting
	if !busy {
		d.run = r
	}
	d.mu.Unlock()
	switch {
	case !busy:
		d.accept(c, object("disposition", "started"))
		go d.answer(ctx, r, c.Message, c.Images)
		return nil, errAnswered
	case c.StreamingBehavior == "":
		cancel()
		return nil, errors.New("Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.") //nolint:staticcheck // pi's words
	default:
		cancel()
		return d.queue(c.StreamingBehavior, c.Message), nil
	}
}

// abort ends the run and is answered when it has ended.
func (d *double) abort(command) (json.RawMessage, error) {
	if d.faults.is("deaf") {
		return nil, errAnswered
	}
	d.stopRun()
	return nil, nil
}

// stopRun aborts the run, if there is one, and waits for its end.
func (d *double) stopRun() { <-d.cancelRun() }

// cancelRun aborts the run, if there is one. The channel is closed when it has ended.
func (d *double) cancelRun() (ended <-chan struct{}) {
	d.mu.Lock()
	r := d.run
	d.mu.Unlock()
	if r == nil {
		none := make(chan struct{})
		close(none)
		return none
	}
	r.cancel()
	return r.done
}

// stopQuietly ends everything at the end of the process: what happens is recorded, but not sent.
func (d *double) stopQuietly() {
	d.out.hush()
	d.mu.Lock()
	d.quitting = true
	d.mu.Unlock()
	_, _ = d.abortBash(command{}) // cannot fail
	d.stopRun()
	d.work.Wait()
}

func (d *double) state(command) (json.RawMessage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.session
	return object("model", d.modelLocked(), "thinkingLevel", d.thinking, "isStreaming", d.run != nil, "isCompacting", d.compacts,
		"steeringMode", "one-at-a-time", "followUpMode", "one-at-a-time", "sessionFile", orAbsent(s.path), "sessionId", s.id,
		"sessionName", orAbsent(s.setting("session_info", "name")), "autoCompactionEnabled", true,
		"messageCount", len(s.messages()), d.queueName(), len(d.steering)+len(d.followUps)), nil
}

// queueName is the member of the state with the number of queued messages.
func (d *double) queueName() string {
	if d.kin != nil {
		return "queuedMessageCount"
	}
	return "pendingMessageCount"
}

func (d *double) modelLocked() json.RawMessage {
	if len(d.models) == 0 {
		return object("id", "unknown", "name", "unknown", "api", "unknown", "provider", "unknown", "baseUrl", "", "reasoning", false,
			"input", []string{}, "cost", noCost(false), "contextWindow", 0, "maxTokens", 0)
	}
	return d.models[d.model].json()
}

func (m model) json() json.RawMessage {
	return object("id", m.id, "name", m.id, "api", "anthropic-messages", "provider", provider, "baseUrl", "http://127.0.0.1:9", "reasoning", m.thinks,
		"input", []string{"text", "image"}, "cost", noCost(false), "contextWindow", 200000, "maxTokens", 8192)
}

func noCost(total bool) json.RawMessage {
	var sum any = absent
	if total {
		sum = 0
	}
	return object("input", 0, "output", 0, "cacheRead", 0, "cacheWrite", 0, "total", sum)
}

func (d *double) listModels(command) (json.RawMessage, error) {
	var list []json.RawMessage
	for _, m := range d.models {
		list = append(list, m.json())
	}
	return object("models", array(list)), nil
}

func (d *double) setModel(c command) (json.RawMessage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.models, func(m model) bool { return c.Provider == provider && c.ModelID == m.id })
	if i < 0 {
		return nil, fmt.Errorf("Model not found: %s/%s", c.Provider, c.ModelID) //nolint:staticcheck // pi's words
	}
	d.model = i
	if _, err := d.session.append("model_change", "provider", provider, "modelId", d.models[i].id); err != nil {
		return nil, err
	}
	return d.models[i].json(), d.setLevelLocked(d.thinking)
}

// level returns the level that pi uses for a name.
func (d *double) level(name string) string {
	if len(d.models) == 0 || !d.models[d.model].thinks || !slices.Contains(levels, name) {
		return "off"
	}
	return name
}

func (d *double) setLevel(c command) (json.RawMessage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return nil, d.setLevelLocked(c.Level)
}

// setLevelLocked records a level, unless it is the current one.
func (d *double) setLevelLocked(level string) error {
	if level = d.level(level); level == d.thinking {
		return nil
	}
	d.thinking = level
	_, err := d.session.append("thinking_level_change", "thinkingLevel", level)
	d.event("thinking_level_changed", "level", level)
	return err
}

func (d *double) listLevels(command) (json.RawMessage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.models) == 0 || !d.models[d.model].thinks {
		return object("levels", []string{"off"}), nil
	}
	return object("levels", levels), nil
}

func (d *double) rename(c command) (json.RawMessage, error) {
	name := strings.TrimSpace(c.Name)
	if name == "" {
		return nil, errors.New("Session name cannot be empty") //nolint:staticcheck // pi's words
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.session.append("session_info", "name", name)
	d.event("session_info_changed", "name", name)
	return nil, err
}

func (d *double) listEntries(c command) (json.RawMessage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries := d.session.entries
	if c.Since != nil {
		i := slices.IndexFunc(entries, func(e entry) bool { return e.id == *c.Since })
		if i < 0 {
			return nil, fmt.Errorf("Entry not found: %s", *c.Since) //nolint:staticcheck // pi's words
		}
		entries = entries[i+1:]
	}
	var list []json.RawMessage
	for _, e := range entries {
		list = append(list, e.raw)
	}
	return object("entries", array(list), "leafId", orNull(d.session.leaf)), nil
}

func (d *double) listMessages(command) (json.RawMessage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return object("messages", array(d.session.messages())), nil
}

func (d *double) forkMessages(command) (json.RawMessage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []json.RawMessage
	for _, e := range d.session.entries {
		if e.role == "user" {
			list = append(list, object("entryId", e.id, "text", textOf(e.message)))
		}
	}
	return object("messages", array(list)), nil
}

func (d *double) lastText(command) (json.RawMessage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var text any
	for _, e := range d.session.branch(d.session.leaf) {
		if e.role == "assistant" {
			text = textOf(e.message)
		}
	}
	return object("text", text), nil
}
