package senses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Name is the name of the tool.
const Name = "lsp"

// status is the action that needs no request.
const status = "status"

// requestOf are the requests of the tool's actions, which have the names of xcsh and oh-my-pi.
var requestOf = map[string]string{
	"diagnostics": Diagnostics, "definition": Definition, "type_definition": TypeDefinition, "implementation": Implementation,
	"references": References, "hover": Hover, "symbols": Symbols, "rename": Rename, "code_actions": CodeActions,
	"editors": Editors, "selection": Selection,
}

// order is the order in which models see the actions.
var order = []string{
	"diagnostics", "definition", "type_definition", "implementation", "references", "hover", "symbols", "rename", "code_actions",
	"editors", "selection",
}

// unsupported are actions of xcsh and oh-my-pi that an editor is not asked for.
var unsupported = map[string]string{
	"reload":       "The editor runs the language servers, and xcsh-ls can't restart them. Ask the user to restart them.",
	"rename_file":  "lsp doesn't rename files. Move the file with bash, and correct the references to it with edit.",
	"capabilities": "The capabilities of the language servers are not known. The action status lists what the editor can be asked.",
	"request":      "lsp doesn't send requests of your own to the language servers. Use one of its other actions.",
}

// arguments are the arguments of a call. The unused parameters of the programs are accepted where they have no effect.
type arguments struct {
	Action     string  `json:"action"`
	File       string  `json:"file,omitempty"`
	Line       int     `json:"line,omitempty"`
	Symbol     string  `json:"symbol,omitempty"`
	Occurrence int     `json:"occurrence,omitempty"`
	Query      string  `json:"query,omitempty"`
	NewName    string  `json:"new_name,omitempty"`
	Apply      *bool   `json:"apply,omitempty"`
	Timeout    float64 `json:"timeout,omitempty"` // seconds
}

// The time limits of a request.
const (
	defaultLimit = 10 * time.Second
	maxLimit     = time.Minute
)

// limit returns the time limit of a call's requests.
func (a arguments) limit() time.Duration {
	if a.Timeout <= 0 {
		return defaultLimit
	}
	return time.Duration(min(max(a.Timeout, 1), maxLimit.Seconds()) * float64(time.Second))
}

// changes reports whether the call applies edits.
func (a arguments) changes() bool {
	switch a.Action {
	case "rename":
		return a.Apply == nil || *a.Apply
	case "code_actions":
		return a.Apply != nil && *a.Apply
	}
	return false
}

func badArgument(field, format string, args ...any) error {
	return fault.New(fault.InvalidArgument, format, args...).With("field", field)
}

// number is a number in a string, as models write it.
var number = regexp.MustCompile(`^"(-?\d+(?:\.\d+)?)"$`)

// nth is a name with the number of its occurrence.
var nth = regexp.MustCompile(`^(.+)#(\d{1,4})$`)

// parse reads the arguments of a call. actions are those that the editor can be asked for.
func parse(raw json.RawMessage, actions []string) (a arguments, err error) {
	members := map[string]json.RawMessage{}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 {
		if json.Unmarshal(raw, &members) != nil || members == nil {
			return a, badArgument("", "The arguments of lsp must be one JSON object.")
		}
	}
	for _, other := range []string{"path", "file_path", "uri"} {
		if v, ok := members[other]; ok && members["file"] == nil {
			members["file"] = v
		}
		delete(members, other)
	}
	for _, intent := range []string{"i", "_i"} {
		delete(members, intent)
	}
	for key, to := range map[string]any{
		"action": &a.Action, "file": &a.File, "line": &a.Line, "symbol": &a.Symbol, "occurrence": &a.Occurrence, "query": &a.Query,
		"new_name": &a.NewName, "apply": &a.Apply, "timeout": &a.Timeout, "payload": new(json.RawMessage),
	} {
		v := members[key]
		delete(members, key)
		if v == nil || string(v) == "null" {
			continue
		}
		if m := number.FindSubmatch(v); m != nil && slices.Contains([]string{"line", "occurrence", "timeout"}, key) {
			v = m[1]
		}
		if s := string(v); key == "apply" && (s == `"true"` || s == `"false"`) {
			v = v[1 : len(v)-1]
		}
		if json.Unmarshal(v, to) != nil {
			return a, badArgument(key, "lsp: %q must be %s.", key, wanted(key))
		}
	}
	if len(members) > 0 {
		unknown := slices.Sorted(maps.Keys(members))[0]
		return a, badArgument(unknown, "lsp has no parameter %q; it takes action, file, line, symbol, occurrence, query, new_name, apply and timeout.", unknown)
	}
	return a, a.check(actions)
}

