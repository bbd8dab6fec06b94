package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/anthropic"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/guard"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/openai"
	"github.com/xcsh-ls/xcsh-ls/agent/system"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// withModels completes the configuration of the sessions with all that a model works with:
// models and keys, tools, permission, and the system prompt. own is the directory for what is
// ours alone, files are what the tools see.
func withModels(cfg *agent.Config, fs afero.Fs, own string, roots []session.Root, s lsp.Settings, files tool.Workspace, log *zap.Logger) {
	var dirs []string
	for _, r := range roots {
		dirs = append(dirs, r.AgentDir)
	}
	models := &catalog.Catalog{
		Fs: fs, AgentDirs: dirs, Getenv: os.Getenv, Services: services(), Local: detector(),
	}
	cfg.Models = models
	options := tool.Options{Fs: fs, KeyEnv: models.KeyVariables, Private: dirs}
	shell := tool.NewShell(options)
	cfg.Tools, cfg.Shell, cfg.Workspace = tool.All(options), &shell, files
	cfg.Approval, cfg.Protected = approval.Mode(s.Approval), dirs // keys, settings, rules
	cfg.Rules = &approval.FileMemory{Fs: fs, Path: filepath.Join(own, "allowed.json")}
	prompts := system.Builder{
		Fs: fs, AgentDir: dirs[0], Tools: cfg.Tools, OS: runtime.GOOS,
		Report: func(path string, err error) {
			log.Warn("instructions could not be read", zap.String("path", path), zap.Error(err))
		},
	}
	cfg.System = func(_ context.Context, cwd string) string { return prompts.Prompt(cwd) }
	cfg.Defaults = agent.Defaults{Model: s.Model, Thinking: provider.Level(s.ThinkingLevel)}
}

// services are what speaks the APIs of the models.
func services() map[provider.API]provider.Provider {
	var o guard.Options
	return map[provider.API]provider.Provider{
		provider.AnthropicMessages: anthropic.New(o),
		provider.OpenAICompletions: openai.NewCompletions(o),
		provider.OpenAIResponses:   openai.NewResponses(o),
		provider.Scripted:          offline.Provider{Now: time.Now},
	}
}

// detector finds servers on this machine, unless the person does not want that.
func detector() *catalog.Detector {
	if os.Getenv("XCSH_LS_NO_DETECT") != "" {
		return nil
	}
	return &catalog.Detector{}
}
