//go:build unix

package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/xcsh-ls/xcsh-ls/agent/mcp"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
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

// record is a line of the probe's log.
type record struct {
	Dir string `json:"dir"`
	M   struct {
		Pid    int             `json:"pid"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		ID     json.RawMessage `json:"id"`
	} `json:"m"`
}

func records(t testing.TB, path string) (all []record) {
	t.Helper()
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return all
		}
		var r record
		require.NoError(t, json.Unmarshal(line, &r))
		all = append(all, r)
	}
}

// received reports whether the probe has received a message of a method.
func received(t testing.TB, path, method string) bool {
	for _, r := range records(t, path) {
		if r.Dir == "in" && r.M.Method == method {
			return true
		}
	}
	return false
}

// starts returns the ids of the processes that the probe had.
func starts(t testing.TB, path string) (pids []int) {
	for _, r := range records(t, path) {
		if r.Dir == "start" {
			pids = append(pids, r.M.Pid)
		}
	}
	return pids
}

// isGone requires the end of processes.
func isGone(t testing.TB, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		require.Eventually(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH }, limit, time.Millisecond, "the process %d lives on", pid)
	}
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
