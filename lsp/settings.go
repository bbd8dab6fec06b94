package lsp

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/find"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// Settings are the initializationOptions. The zero value means the defaults.
type Settings struct {
	AgentDir      string   // replaces ~/.xcsh/agent
	SessionDir    string   // replaces the directories per working directory
	Roots         []string // further agent directories to list; nil means the known ones that exist
	Persist       *bool    // false keeps sessions in memory; nil means true
	TerminalID    string   // identifies the breadcrumb; "" means none is read or written
	Startup       Startup
	Model         string
	ThinkingLevel string
	Approval      string        // ask, auto-edit, yolo or read-only; "" means the default
	Sandbox       string        // on or off; "" means on where the system has one
	Retries       *int          // of a failed request to a model; nil means the default
	RetryLimit    time.Duration // the longest wait before one; 0 means the default
	UI            UISettings

	// SaveEdits is what happens to the agent's unsaved edits before a command runs: auto, ask or off; "" means auto.
	SaveEdits string

	// DiagnosticsAfterEdit adds the new errors of a file to the result of an edit, if the client reports
	// diagnostics; nil means true.
	DiagnosticsAfterEdit *bool

	// CacheRetention is how long services keep the beginning of a conversation in their cache, "short"
	// or "long"; "auto" and "" mean what PI_CACHE_RETENTION says, else short.
	CacheRetention string

	// RememberModel makes the model and the thinking level that the user chooses the defaults of future
	// sessions, in the settings of the terminal program; nil means true.
	RememberModel *bool

	Cache       CacheSettings
	History     HistorySettings
	Keys        KeySettings
	Export      ExportSettings
	Changes     ChangesSettings
	ShowSummary *bool // false shows no summary of a resumed session; nil means true
	LateValues  bool  // the client takes the rest of a large session's state after the answer; see [commands.Env]
	Restricted  bool  // the user has not trusted the workspace; see [commands.Env]

	// Engine is the engine that answers in place of the server's own loop; zero means none was chosen. EngineIdle is
	// how long an idle one keeps running; 0 means the default. EngineExtensions lets it run code of a
	// trusted workspace. The three are the user's own settings: see MachineScope.
	Engine           find.Setting
	EngineIdle       time.Duration
	EngineExtensions bool

	// Team are the settings of the team's store, the user's own, too.
	Team TeamSettings

	// MachineScope reports that the client's section holds no values of a workspace for the settings of the
	// engine and the team. Only initializationOptions can say so.
	MachineScope bool

	// Trusted reports that the client has said that the user trusts the workspace, with restricted: false. A client
	// that says nothing about trust has not.
	Trusted bool

	// AgentDirNamed reports that AgentDir comes from the command line. It is not an option, because
	// options may come from a workspace.
	AgentDirNamed bool

	// ShellPath is the program that runs commands; "" means the usual one. It is not an option, because options may
	// come from a workspace.
	ShellPath string

	// AllowAgentDirs are the agent directories inside a workspace that the user allowed on the command
	// line or in the environment. They are not an option.
	AllowAgentDirs []string

	// Standard selects the standard agent directory and ignores the environment. It is not an option.
	Standard bool

	// Folders are the workspace folders at initialize. They are not an option.
	Folders []string
}

// Startup selects the session to open in the first workspace folder.
type Startup struct {
	Mode   string // lazy, new, continue, resume or fork; "" means lazy
	Target string // of resume and fork
}

// UISettings are the features that the client implements itself.
type UISettings struct {
	Pick  bool // it asks for missing arguments
	Hooks bool // it answers xcsh/approve, xcsh/beforeSwitch and the other xcsh/before requests
	Save  bool // it answers xcsh/save

	// Editor are the xcsh/editor/ requests that it answers, without that prefix.
	Editor []string
}

// CacheSettings are the settings of the cache directory.
type CacheSettings struct {
	MaxBytes *int // the limit of the index files of large sessions; 0 keeps none, nil means the default
}

// HistorySettings are the settings of the prompt history.
type HistorySettings struct {
	Enabled *bool // false neither reads nor writes it; nil means true
}

// KeySettings are the settings of API keys.
type KeySettings struct {
	Commands *bool // false runs no commands that print keys; nil means true
}

// ExportSettings are the settings of exports.
type ExportSettings struct {
	Open *bool // false opens a page only on request; nil means true
}

// ChangesSettings are the settings for recording changes of files.
type ChangesSettings struct {
	Capture     string        // all, tools or off; "" means all
	MaxFile     int64         // maximum size in bytes of a file whose content is stored; 0 means the default
	MaxSession  int64         // maximum compressed size in bytes of a session's contents; 0 means the default
	Exclude     []string      // globs of files whose contents are not stored
	Required    bool          // a change whose content can't be stored fails
	CommandLook time.Duration // timeout of the comparison before or after a command; 0 means the default

	Lens bool // shows lenses to keep or undo a change above it, in clients without their own review interface
}

