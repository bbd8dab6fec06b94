package setup

// Scope is who a file belongs to.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // the user's own
	Project Scope = "project" // of the folder, or of a directory above it
)

// Kind is a part of a set-up.
type Kind string

// The kinds.
const (
	KindServer   Kind = "server"
	KindSkill    Kind = "skill"
	KindTemplate Kind = "template"
	KindAgent    Kind = "agent"
	KindSystem   Kind = "system"
	KindAppend   Kind = "append"
	KindContext  Kind = "context"
	KindRule     Kind = "rule"
	KindSetting  Kind = "setting"
)

// Resolved is the set-up that holds. Lists are in the order of precedence of the program, except for
// servers and settings, which are sorted by name.
type Resolved struct {
	Folder     string      `json:"folder"`
	Program    string      `json:"program" jsonschema:"The program whose rules apply: xcsh, pi or omp."`
	AgentDir   string      `json:"agentDir,omitempty" jsonschema:"The agent directory of the program; empty if it is missing or must not be used."`
	Trust      Trust       `json:"trust"`
	Servers    []Server    `json:"servers" jsonschema:"MCP servers. None is started."`
	Skills     []Skill     `json:"skills"`
	Templates  []Template  `json:"templates"`
	Agents     []Agent     `json:"agents" jsonschema:"Subagents that the tool task can start, beside those of this program."`
	System     *File       `json:"system,omitempty" jsonschema:"The file in place of the system prompt."`
	Append     *File       `json:"append,omitempty" jsonschema:"The file at the end of the system prompt."`
	Context    []File      `json:"context" jsonschema:"Files with instructions: the user's first, then from the outermost directory to the folder."`
	Rules      []Rule      `json:"rules"`
	Settings   []Setting   `json:"settings"`
	Extensions []Extension `json:"extensions" jsonschema:"Extensions of the program, which run in the program only."`
	LeftOut    []LeftOut   `json:"leftOut" jsonschema:"What exists and is not used, with the reason."`
	Problems   []Problem   `json:"problems" jsonschema:"Files and entries that could not be used."`
	Sources    []string    `json:"sources" jsonschema:"The files that were read."`
}

// File is a file whose text goes into the system prompt.
type File struct {
	Path  string `json:"path"`
	Scope Scope  `json:"scope"`
	Text  string `json:"-"`
	Bytes int    `json:"bytes" jsonschema:"The length of the used text."`
	Cut   bool   `json:"cut,omitempty" jsonschema:"The file is longer than the used text."`
}

// LeftOut is something that exists and is not used.
type LeftOut struct {
	Kind Kind   `json:"kind" jsonschema:"server, skill, template, agent, system, append, context, rule or setting"`
	Name string `json:"name"`
	Path string `json:"path"`
	Why  string `json:"why" jsonschema:"The reason, as a sentence."`

	Starts string `json:"starts,omitempty" jsonschema:"Of a server: the command line or address, without secrets."`

	trust bool // it needs the user's trust
}

// Problem is a file, or an entry of one, that could not be used.
type Problem struct {
	Path string `json:"path"`
	Text string `json:"text" jsonschema:"One sentence."`
}

// Extension is an extension of a program. It is not run.
type Extension struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// Skill returns the skill called name. Skills that are hidden from models count, too.
func (r *Resolved) Skill(name string) (Skill, bool) {
	for _, s := range r.Skills {
		if s.Name == name {
			return s, true
		}
	}
	return Skill{}, false
}

// Template returns the template called name.
func (r *Resolved) Template(name string) (Template, bool) {
	for _, t := range r.Templates {
		if t.Name == name {
			return t, true
		}
	}
	return Template{}, false
}

// Server returns the server called name.
func (r *Resolved) Server(name string) (Server, bool) {
	for _, s := range r.Servers {
		if s.Name == name {
			return s, true
		}
	}
	return Server{}, false
}

// Setting returns the setting called name, such as "retry.maxRetries".
func (r *Resolved) Setting(name string) (Setting, bool) {
	for _, s := range r.Settings {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}
