package acp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// kinds maps the programs' tools to the protocol's kinds. Any other tool is "other".
var kinds = map[string]string{
	"read": "read", "ls": "read", "grep": "search", "find": "search", "glob": "search", "search": "search", "ast_grep": "search",
	"edit": "edit", "write": "edit", "ast_edit": "edit", "notebook": "edit",
	"bash": "execute", "python": "execute", "eval": "execute", "ssh": "execute",
	"fetch": "fetch", "web_search": "fetch", "browser": "fetch",
	"todo_write": "think", "todo": "think", "task": "think", "exit_plan_mode": "switch_mode",
}

func kindOf(tool string) string {
	if kind := kinds[tool]; kind != "" {
		return kind
	}
	return "other"
}

// maxTitle bounds the title of a tool call, in UTF-16 units.
const maxTitle = 200

// callTitle returns the title of a tool call on one line.
func callTitle(name string, args []byte) string {
	for _, arg := range []string{"command", "path", "file_path", "pattern", "query", "url"} {
		if value, ok := rawjson.GetString(args, arg); ok && value != "" {
			if arg == "command" {
				return short(value)
			}
			return short(name + " " + value)
		}
	}
	if name == "" {
		return "tool"
	}
	return visible.Line(name)
}

// short returns the beginning of a text on one line.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if rawjson.UTF16Len(text) > maxTitle {
		text = rawjson.UTF16Prefix(text, maxTitle-1) + "…"
	}
	return visible.Line(text)
}

// object returns v if it is a JSON object, because clients expect an object.
func object(v []byte) json.RawMessage {
	if rawjson.Kind(v) != '{' || !json.Valid(v) {
		return nil
	}
	return v
}

// pathOf returns the absolute path of the file that a tool call names, or "".
func pathOf(cwd string, args []byte) string {
	path, _ := rawjson.GetString(args, "path")
	if path == "" {
		path, _ = rawjson.GetString(args, "file_path")
	}
	if path == "" || strings.Contains(path, "://") || strings.HasPrefix(path, "~") {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	return filepath.Clean(path)
}

// locationsOf returns the files to which a tool call refers. details are those of its result, or nil
// while it has none.
func locationsOf(cwd string, args, details []byte) []location {
	path := pathOf(cwd, args)
	if path == "" {
		return nil
	}
	l := location{Path: path}
	for _, line := range [][]byte{rawjson.Get(details, "firstChangedLine"), rawjson.Get(args, "offset")} {
		if n, ok := rawjson.Float(line); ok && n >= 1 && n < 1<<31 {
			l.Line = int(n)
			break
		}
	}
	return []location{l}
}

// resultOf returns the update of a tool call with its result.
func resultOf(cwd string, call *shownCall, result []byte, failed bool) toolUpdate {
	details := rawjson.Get(result, "details")
	u := toolUpdate{Status: statusCompleted, Content: blocksOf(result), RawOutput: object(details)}
	if failed {
		u.Status = statusFailed
		return u
	}
	u.Locations = locationsOf(cwd, call.args, details)
	if diffs := diffsOf(cwd, call, details); len(diffs) > 0 {
		u.Content = append(diffs, u.Content...)
	}
	return u
}

// diffsOf returns the changes of a tool call, as far as its arguments and the details of its result show them.
func diffsOf(cwd string, call *shownCall, details []byte) []toolContent {
	path := pathOf(cwd, call.args)
	if path == "" || kindOf(call.name) != "edit" {
		return nil
	}
	if patch, ok := rawjson.GetString(details, "patch"); ok {
		if diffs := patchDiffs(path, patch); len(diffs) > 0 {
			return diffs
		}
	}
	if text, ok := rawjson.GetString(call.args, "content"); ok && call.name == "write" {
		return []toolContent{diff(path, nil, text)}
	}
	var diffs []toolContent
	add := func(edit []byte) bool {
		old, ok := rawjson.GetString(edit, "oldText")
		text, is := rawjson.GetString(edit, "newText")
		if ok && is {
			diffs = append(diffs, diff(path, &old, text))
		}
		return true
	}
	add(call.args)
	rawjson.Elements(rawjson.Get(call.args, "edits"), add)
	return diffs
}

func diff(path string, old *string, text string) toolContent {
	return toolContent{Type: "diff", Path: path, OldText: old, NewText: &text}
}

func withoutDiffs(content []toolContent) (rest []toolContent) {
	for _, c := range content {
		if c.Type != "diff" {
			rest = append(rest, c)
		}
	}
	return rest
}

// blocksOf returns the output of a tool as content blocks.
func blocksOf(result []byte) (content []toolContent) {
	m, err := provider.DecodeMessage(result)
	if err != nil {
		return nil
	}
	for _, b := range m.Content {
		if block, ok := shownBlock(b); ok {
			content = append(content, toolContent{Type: "content", Content: &block})
		}
	}
	return content
}

// shownBlock returns a text or an image as content for the client.
func shownBlock(b provider.Block) (contentBlock, bool) {
	switch b.Type {
	case provider.TypeText:
		return textBlock(b.Text), b.Text != ""
	case provider.TypeImage:
		if strings.HasPrefix(b.Data, "blob:") {
			return textBlock(fmt.Sprintf("[image of type %s, which is not available]", b.MimeType)), true
		}
		return contentBlock{Type: "image", Data: b.Data, MimeType: b.MimeType}, b.Data != ""
	}
	return contentBlock{}, false
}
