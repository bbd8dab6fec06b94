package main

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/preference"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/agentdb"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/anthropic"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/bedrock"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/gemini"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/keyfile"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/keyvalue"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/openai"
	"github.com/xcsh-ls/xcsh-ls/agent/senses"
	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/serving"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/surroundings"
	"github.com/xcsh-ls/xcsh-ls/agent/system"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/agent/ttsr"
	"github.com/xcsh-ls/xcsh-ls/agent/web"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/redact"
)

// withModels adds to the configuration of the sessions all that a model needs: models and keys, tools, permission,
// and the system prompt. files are the files that the tools see. c keeps keys and shows the user sentences, if it does.
func (p place) withModels(cfg *agent.Config, s lsp.Settings, files tool.Workspace, c lsp.Client, log *zap.Logger) {
	var dirs []string
	for _, r := range p.finder.Roots {
		dirs = append(dirs, r.AgentDir)
	}
	tell := report(c.Warn, log)
	mayUse, secrets := usable(p.gate, tell), private(p.finder.Roots)
	cfg.AgentDirs, cfg.ShareDirs = p.gate.Check, p.shareDirs()
	models := &catalog.Catalog{
		Fs: p.fs, AgentDirs: dirs, Usable: mayUse, Owned: p.gate.Owns, Report: func(text string) { tell(text, text) },
		Getenv: os.Getenv, Services: services(s.CacheRetention), Local: detector(), Home: p.env.Home,
	}
	if s.Keys.Commands == nil || *s.Keys.Commands {
		models.Commands = &keyvalue.Commands{Dir: cmp.Or(p.env.Home, dirs[0])} // not in the project, whose programs it might run
	}
	if c.Keys != nil {
		models.Kept = c.Keys
	}
	cfg.Models = models
	cfg.Keys = keyfile.Store{Fs: p.fs, File: filepath.Join(dirs[0], catalog.AuthFile), Usable: func() error { return p.gate.Check(dirs[0]) }}
	box := p.newBox(s.Sandbox, secrets.Commands, log)
	options := tool.Options{Fs: p.fs, KeyEnv: models.KeyVariables, Private: secrets, Sandbox: box, Leash: newLeash(p.env.OS), PDF: newPDFReader(), Web: newWeb()}
	shell := tool.NewShell(options)
	builtin := tool.All(options)
	cfg.Todos, cfg.ShellPath = true, s.ShellPath
	cfg.Tools, cfg.Shell, cfg.Workspace = append(builtin, p.userTools(s, shell, builtin, tell)...), &shell, files
	if c.Editor != nil {
		cfg.Senses = senses.New(senses.Options{Editor: c.Editor, Files: tool.NewFiles(options), AfterEdit: c.DiagnosesEdits})
	}
	cfg.Approval, cfg.Protected = approval.Mode(s.Approval), slices.Concat(dirs, p.gate.Standard) // keys, settings, rules
	cfg.Subagents = true
	cfg.Sandbox, cfg.Sensitive = box != nil, func(path string) bool { return secrets.Denies(p.fs, path) }
	cfg.SensitiveNow = func() func(string) bool { return secrets.Resolve(p.fs).Denies }
	cfg.Rules = &approval.FileMemory{Fs: p.fs, Path: filepath.Join(p.rules(), "allowed.json")}
	prompts := system.Builder{OS: runtime.GOOS, Shell: shell.Name()}
	cfg.System = func(_ context.Context, found *setup.Resolved, tools []provider.Tool) string {
		return prompts.Prompt(found, tools)
	}
	cfg.StreamRules = p.streamRules(mayUse, secrets, tell)
	cfg.RecordedSystem = func(_ context.Context, cwd, prompt string) string { return prompts.Recorded(cwd, prompt) }
	cfg.SessionPrompts = p.gate.CheckSession
	cfg.Retry = retries(s)
	cfg.Surroundings = surroundings.Probe{Now: time.Now, Read: shell.Peek}.Text
	cfg.Setups, cfg.SetupProblem = p.setups(mayUse), setupProblems(tell, log)
	cfg.Servers = agent.Servers{Version: versionText(), RunValue: serving.Shell(os.Environ(), p.env.Home), Logins: &agentdb.Reader{Fs: p.fs}}
	cfg.Preferences, cfg.Remember = p.preferences(mayUse, tell), s.RememberModel == nil || *s.RememberModel
	cfg.Defaults = agent.Defaults{Model: s.Model, Thinking: provider.Level(s.ThinkingLevel)}
}

