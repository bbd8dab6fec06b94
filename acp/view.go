package acp

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// view is what a client sees of one session: it makes updates of what happens there. It is safe
// for concurrent use and calls nobody but the outbox.
type view struct {
	s       *server
	session string
	cwd     string
	prefix  string // of the ids of messages and tool calls: what services name is not theirs alone

	mu       sync.Mutex // guards what follows
	messages int        // how many had an id with prefix
	message  string     // the id of the message that is being written
	calls    map[string]*shownCall
	order    []string       // the keys of calls, in the order they came
	used     map[string]int // how many tool calls had this id; services use the same ids again
	written  *writtenFile   // by the tool that runs
	compacts int            // how many compactions there were
	cost     float64        // of the session so far, in US dollars
	priced   bool           // the client was told a cost
	window   int            // of the model, in tokens; 0 when it is not known
}

// shownCall is a tool call that has no result yet.
type shownCall struct {
	id   string // as the client knows it
	name string
	args []byte
}

func newView(s *server, session, cwd string) *view {
	return &view{s: s, session: session, cwd: cwd, prefix: rand.Text()[:8], calls: map[string]*shownCall{}, used: map[string]int{}}
}

func (v *view) update(u any) { v.s.conn.update(v.session, u) }

// say shows a piece of a message.
func (v *view) say(kind, message, text string) {
	if text != "" {
		v.s.out.put(&textPiece{session: v.session, kind: kind, message: message, text: []byte(text)})
	}
}

// event shows an event of a run.
func (v *view) event(e loop.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e.Type {
	case loop.MessageStart:
		v.message = v.newMessage()
	case loop.MessageDelta:
		v.piece(e.Update)
	case loop.MessageEnd:
		v.spent(e.Message)
	case loop.ToolStart:
		v.call(e.ToolCallID, e.ToolName, e.Args)
		v.news(e.ToolCallID, toolUpdate{Status: statusRunning})
	case loop.ToolUpdate:
		if call := v.calls[e.ToolCallID]; call != nil {
			u := toolUpdate{Kind: updateToolProgress, ID: call.id, Content: blocksOf(e.PartialResult)}
			v.s.out.put(&toolProgress{key: v.session + " " + call.id, params: updateParams{v.session, u}})
		}
	case loop.ToolEnd:
		v.result(e.ToolCallID, e.Result, e.IsError)
	case loop.AgentEnd:
		v.abandon()
	default:
		v.aside(e)
	}
}

// newMessage returns an id for a message. The caller holds mu.
func (v *view) newMessage() string {
	v.messages++
	return v.prefix + "-" + strconv.Itoa(v.messages)
}

// piece shows a piece of an answer. The caller holds mu.
func (v *view) piece(u *loop.Update) {
	switch u.Type {
	case "text_delta":
		v.say(updateAgentChunk, v.message, u.Delta)
	case "thinking_delta":
		v.say(updateThoughtChunk, v.message, u.Delta)
	case "toolcall_end":
		v.call(u.Block.ID, u.Block.Name, u.Block.Arguments)
	}
}

// call shows a tool call, once. The caller holds mu.
func (v *view) call(key, name string, args []byte) {
	if v.calls[key] != nil {
		return
	}
	v.used[key]++
	call := &shownCall{id: v.prefix + "-" + key, name: name, args: args}
	if n := v.used[key]; n > 1 {
		call.id += "#" + strconv.Itoa(n)
	}
	v.calls[key] = call
	v.order = append(v.order, key)
	v.update(v.described(call))
}

// described is a tool call as it is shown first.
func (v *view) described(call *shownCall) toolUpdate {
	return toolUpdate{
		Kind: updateToolCall, ID: call.id, Title: callTitle(call.name, call.args), Name: call.name, ToolKind: kindOf(call.name),
		Status: statusPending, Locations: locationsOf(v.cwd, call.args, nil), RawInput: object(call.args),
	}
}

// news tells something new of a tool call. The caller holds mu.
func (v *view) news(key string, u toolUpdate) {
	call := v.calls[key]
	if call == nil {
		return
	}
	u.Kind, u.ID = updateToolProgress, call.id
	v.update(u)
}

// result shows what became of a tool call. The caller holds mu.
func (v *view) result(key string, result []byte, failed bool) {
	call := v.calls[key]
	if call == nil {
		return
	}
	u := resultOf(v.cwd, call, result, failed)
	if w := v.written; w != nil && !failed {
		if whole, ok := w.content(); ok {
			u.Content = append(whole, withoutDiffs(u.Content)...)
		}
	}
	v.written = nil
	v.news(key, u)
	v.drop(key)
}

