package pi

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
)

// dialect holds the differences between the programs of pi's family. All of them speak pi's RPC; omp and xcsh were forked
// from pi and changed it.
type dialect struct {
	name string // the usual name of the program

	// The command line.
	session  string   // the flag that names the file of a session
	newID    bool     // --session-id makes a session with this id
	asks     bool     // --approve and --no-approve decide whether code of the workspace runs
	isolates bool     // --no-extensions leaves the extensions of the command line
	ours     string   // the prefix of the environment variables that the child does not get
	code     []string // files and directories with code that it runs unasked, relative to the folder; see [Engine.foreignCode]

	// The commands.
	clears    bool   // clear_queue removes queued messages and returns them
	entries   bool   // get_entries returns recorded entries, such as a command of the user
	levels    bool   // get_available_thinking_levels
	annotates bool   // it appends titles and labels; others rewrite the file for a title, and let no extension label an entry
	commands  string // the command that lists commands, "" if there is none

	// The answers and events.
	settles  bool // agent_settled is the end of a run; otherwise get_state has to be asked after each agent_end
	reports  bool // a prompt that asks the model nothing says so
	nameless bool // refusals may come without the id of their command
	serial   bool // nothing is read while a command runs, neither an abort nor the answer to a dialog
	late     bool // a new session may be written with its first answer only
	loose    bool // see [engine.Opened]

	// The bridge.
	files   bool     // its tools read and write through the editor
	hides   bool     // a variable that it takes out of its environment is not in that of its commands
	builtin []string // the program's own tools, for a program that does not say where a tool is from
	reading []string // its own tools that change nothing
	callOf  func(e *Engine, q question) engine.Call
}

var piDialect = dialect{
	name: "pi", session: "--session", newID: true, asks: true, ours: "XCSH_",
	clears: true, entries: true, levels: true, annotates: true, commands: "get_commands",
	settles: true, reports: true,
	files: true, hides: true, reading: []string{"read", "grep", "find", "ls"}, callOf: (*Engine).piCall,
}

// ompDialect was observed with omp 18.2.3.
var ompDialect = dialect{
	name: "omp", session: "--resume", isolates: true, ours: "XCSH_",
	code:     workspaceCode(".omp"),
	commands: "get_available_commands",
	reports:  true, nameless: true, serial: true, late: true, loose: true,
	reading: []string{"read", "grep", "glob", "find", "ls", "ast_grep", "todo"}, callOf: (*Engine).ompCall,
}

// xcshDialect is known from the sources of xcsh 18.38 and 19.54. Variables that begin with XCSH_ are its own.
var xcshDialect = dialect{
	name: "xcsh", session: "--resume", ours: "XCSH_LS_",
	code:     append(workspaceCode(".xcsh"), workspaceCode(".omp")...),
	nameless: true, serial: true, late: true, loose: true,
	builtin: []string{"read", "grep", "find", "edit", "write", "bash", "todo_write"},
	reading: []string{"read", "grep", "find", "todo_write"}, callOf: (*Engine).ompCall,
}

// dialectOf returns the dialect of a program.
func dialectOf(p engine.Program) dialect {
	switch {
	case p.Protocol != engine.OmpRPC:
		return piDialect
	case p.Name == xcshDialect.name:
		return xcshDialect
	default:
		return ompDialect
	}
}

// harmless reports whether a call of one of the program's own tools changes nothing. The tools of omp also read addresses: such
// a request can send a secret to a server.
func (d *dialect) harmless(tool string, args json.RawMessage) bool {
	return slices.Contains(d.reading, tool) && (d.settles || !namesAddress(args))
}
