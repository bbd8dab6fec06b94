package provider

// Source is a place that models come from, as users see it. It never contains a key.
type Source struct {
	ID        string     `json:"id" jsonschema:"The provider of its models."`
	Name      string     `json:"name" jsonschema:"The name for users."`
	Kind      SourceKind `json:"kind"`
	Ready     bool       `json:"ready" jsonschema:"True if its models can be used now."`
	KeySource KeySource  `json:"keySource" jsonschema:"Where its key comes from; empty if it has none or needs none."`
	Variable  string     `json:"variable" jsonschema:"The environment variable for its key; empty if it needs no key."`
	KeyPage   string     `json:"keyPage" jsonschema:"The web page on which users create a key; empty if unknown."`
	Models    int        `json:"models" jsonschema:"The number of its models."`
	Default   string     `json:"default" jsonschema:"The model to begin with, as provider/id; empty if the user has to choose."`
}

// SourceKind is the kind of a [Source].
type SourceKind string

// The kinds of sources.
const (
	LocalSource   SourceKind = "local"   // a server on this machine
	ServiceSource SourceKind = "service" // a service that needs a key, or other credentials
	DemoSource    SourceKind = "demo"    // answers from a script
)

// KeySource is the place of a key.
type KeySource string

// The places of keys, in order of precedence.
const (
	NoKey          KeySource = ""
	ClientKey      KeySource = "client"      // the client keeps it
	AuthFileKey    KeySource = "authFile"    // auth.json
	ModelsFileKey  KeySource = "modelsFile"  // models.json, models.yml or models.yaml
	DatabaseKey    KeySource = "database"    // agent.db
	EnvironmentKey KeySource = "environment" // a variable
)