// drop forgets a tool call. The caller holds mu.
func (v *view) drop(key string) {
	delete(v.calls, key)
	for i, k := range v.order {
		if k == key {
			v.order = append(v.order[:i], v.order[i+1:]...)
			return
		}
	}
}

// abandon shows that the calls without a result will not have one. The caller holds mu.
func (v *view) abandon() {
	for len(v.order) > 0 {
		v.news(v.order[0], toolUpdate{Status: statusFailed})
		v.drop(v.order[0])
	}
	v.written = nil
}

// aside shows what happens beside the answers. The caller holds mu.
func (v *view) aside(e loop.Event) {
	switch e.Type {
	case loop.RetryStart:
		v.tell("warning", fmt.Sprintf("%s Trying again in %d s (%d of %d).", e.ErrorMessage, (e.DelayMs+999)/1000, e.Attempt, e.MaxAttempts), updateThoughtChunk)
	case loop.NotSaved:
		v.tell("error", "The session cannot be saved: "+e.ErrorMessage, updateAgentChunk)
	case "notice":
		v.tell("info", e.Text, updateAgentChunk)
	case "auto_compaction_start":
		v.compacts++
		v.compaction(compactionUpdate{Status: "in_progress"})
	case "auto_compaction_end":
		v.compacted(e)
	}
}

// compacted shows the end of a compaction. The caller holds mu.
func (v *view) compacted(e loop.Event) {
	summary, _ := rawjson.GetString(e.Result, "summary")
	switch {
	case e.Aborted:
		v.compaction(compactionUpdate{Status: "cancelled"})
	case e.ErrorMessage != "":
		v.compaction(compactionUpdate{Status: "failed", Error: e.ErrorMessage})
	default:
		v.compaction(compactionUpdate{Status: "completed", Summary: []contentBlock{textBlock(summary)}})
		if !v.s.client.compaction {
			v.say(updateThoughtChunk, v.newMessage(), "The older part of the conversation was summarised.\n\n")
		}
	}
}

// compaction tells of the newest compaction, to a client that wants to know. The caller holds mu.
func (v *view) compaction(u compactionUpdate) {
	if v.s.client.compaction {
		u.Kind, u.ID = updateCompaction, v.prefix+"-compaction-"+strconv.Itoa(v.compacts)
		v.update(u)
	}
}

// remark shows the person a sentence that no model said.
func (v *view) remark(severity, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tell(severity, text, updateAgentChunk)
}

// tell shows a sentence as a notice, to a client without notices as a message of the kind. The
// caller holds mu.
func (v *view) tell(severity, text, kind string) {
	switch {
	case strings.TrimSpace(text) == "":
	case v.s.client.notices:
		v.update(noticeUpdate{updateNotice, severity, text})
	default:
		v.say(kind, v.newMessage(), text+"\n\n")
	}
}

// spent tells what an answer has cost. The caller holds mu.
func (v *view) spent(message []byte) {
	m, err := provider.DecodeMessage(message)
	if err != nil || m.Role != provider.RoleAssistant || m.Usage == nil {
		return
	}
	v.cost += m.Usage.Cost.Total
	used := m.Usage.Input + m.Usage.Output + m.Usage.CacheRead + m.Usage.CacheWrite
	if used > 0 && v.window > 0 {
		v.update(v.usage(used))
	}
}

// usage is how full the model's window is. The caller holds mu.
func (v *view) usage(used int) usageUpdate {
	u := usageUpdate{Kind: updateUsage, Used: used, Size: v.window}
	if v.cost > 0 || v.priced {
		v.priced = true
		u.Cost = &cost{v.cost, "USD"}
	}
	return u
}

// filled is how full the model's window of that many tokens is. It is not known without a model.
func (v *view) filled(used, window int) (u usageUpdate, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.window = window
	return v.usage(used), window > 0
}

// callOf finds the tool call that a prompt for permission is about. Its id is that of the call,
// which may have a number of the gate behind it.
func (v *view) callOf(id string) (call shownCall, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for {
		if c := v.calls[id]; c != nil {
			return *c, true
		}
		i := strings.LastIndexByte(id, '#')
		if i < 0 {
			return shownCall{}, false
		}
		id = id[:i]
	}
}

// wrote notes what a tool has put into a file, to be shown with its result.
func (v *view) wrote(w writtenFile) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.written = &w
}

// reply shows what answers a prompt and is no model's.
func (v *view) reply(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.say(updateAgentChunk, v.newMessage(), text)
}