// The bounds of ChangesSettings.
const (
	MaxChangedFile    = 256 << 20
	MaxSessionChanges = 64 << 30
	MaxCommandLook    = 5 * time.Minute
)

// opensPages reports whether an exported page is opened by default.
func (s Settings) opensPages() bool { return s.Export.Open == nil || *s.Export.Open }

// The bounds of Settings.Retries and Settings.RetryLimit.
const (
	MaxRetries    = 100
	MinRetryLimit = time.Second
	MaxRetryLimit = time.Hour
)

// MaxEngineIdle bounds Settings.EngineIdle.
const MaxEngineIdle = 24 * time.Hour

// MaxCacheBytes bounds CacheSettings.MaxBytes.
const MaxCacheBytes = math.MaxInt32

// readSettings reads initializationOptions. An option of the wrong type keeps its default, so that one
// invalid setting does not prevent the start. For each it returns a message for the user. Unknown
// options are logged; they may belong to a newer version.
func readSettings(raw json.RawMessage, log *zap.Logger) (Settings, []string) {
	var s Settings
	problems := s.read("", raw, log)
	s.MachineScope = valueAt[bool](raw, "machineScope")
	return s, problems
}

// engineOptions are the options that choose a program, or let it run code of the workspace.
var engineOptions = []string{"engine", "engineExtensions", "engineIdle"}

// readSection overrides s with the client's section, which takes precedence over the initializationOptions in options.
// Unless the client says that it reads the settings of the engine and the team from the user's own settings only, they
// may come from a file of the workspace, and are ignored; ignored then has their names.
func (s *Settings) readSection(options, raw json.RawMessage, log *zap.Logger) (problems, ignored []string) {
	if s.MachineScope {
		return s.read(section, raw, log), nil
	}
	before := *s
	problems = s.read(section, raw, log)
	for _, name := range engineOptions {
		value := valueAt[json.RawMessage](raw, name)
		if value != nil && string(value) != "null" && !sameJSON(value, valueAt[json.RawMessage](options, name)) {
			ignored = append(ignored, section+"."+name)
		}
	}
	ignored = append(ignored, ignoredTeam(options, raw)...)
	problems = slices.DeleteFunc(problems, aboutEngineOrTeam)
	s.Engine, s.EngineIdle, s.EngineExtensions, s.Team = before.Engine, before.EngineIdle, before.EngineExtensions, before.Team
	s.Trusted = before.Trusted && !s.Restricted
	return problems, ignored
}

