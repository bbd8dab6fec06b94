package lsp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.uber.org/zap"
)

// Settings are the initializationOptions. The zero value means the defaults.
type Settings struct {
	AgentDir      string   // replaces ~/.xcsh/agent
	SessionDir    string   // replaces the directories per working directory
	Roots         []string // further agent directories to list; nil means the known ones that exist
	Persist       *bool    // false keeps sessions in memory; nil means true
	TerminalID    string   // names the breadcrumb; "" means none is read or written
	Startup       Startup
	Model         string
	ThinkingLevel string
	Approval      string // ask, auto-edit, yolo or read-only; "" means the default
	UI            UISettings
	History       HistorySettings
	ShowSummary   *bool // false tells nothing of a session that is resumed; nil means true

	// Folders are the workspace folders at initialize. They are not an option,
	// but Open may want to know them.
	Folders []string
}

// Startup says what to open in the first workspace folder, and when.
type Startup struct {
	Mode   string // lazy, new, continue, resume or fork; "" means lazy
	Target string // of resume and fork
}

// UISettings say what the client does itself.
type UISettings struct {
	Pick  bool // it asks for missing arguments
	Hooks bool // it answers xcsh/beforeSwitch and its kin
}

// HistorySettings are about the prompt history.
type HistorySettings struct {
	Enabled *bool // false neither reads nor writes it; nil means true
}

// readSettings reads initializationOptions. An option of the wrong type keeps its
// default: an editor with one bad setting is better than one without a server.
// Every such option gives a sentence to show to the person. Unknown options are
// logged; they may belong to a newer version.
func readSettings(raw json.RawMessage, log *zap.Logger) (Settings, []string) {
	var s Settings
	problems := s.read("", raw, log)
	return s, problems
}

// read puts the options of an object over those in s. name is what the object is called,
// "" for initializationOptions. Empty texts count as absent: some editors send one for
// every option that is not set.
func (s *Settings) read(name string, raw json.RawMessage, log *zap.Logger) (problems []string) {
	r := settingsReader{log: log}
	r.object(name, raw, map[string]func(string, json.RawMessage){
		"agentDir":      set(&r, &s.AgentDir, "a string"),
		"sessionDir":    set(&r, &s.SessionDir, "a string"),
		"roots":         set(&r, &s.Roots, "a list of strings"),
		"persist":       set(&r, &s.Persist, "true or false"),
		"terminalId":    set(&r, &s.TerminalID, "a string"),
		"model":         set(&r, &s.Model, "a string"),
		"thinkingLevel": set(&r, &s.ThinkingLevel, "a string"),
		"approval":      r.oneOf(&s.Approval, "ask", "auto-edit", "yolo", "read-only"),
		"startup": func(name string, raw json.RawMessage) {
			r.object(name, raw, map[string]func(string, json.RawMessage){
				"mode":   r.oneOf(&s.Startup.Mode, "lazy", "new", "continue", "resume", "fork"),
				"target": set(&r, &s.Startup.Target, "a string"),
			})
		},
		"history": func(name string, raw json.RawMessage) {
			r.object(name, raw, map[string]func(string, json.RawMessage){
				"enabled": set(&r, &s.History.Enabled, "true or false"),
			})
		},
		"ui": func(name string, raw json.RawMessage) {
			r.object(name, raw, map[string]func(string, json.RawMessage){
				"pick":  set(&r, &s.UI.Pick, "true or false"),
				"hooks": set(&r, &s.UI.Hooks, "true or false"),
			})
		},
		"showResumeSummary": set(&r, &s.ShowSummary, "true or false"),
	})
	return r.problems
}

// settingsReader collects what is wrong with the options.
type settingsReader struct {
	log      *zap.Logger
	problems []string
}

// object reads the fields of an object. null and [] count as empty: Lua cannot
// tell an empty table from an empty list.
func (r *settingsReader) object(name string, raw json.RawMessage, fields map[string]func(string, json.RawMessage)) {
	if isEmptyJSON(raw) {
		return
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		r.wrong(name, "an object")
		return
	}
	prefix := ""
	if name != "" {
		prefix = name + "."
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		read, known := fields[key]
		switch {
		case !known:
			r.log.Info("ignored an unknown option", zap.String("option", printable(prefix+key)))
		case string(object[key]) != "null" && string(object[key]) != `""`:
			read(prefix+key, object[key])
		}
	}
}

func (r *settingsReader) wrong(name, want string) {
	if name == "" {
		name = "initializationOptions"
	}
	r.problems = append(r.problems, fmt.Sprintf("The option %q must be %s; the default is used.", name, want))
}

// oneOf reads a string that must be one of several.
func (r *settingsReader) oneOf(to *string, allowed ...string) func(string, json.RawMessage) {
	return func(name string, raw json.RawMessage) {
		var v string
		if json.Unmarshal(raw, &v) != nil || !slices.Contains(allowed, v) {
			r.wrong(name, "one of "+strings.Join(allowed, ", "))
			return
		}
		*to = v
	}
}

// set reads an option of one type.
func set[T any](r *settingsReader, to *T, want string) func(string, json.RawMessage) {
	return func(name string, raw json.RawMessage) {
		var v T
		if json.Unmarshal(raw, &v) != nil {
			r.wrong(name, want)
			return
		}
		*to = v
	}
}

func isEmptyJSON(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "[]":
		return true
	}
	return false
}
