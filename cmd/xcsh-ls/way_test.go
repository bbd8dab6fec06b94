package main_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest"
	"go.uber.org/zap/zaptest/observer"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/openai"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// A model server that is found on this machine is the way in: its only model answers without being chosen.
func TestALocalModelServerIsFoundAndAnswers(t *testing.T) {
	t.Parallel()
	server := providertest.New(t)
	root := strings.TrimSuffix(server.URL(provider.OpenAICompletions), "/v1")
	server.Script("qwen:7b", providertest.Reply{Text: "Hello from here."}, providertest.Reply{Text: "A title"})
	disk := afero.NewMemMapFs()
	ed := lsptest.Start(t, serverWith(t, disk, blocks{offline.Provider{Now: now}}, zaptest.NewLogger(t), func(c *catalog.Catalog) {
		c.Local = &catalog.Detector{Timeout: time.Minute, Servers: []catalog.Server{{Provider: "ollama", URL: root, Ollama: true}}}
		c.Services[provider.OpenAICompletions] = openai.NewCompletions(guard.Options{})
	}))
	ed.Initialize(lsptest.Fields{"workspaceFolders": []lsptest.Fields{{"uri": lsptest.URI("/w"), "name": "w"}}})
	var r struct{ Providers []provider.Source }
	require.NoError(t, json.Unmarshal(do(t, ed, "xcsh.providers", nil), &r))
	require.Equal(t, provider.Source{ID: "ollama", Name: "Ollama", Kind: provider.LocalSource, Ready: true, Models: 1, Default: "ollama/qwen:7b"}, r.Providers[0])
	require.Contains(t, string(do(t, ed, "xcsh.state", nil)), `"ready":{"ok":true}`)
	require.Contains(t, string(do(t, ed, "xcsh.prompt", lsptest.Fields{"text": "Hello"})), "Hello from here.")
	require.Contains(t, transcriptOf(ed), "Using ollama/qwen:7b, the only model that is ready to use.")

	server.Script("second", providertest.Reply{Text: "?"})
	do(t, ed, "xcsh.new", nil)
	require.Contains(t, string(do(t, ed, "xcsh.state", nil)), `"reason":"noModel"`, "two models are a choice of the user")
}

func transcriptOf(ed *lsptest.Editor) string {
	var b strings.Builder
	for _, m := range ed.Messages() {
		raw, _ := json.Marshal(m)
		b.Write(raw)
		b.WriteByte('\n')
	}
	return b.String()
}

// A key reaches the service, and nothing else: no message to the client, no log, no file but auth.json.
func TestAKeyIsNowhereElse(t *testing.T) {
	t.Parallel()
	for name, keeps := range map[string]bool{"stored": false, "kept by the client": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			core, logs := observer.New(zapcore.DebugLevel)
			disk := afero.NewMemMapFs()
			require.NoError(t, disk.MkdirAll("/w", 0o700))
			ed := lsptest.Start(t, serverWith(t, disk, blocks{offline.Provider{Now: now}}, zap.New(core), func(*catalog.Catalog) {}))
			options := lsptest.Fields{}
			if keeps {
				options["keyProviders"] = []string{"anthropic"}
			}
			ed.Initialize(lsptest.Fields{
				"initializationOptions": options, "trace": "verbose",
				"workspaceFolders": []lsptest.Fields{{"uri": lsptest.URI("/w"), "name": "w"}},
			})
			if !keeps {
				do(t, ed, "xcsh.setKey", lsptest.Fields{"provider": "anthropic", "key": rightKey})
			}
			prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "Hello"})
			_, failure := prompt.WaitAnswering(func(r lsptest.Request) {
				require.Equal(t, "xcsh/key", r.Method)
				r.Reply(lsptest.Fields{"key": rightKey})
			})
			require.Nil(t, failure)
			for _, command := range []string{"xcsh.state", "xcsh.snapshot", "xcsh.providers", "xcsh.models", "xcsh.context", "xcsh.dump"} {
				require.NotContains(t, string(do(t, ed, command, nil)), rightKey)
			}
			ed.Shutdown()
			ed.Exit()
			require.NotContains(t, transcriptOf(ed), rightKey)
			for _, e := range logs.All() {
				require.NotContains(t, fmt.Sprint(e.Message, e.ContextMap()), rightKey)
			}
			var with []string
			require.NoError(t, afero.Walk(disk, "/", func(path string, info fs.FileInfo, err error) error {
				if err != nil || !info.Mode().IsRegular() {
					return err
				}
				content, err := afero.ReadFile(disk, path)
				if strings.Contains(string(content), rightKey) {
					with = append(with, path)
				}
				return err
			}))
			if keeps {
				require.Empty(t, with)
			} else {
				require.Equal(t, []string{"/home/u/.xcsh/agent/auth.json"}, with)
			}
		})
	}
}

// A prompt that waits for the client's key can be stopped.
func TestAPromptThatWaitsForAKeyCanBeStopped(t *testing.T) {
	t.Parallel()
	ed := lsptest.Start(t, memoryServer(t, afero.NewMemMapFs()))
	ed.Initialize(lsptest.Fields{
		"initializationOptions": lsptest.Fields{"keyProviders": []string{"anthropic"}},
		"workspaceFolders":      []lsptest.Fields{{"uri": lsptest.URI("/w"), "name": "w"}},
	})
	prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "Hello"})
	question := ed.WaitRequest("xcsh/key")
	require.JSONEq(t, `{"aborted":true,"unanswered":[]}`, string(do(t, ed, "xcsh.abort", nil)))
	result, failure := prompt.Wait()
	require.Nil(t, failure)
	require.Contains(t, string(result), `"stopReason":"aborted"`)
	question.Reply(lsptest.Fields{"key": rightKey}) // too late
	require.Contains(t, string(do(t, ed, "xcsh.state", nil)), `"isStreaming":false`)
}
