// Package offline is a substitute for a model: a script that identifies itself as one. It answers without a key and
// without a network and makes one real tool call per prompt, or as many as the prompt says, so that every command and every editor
// can be tried.
package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Model is the one model there is.
var Model = provider.Model{
	ID: "demo", Name: "Offline demo (no AI)", API: provider.Scripted, Provider: "offline",
	Input: []string{"text"}, Cost: &provider.Cost{}, ContextWindow: 128_000, MaxTokens: 4_096,
}

// Provider answers. Now gives messages their time.
type Provider struct{ Now func() time.Time }

var _ provider.Provider = Provider{}

// Stream answers the last message of the request: a prompt by a tool call, its result by a
// few words.
func (p Provider) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	return func(yield func(provider.Event) bool) {
		m := provider.Message{
			Role: provider.RoleAssistant, API: provider.Scripted, Provider: req.Model.Provider, Model: req.Model.ID,
			Usage: &provider.Usage{}, StopReason: provider.StopEnd, Timestamp: p.Now().UnixMilli(),
		}
		opening := m
		if !yield(provider.Event{Kind: provider.Start, Message: &opening}) {
			return
		}
		for i, b := range answer(req) {
			if b.Type == provider.TypeToolCall {
				m.StopReason = provider.StopToolUse
			}
			m.Content = append(m.Content, b)
			if !say(i, b, yield) {
				return
			}
			if ctx.Err() != nil {
				m.StopReason, m.ErrorMessage = provider.StopAborted, "Request was aborted"
				yield(provider.Event{Kind: provider.Failed, Message: &m, Err: &provider.Error{Class: provider.Aborted, Message: m.ErrorMessage}})
				return
			}
		}
		yield(provider.Event{Kind: provider.Done, Message: &m})
	}
}

// say streams one block, words one by one.
func say(i int, b provider.Block, yield func(provider.Event) bool) bool {
	if b.Type == provider.TypeToolCall {
		return yield(provider.Event{Kind: provider.ToolCallStart, Index: i, Block: &provider.Block{Type: b.Type, ID: b.ID, Name: b.Name}}) &&
			yield(provider.Event{Kind: provider.ToolCallDelta, Index: i, Delta: string(b.Arguments)}) &&
			yield(provider.Event{Kind: provider.BlockEnd, Index: i, Block: &b})
	}
	for _, word := range strings.SplitAfter(b.Text, " ") {
		if !yield(provider.Event{Kind: provider.TextDelta, Index: i, Delta: word}) {
			return false
		}
	}
	return yield(provider.Event{Kind: provider.BlockEnd, Index: i, Block: &b})
}

// answer returns the script's answer.
func answer(req provider.Request) []provider.Block {
	if len(req.Messages) == 0 {
		return []provider.Block{provider.Text(whatIAm)}
	}
	last := req.Messages[len(req.Messages)-1]
	prompt, made := last.PlainText(), 0
	if last.Role == provider.RoleToolResult {
		prompt, made = turn(req.Messages)
	}
	calls, prompt := repeated(prompt)
	if last.Role == provider.RoleToolResult && made >= calls {
		return []provider.Block{provider.Text(conclusion(last))}
	}
	if len(req.Tools) == 0 {
		return []provider.Block{provider.Text(summary(prompt))}
	}
	call, intent := toolCall(prompt)
	call.ID = fmt.Sprintf("offline_%d", len(req.Messages))
	return []provider.Block{provider.Text(whatIAm + " " + intent), call}
}

// turn returns the prompt of the turn that the messages end with, and how many of its calls have a result.
func turn(messages []provider.Message) (prompt string, results int) {
	for _, m := range slices.Backward(messages) {
		switch m.Role {
		case provider.RoleToolResult:
			results++
		case provider.RoleUser:
			return m.PlainText(), results
		}
	}
	return "", results
}

// repeatCommand matches the prompt with which a user makes the script call its tool several times, once in each
// answer: a turn that is long enough to be stopped, or measured.
var repeatCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^\s*repeat\s+(\d{1,3}):\s*(.*)$`)
})

// repeated returns how many calls a prompt leads to, and what it asks for.
func repeated(prompt string) (calls int, what string) {
	m := repeatCommand().FindStringSubmatch(prompt)
	if m == nil {
		return 1, prompt
	}
	calls, _ = strconv.Atoi(m[1]) // three digits at most
	return max(1, calls), m[2]
}

const whatIAm = "This is the offline demo: a script, not a model."

// editCommand matches the prompt with which a user makes the script edit a file.
var editCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)(?:^|\n)\s*edit\s+(\S+):\s(.*?)\s=>\s(.*?)\s*$`)
})

// fileName is a word that looks like the name of a file.
var fileName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[\w@~./\\-]*[\w-]\.\w{1,8}\b|[\w@~.-]+(?:/[\w@~.-]+)+`)
})

// toolCall returns the one call that a prompt leads to, and the text before it.
func toolCall(prompt string) (call provider.Block, intent string) {
	if m := editCommand().FindStringSubmatch(prompt); m != nil {
		type edit struct {
			OldText string `json:"oldText"`
			NewText string `json:"newText"`
		}
		return tool("edit", map[string]any{"path": m[1], "edits": []edit{{m[2], m[3]}}}), "It asks to edit " + m[1] + "."
	}
	if name := fileName().FindString(prompt); name != "" {
		return tool("read", map[string]any{"path": name}), "It reads " + name + ", the file you named."
	}
	return tool("ls", map[string]any{}), "It lists this folder because you did not name a file."
}

func tool(name string, args map[string]any) provider.Block {
	raw, err := json.Marshal(args)
	if err != nil { // strings only
		panic("offline: " + err.Error())
	}
	return provider.Block{Type: provider.TypeToolCall, Name: name, Arguments: raw}
}

// conclusion returns the text that follows a tool's result.
func conclusion(result provider.Message) string {
	text := result.PlainText()
	lines := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		lines++
	}
	how := "returned " + plural(lines, "line")
	if result.IsError != nil && *result.IsError {
		first, _, _ := strings.Cut(text, "\n")
		how = "failed: " + strings.TrimSuffix(first, ".")
	}
	return fmt.Sprintf("The tool %s %s. This script cannot do more. Choose a real model to get an answer. "+
		"To try an edit, enter: edit FILE: OLD => NEW", result.ToolName, how)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// summary is the script's summary of a conversation.
func summary(conversation string) string {
	return fmt.Sprintf("## Goal\n- [The offline demo cannot summarize. It received %s.]\n", plural(strings.Count(conversation, "\n")+1, "line"))
}
