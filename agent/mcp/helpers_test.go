//go:build unix

package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/xcsh-ls/xcsh-ls/agent/mcp"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/mcptest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// limit is how long something may take on a busy machine.
const limit = time.Minute

// kit are servers with what a test sees of them.
type kit struct {
	*mcp.Servers
	t       testing.TB
	cwd     string
	changed chan string
	logged  *observer.ObservedLogs
}

// begin returns servers that are closed at the end of the test. Their processes have ended then.
func begin(t testing.TB, o mcp.Options, defined ...mcp.Server) *kit {
	t.Helper()
	core, logged := observer.New(zapcore.DebugLevel)
	k := &kit{t: t, cwd: t.TempDir(), changed: make(chan string, 100), logged: logged}
	o.Servers, o.Cwd, o.Log = defined, k.cwd, zap.New(core)
	if o.Wait == 0 {
		o.Wait = limit
	}
	o.Changed = func(server string) {
		select {
		case k.changed <- server:
		default:
		}
	}
	k.Servers = mcp.New(o)
	t.Cleanup(k.finish)
	return k
}

func (k *kit) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	require.NoError(k.t, k.Close(ctx))
}

// tool returns a tool of the probe by its own name.
func (k *kit) tool(name string) mcp.Tool {
	k.t.Helper()
	k.Tools(k.t.Context())
	t, err := k.Tool("mcp__Probe_One__" + strings.NewReplacer(".", "_", "-", "_").Replace(name))
	require.NoError(k.t, err, name)
	return t
}

// env keeps outputs below the folder.
func (k *kit) env() tool.Env {
	return tool.Env{Cwd: k.cwd, CallID: "c1", Keep: func(name string) (tool.KeptFile, error) {
		f, err := afero.NewOsFs().Create(k.cwd + "/0." + name + ".log")
		return tool.KeptFile{File: f, Path: k.cwd + "/0." + name + ".log", ArtifactID: "0"}, err
	}}
}

// call calls a tool of the probe.
func (k *kit) call(ctx context.Context, name, args string) (tool.Result, error) {
	k.t.Helper()
	return k.tool(name).RunWithin(ctx, k.env(), json.RawMessage(args))
}

// result requires a result.
func (k *kit) result(name, args string) tool.Result {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), limit)
	defer cancel()
	r, err := k.call(ctx, name, args)
	require.NoError(k.t, err)
	return r
}

// said returns the texts of a result.
func said(r tool.Result) string {
	var texts []string
	for _, b := range r.Content {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n")
}

func records(t testing.TB, path string) []mcptest.Record { return mcptest.Server{Log: path}.Records(t) }

// received reports whether the probe has received a message of a method.
func received(t testing.TB, path, method string) bool {
	return mcptest.Server{Log: path}.Received(t, method)
}

// starts returns the ids of the processes that the probe had.
func starts(t testing.TB, path string) []int { return mcptest.Server{Log: path}.Starts(t) }

// isGone requires the end of processes.
func isGone(t testing.TB, pids ...int) { mcptest.Gone(t, pids...) }

// The variables of the probe.
const (
	gateName  = mcptest.GateName
	toolsName = mcptest.ToolsName
)

func TestMain(m *testing.M) {
	mcptest.Main()
	os.Exit(m.Run())
}

// probeServer returns the definition of the probe, and the path of its log.
func probeServer(t testing.TB, how string, env ...string) (mcp.Server, string) {
	t.Helper()
	p := mcptest.Start(t, how, env...)
	return mcp.Server{Name: "Probe-One", Transport: mcp.Stdio, Command: p.Command, Source: ".omp/mcp.json", Env: p.Env}, p.Log
}

// eventually waits for a condition.
func eventually(t testing.TB, f func() bool, words string) {
	t.Helper()
	require.Eventually(t, f, limit, time.Millisecond, words)
}

func pi() mcp.Options { return mcp.Options{Dialect: session.Pi} }

func writeProgram(t testing.TB, path string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\ntouch started\n"), 0o755))
}
