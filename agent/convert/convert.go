// Package convert turns the messages of a session into those for a model: questions, answers and
// tool results. Everything else that a session holds is expressed in words.
package convert

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Messages converts the messages of a context in order. A message without use for a model yields
// nothing, and neither does an unreadable one: the file keeps it.
//
// The words for summaries and commands are pi's.
func Messages(stored []json.RawMessage) []provider.Message {
	out := make([]provider.Message, 0, len(stored))
	for _, raw := range stored {
		if m, ok := Message(raw); ok {
			out = append(out, m)
		}
	}
	return out
}

// Message converts one message. ok is false if it yields nothing.
func Message(raw json.RawMessage) (m provider.Message, ok bool) {
	switch role, _ := rawjson.GetString(raw, "role"); role {
	case provider.RoleUser, provider.RoleAssistant, provider.RoleToolResult:
		m, err := provider.DecodeMessage(raw)
		return m, err == nil
	case "bashExecution":
		return execution(raw, "command", "Ran")
	case "pythonExecution":
		return execution(raw, "code", "Ran Python")
	case "custom", "hookMessage", "developer":
		m, err := provider.DecodeMessage(rawjson.SetString(raw, "role", provider.RoleUser))
		return m, err == nil && len(m.Content) > 0
	case "branchSummary":
		summary, _ := rawjson.GetString(raw, "summary")
		return userMessage(raw, "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"+summary+"</summary>"), true
	case "compactionSummary":
		summary, _ := rawjson.GetString(raw, "summary")
		m := userMessage(raw, "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"+summary+"\n</summary>")
		m.History = history(rawjson.Get(raw, "providerPayload"))
		return m, true
	case "fileMention":
		return mention(raw)
	default:
		// This includes pi's system messages: each request builds its own system prompt.
		return provider.Message{}, false
	}
}

// history returns the conversation that a compaction of OpenAI's Responses API replaced, in that
// API's form; nil if the summary has none.
//
// Differs: omp also sends Anthropic's own summary back to it, encrypted, which needs a beta version
// of the API. Here that service gets the summary in words, as every other one does.
func history(payload []byte) *provider.History {
	kind, _ := rawjson.GetString(payload, "type")
	service, _ := rawjson.GetString(payload, "provider")
	items := rawjson.Get(payload, "items")
	if kind != "openaiResponsesHistory" || service == "" || rawjson.Kind(items) != '[' {
		return nil
	}
	return &provider.History{Provider: service, API: provider.OpenAIResponses, Items: items}
}

// userMessage returns a user message whose text stands for a record that is no message of a model.
func userMessage(raw json.RawMessage, text string) provider.Message {
	at, _ := rawjson.Float(rawjson.Get(raw, "timestamp"))
	return provider.Message{Role: provider.RoleUser, Content: []provider.Block{provider.Text(text)}, Timestamp: int64(at)}
}

// execution converts a command that the user ran into a message, unless it is excluded from the
// context.
func execution(raw json.RawMessage, member, verb string) (provider.Message, bool) {
	if rawjson.Truthy(rawjson.Get(raw, "excludeFromContext")) {
		return provider.Message{}, false
	}
	command, _ := rawjson.GetString(raw, member)
	output, _ := rawjson.GetString(raw, "output")
	var b strings.Builder
	b.WriteString(verb + " `" + command + "`\n")
	if output == "" {
		b.WriteString("(no output)")
	} else {
		b.WriteString("```\n" + output + "\n```")
	}
	code, hasCode := rawjson.Float(rawjson.Get(raw, "exitCode"))
	switch {
	case rawjson.Truthy(rawjson.Get(raw, "cancelled")):
		b.WriteString("\n\n(command cancelled)")
	case hasCode && code != 0:
		b.WriteString("\n\nCommand exited with code " + strconv.Itoa(int(code)))
	}
	if path, _ := rawjson.GetString(raw, "fullOutputPath"); path != "" && rawjson.Truthy(rawjson.Get(raw, "truncated")) {
		b.WriteString("\n\n[Output truncated. Full output: " + path + "]")
	}
	return userMessage(raw, b.String()), true
}

// mention shows the files that a prompt named.
func mention(raw json.RawMessage) (provider.Message, bool) {
	m := userMessage(raw, "")
	var b strings.Builder
	var images []provider.Block
	rawjson.Elements(rawjson.Get(raw, "files"), func(file []byte) bool {
		path, _ := rawjson.GetString(file, "path")
		content, _ := rawjson.GetString(file, "content")
		b.WriteString(File(path, "", content) + "\n")
		image := rawjson.Get(file, "image")
		data, _ := rawjson.GetString(image, "data")
		if mime, _ := rawjson.GetString(image, "mimeType"); data != "" && mime != "" {
			images = append(images, provider.Block{Type: provider.TypeImage, Data: data, MimeType: mime})
		}
		return true
	})
	if b.Len() == 0 {
		return m, false
	}
	m.Content = append([]provider.Block{provider.Text("<system-reminder>\n" + b.String() + "</system-reminder>")}, images...)
	return m, true
}

// harmless are the closing tags of the elements in which files and other input are shown, with the
// backslash that prevents them from closing one.
var harmless = strings.NewReplacer("</file", `<\/file`, "</instruction", `<\/instruction`, "</stdin", `<\/stdin`, "</system-reminder", `<\/system-reminder`)

// Stdin shows the text of standard input to a model. It cannot close its own element.
func Stdin(text string) string { return "<stdin>\n" + harmless.Replace(text) + "\n</stdin>" }

// Instruction shows a model how it should carry out the request that follows. A client wrote it, not the user.
func Instruction(text string) string {
	return "<instruction>\n" + harmless.Replace(text) + "\n</instruction>"
}

// File shows a file to a model. attributes, which may be empty, begin with a space. A file cannot
// close its own element and continue as another speaker: "</file" in it is written "<\/file", and
// the path is quoted.
func File(path, attributes, content string) string {
	content = harmless.Replace(content)
	if content != "" && !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	return "<file path=" + strconv.Quote(path) + attributes + ">\n" + content + "</file>"
}