// newWeb returns the reader of web pages. An address with a secret of the environment, or with a key in its usual form, is not sent.
func newWeb() *web.Fetcher {
	scanner := sync.OnceValue(func() *redact.Scanner { return redact.NewScanner(redact.KnownOf(os.Environ())...) })
	return &web.Fetcher{Secret: func(address string) bool {
		plain, err := url.QueryUnescape(address)
		return slices.ContainsFunc(scanner().Scan(address), certain) || err == nil && slices.ContainsFunc(scanner().Scan(plain), certain)
	}}
}

func certain(f redact.Finding) bool { return !f.Doubtful }

// streamRules returns a function that reads the rules for the answers of a turn. Only those count that the set-up
// has: in a folder that the user doesn't trust, they are the user's own.
func (p place) streamRules(mayUse func(dir string) bool, secrets *sensitive.Set, tell func(about, text string)) func(context.Context, string, *setup.Resolved) agent.StreamRules {
	rules := ttsr.Source{
		Fs: p.fs, Home: p.env.Home, Usable: mayUse, Private: secrets,
		Report: func(path string, err error) { tell(path, ruleLeftOut(path, err)) },
	}
	for _, r := range p.finder.Roots {
		if r.Dialect != session.Pi {
			rules.AgentDirs = append(rules.AgentDirs, r.AgentDir)
		}
	}
	return func(_ context.Context, cwd string, found *setup.Resolved) agent.StreamRules {
		settings := rules.Settings()
		if !settings.Enabled {
			return agent.StreamRules{}
		}
		here := rules
		here.Only = func(path string) bool {
			return slices.ContainsFunc(found.Rules, func(r setup.Rule) bool { return r.Use == setup.StreamRule && r.Path == path })
		}
		return agent.StreamRules{Rules: here.Load(cwd, settings.Disabled), Mode: settings.Mode, Home: p.env.Home}
	}
}

// preferences returns the settings of the terminal programs, in the agent directories of the roots.
func (p place) preferences(mayUse func(dir string) bool, tell func(about, text string)) *preference.Store {
	store := &preference.Store{Fs: p.fs, Usable: mayUse, Report: tell}
	for i, r := range p.finder.Roots {
		d := preference.Dir{Path: r.AgentDir, Program: r.Dialect}
		if i == 0 {
			d.Program = session.DialectOfAgentDir(r.AgentDir) // whose settings may be there
		}
		store.Dirs = append(store.Dirs, d)
	}
	return store
}

// retries returns the configured retries of failed requests.
func retries(s lsp.Settings) loop.Retry {
	r := loop.Retry{Limit: s.RetryLimit}
	if s.Retries != nil {
		r.Attempts, r.Disabled = *s.Retries, *s.Retries == 0
	}
	return r
}

// services returns the providers that implement the APIs of the models. retention is the setting of
// that name. pi reads the same variable.
func services(retention string) map[provider.API]provider.Provider {
	o := guard.Options{LongCache: retention == "long" || retention != "short" && os.Getenv("PI_CACHE_RETENTION") == "long"}
	return map[provider.API]provider.Provider{
		provider.AnthropicMessages:  anthropic.New(o),
		provider.OpenAICompletions:  openai.NewCompletions(o),
		provider.OpenAIResponses:    openai.NewResponses(o),
		provider.AzureResponses:     openai.NewAzure(o, os.Getenv),
		provider.GoogleGenerativeAI: gemini.New(o),
		provider.GoogleVertex:       gemini.NewVertex(o, os.Getenv),
		provider.BedrockConverse:    bedrock.New(o, os.Getenv),
		provider.Scripted:           offline.Provider{Now: time.Now},
	}
}

// keepDetected is how long the models of this machine are kept: an editor asks for its state more than once when it starts.
const keepDetected = 2 * time.Second

// detector finds model servers on this machine unless the user turned that off.
func detector() *catalog.Detector {
	if os.Getenv("XCSH_LS_NO_DETECT") != "" {
		return nil
	}
	return &catalog.Detector{Keep: keepDetected}
}