// sameJSON reports whether two values are equal.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// read overrides s with the options of an object. name is the name of the object, "" for
// initializationOptions. Empty strings count as absent, because some editors send one for every
// option that is not set.
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
		"sandbox":       r.oneOf(&s.Sandbox, "on", "off"),
		"saveEdits":     r.oneOf(&s.SaveEdits, saveAuto, saveAsk, saveOff),
		"retries":       r.wholeNumber(0, MaxRetries, func(n int) { s.Retries = &n }),
		"retryLimit": r.wholeNumber(int(MinRetryLimit/time.Second), int(MaxRetryLimit/time.Second), func(n int) {
			s.RetryLimit = time.Duration(n) * time.Second
		}),
		"rememberModel": set(&r, &s.RememberModel, "true or false"),

		"diagnosticsAfterEdit": set(&r, &s.DiagnosticsAfterEdit, "true or false"),

		"cacheRetention": r.oneOf(&s.CacheRetention, "auto", "short", "long"),
		"startup": func(name string, raw json.RawMessage) {
			r.object(name, raw, map[string]func(string, json.RawMessage){
				"mode":   r.oneOf(&s.Startup.Mode, "lazy", "new", "continue", "resume", "fork"),
				"target": set(&r, &s.Startup.Target, "a string"),
			})
		},
		"cache": func(name string, raw json.RawMessage) {
			r.object(name, raw, map[string]func(string, json.RawMessage){
				"maxBytes": r.wholeNumber(0, MaxCacheBytes, func(n int) { s.Cache.MaxBytes = &n }),
			})
		},
		"history": func(name string, raw json.RawMessage) {
			r.object(name, raw, map[string]func(string, json.RawMessage){
				"enabled": set(&r, &s.History.Enabled, "true or false"),
			})
		},
		"keys": func(name string, raw json.RawMessage) {
			r.object(name, raw, map[string]func(string, json.RawMessage){
				"commands": set(&r, &s.Keys.Commands, "true or false"),
			})
		},
		"export": func(name string, raw json.RawMessage) {
			r.object(name, raw, map[string]func(string, json.RawMessage){
				"open": set(&r, &s.Export.Open, "true or false"),
			})
		},
		"changes": func(name string, raw json.RawMessage) {
			r.object(name, raw, map[string]func(string, json.RawMessage){
				"capture":     r.oneOf(&s.Changes.Capture, agent.CaptureAll, agent.CaptureTools, agent.CaptureOff),
				"maxFile":     r.wholeNumber(1, MaxChangedFile, func(n int) { s.Changes.MaxFile = int64(n) }),
				"maxSession":  r.wholeNumber(1, MaxSessionChanges, func(n int) { s.Changes.MaxSession = int64(n) }),
				"exclude":     set(&r, &s.Changes.Exclude, "a list of strings"),
				"required":    set(&r, &s.Changes.Required, "true or false"),
				"commandLook": r.wholeNumber(1, int(MaxCommandLook/time.Second), func(n int) { s.Changes.CommandLook = time.Duration(n) * time.Second }),
				"lens":        set(&r, &s.Changes.Lens, "true or false"),
			})
		},
		"ui": func(name string, raw json.RawMessage) {
			r.object(name, raw, map[string]func(string, json.RawMessage){
				"pick":  set(&r, &s.UI.Pick, "true or false"),
				"hooks": set(&r, &s.UI.Hooks, "true or false"),
				"save":  set(&r, &s.UI.Save, "true or false"),

				"editor": set(&r, &s.UI.Editor, "a list of strings"),
			})
		},
		"showResumeSummary": set(&r, &s.ShowSummary, "true or false"),
		"lateValues":        set(&r, &s.LateValues, "true or false"),
		"restricted": func(name string, raw json.RawMessage) {
			r.unlessFalse(&s.Restricted)(name, raw)
			s.Trusted = !s.Restricted
		},
		"engine":           r.engine(&s.Engine),
		"engineIdle":       r.wholeNumber(1, int(MaxEngineIdle/time.Minute), func(n int) { s.EngineIdle = time.Duration(n) * time.Minute }),
		"engineExtensions": set(&r, &s.EngineExtensions, "true or false"),
		teamOption:         r.team(&s.Team),
		"keyProviders":     func(string, json.RawMessage) {}, // see readKeyProviders
		"contextKinds":     func(string, json.RawMessage) {}, // see readContextKinds
		"machineScope":     func(string, json.RawMessage) {}, // see readSettings
	})
	return r.problems
}

// settingsReader collects the problems of the options.
type settingsReader struct {
	log      *zap.Logger
	problems []string
}

// object reads the fields of an object. null and [] count as empty: Lua does not distinguish an empty
// table from an empty list.
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
			r.log.Info("ignored an unknown option", zap.String("option", conn.Printable(prefix+key)))
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

// wholeNumber reads a number from least to most.
func (r *settingsReader) wholeNumber(least, most int, set func(int)) func(string, json.RawMessage) {
	return func(name string, raw json.RawMessage) {
		var n float64
		if json.Unmarshal(raw, &n) != nil || n != math.Trunc(n) || n < float64(least) || n > float64(most) {
			r.wrong(name, fmt.Sprintf("a whole number from %d to %d", least, most))
			return
		}
		set(int(n))
	}
}

// engine reads the name of an engine, or the description of a program.
func (r *settingsReader) engine(to *find.Setting) func(string, json.RawMessage) {
	return func(name string, raw json.RawMessage) {
		var program struct {
			Name     string          `json:"name"`
			Command  []string        `json:"command"`
			Protocol engine.Protocol `json:"protocol"`
		}
		var v find.Setting
		if json.Unmarshal(raw, &v.Name) != nil {
			if json.Unmarshal(raw, &program) != nil {
				r.wrong(name, "a name, or an object with name, command and protocol")
				return
			}
			if v = find.Setting(program); len(v.Command) == 0 {
				v.Name = "" // an object must have one
			}
		}
		if err := v.Check(); err != nil || v.Name == "" {
			r.wrong(name, "one of own, "+strings.Join(find.Names(), ", ")+", or an object with name, command and protocol")
			return
		}
		*to = v
	}
}

// unlessFalse reads an option that protects the user: a value of another type counts as true.
func (r *settingsReader) unlessFalse(to *bool) func(string, json.RawMessage) {
	return func(name string, raw json.RawMessage) {
		if json.Unmarshal(raw, to) != nil {
			*to = true
			r.problems = append(r.problems, fmt.Sprintf("The option %q must be true or false; true is used.", name))
		}
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
