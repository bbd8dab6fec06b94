package acp

import (
	"cmp"
	"crypto/rand"
	"strconv"
	"strings"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/todo"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// view converts the events of one session to updates for the client. It is safe for concurrent
// use and calls only the outbox.
type view struct {
	s       *server
	session string
	cwd     string
	prefix  string // of the ids of messages and tool calls, because the services' ids are not unique

	mu       sync.Mutex // guards the fields below
	messages int        // the number of messages with such an id
	message  string     // the id of the current message
	calls    map[string]*shownCall
	order    []string       // the keys of calls, in order of arrival
	used     map[string]int // how many tool calls had this id; services reuse ids
	written  *writtenFile   // by the running tool
	foreign  string         // the first entry of another program's branch that was reported
	compacts int            // the number of compactions
	retries  string         // the id of the message about the retries of the current request; "" if there is none
	cost     float64        // of the session so far, in US dollars
	priced   bool           // a cost was sent to the client
	window   int            // of the model, in tokens; 0 if unknown
}

// shownCall is a tool call that has no result yet.
type shownCall struct {
	id   string // the id that the client knows
	name string
	args []byte
}

func newView(s *server, session, cwd string) *view {
	return &view{s: s, session: session, cwd: cwd, prefix: rand.Text()[:8], calls: map[string]*shownCall{}, used: map[string]int{}}
}

func (v *view) update(u any) { v.s.conn.update(v.session, u) }

// sendText sends a piece of a message.
func (v *view) sendText(kind, message, text string) {
	if text != "" {
		v.s.out.put(&textPiece{session: v.session, kind: kind, message: message, text: []byte(text)})
	}
}

// event sends an event of a run.
func (v *view) event(e event.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := e.(type) {
	case event.MessageStart:
		v.message = v.newMessageLocked()
	case event.MessageUpdate:
		v.pieceLocked(e.Update)
	case event.MessageEnd:
		v.spentLocked(e.Message)
	case event.ToolStart:
		v.callLocked(e.ToolCallID, e.ToolName, e.Args)
		v.updateCallLocked(e.ToolCallID, toolUpdate{Status: statusRunning})
	case event.ToolUpdate:
		if call := v.calls[e.ToolCallID]; call != nil {
			u := toolUpdate{Kind: updateToolProgress, ID: call.id, Content: blocksOf(e.PartialResult)}
			v.s.out.put(&toolProgress{key: v.session + " " + call.id, params: updateParams{v.session, u}})
		}
	case event.ToolEnd:
		v.resultLocked(e.ToolCallID, e.Result, e.IsError)
	case event.AgentEnd:
		v.abandonLocked()
	default:
		v.otherEventLocked(e)
	}
}

// newMessageLocked returns an id for a message.
func (v *view) newMessageLocked() string {
	v.messages++
	return v.prefix + "-" + strconv.Itoa(v.messages)
}

// pieceLocked shows a piece of an answer.
func (v *view) pieceLocked(u event.Update) {
	switch u.Type {
	case event.TextDelta:
		v.sendText(updateAgentChunk, v.message, u.Delta)
	case event.ThinkingDelta:
		v.sendText(updateThoughtChunk, v.message, u.Delta)
	case event.ToolCallEnd:
		v.callLocked(u.Block.ID, u.Block.Name, u.Block.Arguments)
	}
}

// callLocked shows a tool call unless it was shown before.
func (v *view) callLocked(key, name string, args []byte) {
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

// described returns the update that introduces a tool call.
func (v *view) described(call *shownCall) toolUpdate {
	return toolUpdate{
		Kind: updateToolCall, ID: call.id, Title: callTitle(call.name, call.args), Name: visible.Line(call.name), ToolKind: kindOf(call.name),
		Status: statusPending, Locations: locationsOf(v.cwd, call.args, nil), RawInput: object(call.args),
	}
}

// updateCallLocked sends a change of a tool call.
func (v *view) updateCallLocked(key string, u toolUpdate) {
	call := v.calls[key]
	if call == nil {
		return
	}
	u.Kind, u.ID = updateToolProgress, call.id
	v.update(u)
}

// resultLocked sends the result of a tool call.
func (v *view) resultLocked(key string, result []byte, failed bool) {
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
	v.updateCallLocked(key, u)
	if phases, ok := todo.In(call.name, rawjson.Get(result, "details")); ok && !failed {
		v.update(planUpdate{updatePlan, planOf(phases)})
	}
	v.dropLocked(key)
}

// dropLocked removes a tool call.
func (v *view) dropLocked(key string) {
	delete(v.calls, key)
	for i, k := range v.order {
		if k == key {
			v.order = append(v.order[:i], v.order[i+1:]...)
			return
		}
	}
}

// abandonLocked marks the calls without a result as failed, because none will come.
func (v *view) abandonLocked() {
	for len(v.order) > 0 {
		v.updateCallLocked(v.order[0], toolUpdate{Status: statusFailed})
		v.dropLocked(v.order[0])
	}
	v.written = nil
}

// otherEventLocked sends the events other than messages and tool calls.
func (v *view) otherEventLocked(e event.Event) {
	switch e := e.(type) {
	case event.RetryStart:
		v.retryLocked(e)
	case event.RetryEnd:
		v.retries = ""
	case event.NotSaved:
		v.noticeLocked("error", "The session cannot be saved: "+e.ErrorMessage, updateAgentChunk)
	case event.ForeignBranch:
		if e.BranchID != "" && e.BranchID != v.foreign { // once, not for each line of a growing branch
			v.noticeLocked("info", e.Text+" To continue there, use /branch follow. To continue here, use /branch stay.", updateAgentChunk)
		}
		v.foreign = e.BranchID
	case event.LargeSession:
		if v.s.announce(v.session) {
			v.noticeLocked("info", e.Text, updateAgentChunk)
		}
	case event.Notice:
		v.noticeLocked(cmp.Or(e.Level, "info"), e.Text, updateAgentChunk)
	case event.CompactionStart:
		v.compacts++
		v.compactionLocked(compactionUpdate{Status: "in_progress"})
	case event.CompactionEnd:
		v.compactedLocked(e)
	}
}

// compactedLocked shows the end of a compaction.
func (v *view) compactedLocked(e event.CompactionEnd) {
	summary, _ := rawjson.GetString(e.Result, "summary")
	switch {
	case e.Aborted:
		v.compactionLocked(compactionUpdate{Status: "cancelled"})
	case e.ErrorMessage != "":
		v.compactionLocked(compactionUpdate{Status: "failed", Error: visible.Text(e.ErrorMessage)})
	default:
		v.compactionLocked(compactionUpdate{Status: "completed", Summary: []contentBlock{textBlock(summary)}})
		if !v.s.client.compaction {
			v.sendText(updateThoughtChunk, v.newMessageLocked(), "The older part of the conversation was summarized.\n\n")
		}
	}
}

// compactionLocked sends the state of the newest compaction to a client that supports it.
func (v *view) compactionLocked(u compactionUpdate) {
	if v.s.client.compaction {
		u.Kind, u.ID = updateCompaction, v.prefix+"-compaction-"+strconv.Itoa(v.compacts)
		v.update(u)
	}
}

// remark shows the user a message that is not from the model.
func (v *view) remark(severity, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.noticeLocked(severity, text, updateAgentChunk)
}

// offer returns the update of a [view.remark], to be sent after a response.
func (v *view) offer(text string) any {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.s.client.notices {
		return updateOf(v.session, noticeUpdate{updateNotice, "info", text})
	}
	return &textPiece{session: v.session, kind: updateAgentChunk, message: v.newMessageLocked(), text: []byte(text + "\n\n")}
}

// noticeLocked shows a sentence as a notice, or, if the client does not support notices, as a message of
// that kind.
func (v *view) noticeLocked(severity, text, kind string) {
	text = visible.Text(text)
	switch {
	case strings.TrimSpace(text) == "":
	case v.s.client.notices:
		v.update(noticeUpdate{updateNotice, severity, text})
	default:
		v.sendText(kind, v.newMessageLocked(), text+"\n\n")
	}
}

// retryLocked shows that a request is repeated. The protocol has no notice that changes or disappears, so
// clients without notices get one thought that grows until the request succeeds.
func (v *view) retryLocked(e event.RetryStart) {
	if v.s.client.notices {
		v.noticeLocked("warning", e.Text(), updateThoughtChunk)
		return
	}
	if v.retries == "" {
		v.retries = v.newMessageLocked()
	}
	v.sendText(updateThoughtChunk, v.retries, e.Text()+"\n\n")
}

// spentLocked sends the cost of an answer.
func (v *view) spentLocked(message []byte) {
	m, err := provider.DecodeMessage(message)
	if err != nil || m.Role != provider.RoleAssistant || m.Usage == nil {
		return
	}
	v.cost += m.Usage.Cost.Total
	used := m.Usage.Input + m.Usage.Output + m.Usage.CacheRead + m.Usage.CacheWrite
	if used > 0 && v.window > 0 {
		v.update(v.usageLocked(used))
	}
}

// usageLocked returns the use of the model's context window.
func (v *view) usageLocked(used int) usageUpdate {
	u := usageUpdate{Kind: updateUsage, Used: used, Size: v.window}
	if v.cost > 0 || v.priced {
		v.priced = true
		u.Cost = &cost{v.cost, "USD"}
	}
	return u
}

// filled returns the use of a context window by that many tokens. It is unknown without a model.
func (v *view) filled(used, window int) (u usageUpdate, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.window = window
	return v.usageLocked(used), window > 0
}

// callOf returns the tool call to which a permission prompt refers. The prompt's id is the call's id,
// possibly followed by a number that the gate added.
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

// wrote records the file that a tool wrote, to be shown with its result.
func (v *view) wrote(w writtenFile) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.written = &w
}

// reply shows a response to a prompt that is not from the model.
func (v *view) reply(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sendText(updateAgentChunk, v.newMessageLocked(), visible.Text(text))
}