func wanted(key string) string {
	switch key {
	case "line", "occurrence":
		return "a whole number"
	case "timeout":
		return "a number"
	case "apply":
		return "true or false"
	default:
		return "a string"
	}
}

// check fails for an action that cannot be used, or that lacks a parameter. It takes the number of an occurrence out of
// the symbol.
func (a *arguments) check(actions []string) error {
	why, known := unsupported[a.Action]
	switch {
	case a.Action == "":
		return badArgument("action", `lsp needs the parameter "action": %s.`, strings.Join(actions, ", "))
	case known:
		return badArgument("action", "%s", why)
	case !slices.Contains(actions, a.Action):
		return badArgument("action", "The user's editor can't be asked for %q. It can be asked for %s.", shown(a.Action, 40), strings.Join(actions, ", "))
	}
	if m := nth.FindStringSubmatch(a.Symbol); m != nil {
		a.Symbol = m[1]
		a.Occurrence, _ = strconv.Atoi(m[2]) // digits
	}
	if a.Line < 0 || a.Occurrence < 0 {
		return badArgument("line", "lsp: line and occurrence count from 1.")
	}
	if strings.ContainsAny(a.Symbol, "\r\n") {
		return badArgument("symbol", "lsp: symbol must be a name in one line.")
	}
	return a.need()
}

// need fails if a parameter of the action is missing.
func (a *arguments) need() error {
	missing := ""
	switch a.Action {
	case "rename", "definition", "type_definition", "implementation", "references", "hover":
		if a.File == "" {
			missing = "file"
		} else if a.Line == 0 && a.Symbol == "" {
			missing = "line"
		} else if a.Action == "rename" && a.NewName == "" {
			missing = "new_name"
		}
	case "code_actions":
		switch {
		case a.File == "":
			missing = "file"
		case a.Line == 0 && a.Symbol == "":
			missing = "line"
		case a.changes() && a.Query == "":
			missing = "query"
		}
	case "symbols":
		if a.File == "" && a.Query == "" {
			missing = "file"
		}
	}
	if missing != "" {
		return badArgument(missing, "lsp: the action %s needs the parameter %q.", a.Action, missing)
	}
	return nil
}

// parameters is the schema of the tool for an editor that can be asked for some actions.
func parameters(actions []string) json.RawMessage {
	property := func(typ, about string) string {
		return fmt.Sprintf(`{"type":%q,"description":%q}`, typ, about)
	}
	quoted, _ := json.Marshal(actions) // strings can be marshaled
	members := []string{
		`"action":{"type":"string","enum":` + string(quoted) + `}`,
		`"file":` + property("string", "The path of a file. Without one, diagnostics shows the problems of all files."),
		`"line":` + property("integer", "The line, from 1."),
		`"symbol":` + property("string", `The name in that line; "name#2" is its second occurrence.`),
		`"query":` + property("string", "symbols: a part of a name to find in all files. code_actions: the number or a part of the title of one action."),
	}
	if slices.Contains(actions, "rename") {
		members = append(members, `"new_name":`+property("string", "rename: the new name."))
	}
	if slices.Contains(actions, "rename") || slices.Contains(actions, "code_actions") {
		members = append(members, `"apply":`+property("boolean", "Apply the edits. Default: true for rename, false for code_actions, which then lists the actions."))
	}
	members = append(members, `"timeout":`+property("number", "Seconds to wait for the editor. Default: 10."))
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(members, ",") + `},"required":["action"]}`)
}
