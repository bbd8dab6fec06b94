//go:build peers

package differential

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const peers = "../peers"

// pi is a running pi that executes requests; see bench/peers/remote.mjs.
type pi struct {
	t   *testing.T
	in  io.Writer
	out *json.Decoder
}

// startPi starts pi for the user whose home directory is home.
func startPi(t *testing.T, home string) *pi {
	t.Helper()
	packageDir, err := filepath.Abs(orInstalled("XCSH_PI", "@earendil-works/pi-coding-agent"))
	require.NoError(t, err)
	require.DirExists(t, packageDir, "pi is not installed; run bench/peers/install.sh pi")
	// It ends with its input, which is after the test's context does.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), nodeJS(), filepath.Join(peers, "remote.mjs"), packageDir)
	cmd.Env = append(os.Environ(), "HOME="+home, "PI_CODING_AGENT_DIR="+filepath.Join(home, ".pi", "agent"))
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		err := errors.Join(in.Close(), cmd.Wait())
		if err != nil || t.Failed() {
			t.Log("pi: ", err, said.String())
		}
	})
	return &pi{t: t, in: in, out: json.NewDecoder(bufio.NewReader(out))}
}

// nodeJS is the Node.js to run pi with: the one that was installed for it, or the
// machine's own.
func nodeJS() string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	node := orInstalled("XCSH_PI_NODE", "node-"+runtime.GOOS+"-"+arch, "bin", "node")
	if _, err := os.Stat(node); err != nil {
		return "node"
	}
	return node
}

func orInstalled(variable string, parts ...string) string {
	if path := os.Getenv(variable); path != "" {
		return path
	}
	return filepath.Join(append([]string{peers, "node_modules"}, parts...)...)
}

// request is one thing to do. The fields are those of remote.mjs.
type request struct {
	Do     string `json:"do"`
	On     int    `json:"on"`
	Method string `json:"method,omitempty"`
	Args   []any  `json:"args"`
	File   string `json:"file,omitempty"`
	Dir    string `json:"dir,omitempty"`
	Leaves []any  `json:"leaves"`
	Tree   bool   `json:"tree"`
}

// ask sends a request to pi. An error is pi's own refusal; any other failure ends the test.
func (p *pi) ask(r request, into any) error {
	p.t.Helper()
	if r.Args == nil {
		r.Args = []any{}
	}
	if r.Leaves == nil {
		r.Leaves = []any{}
	}
	line, err := json.Marshal(r)
	require.NoError(p.t, err)
	_, err = p.in.Write(append(line, '\n'))
	require.NoError(p.t, err)
	var a struct {
		Result json.RawMessage
		Error  string
	}
	require.NoError(p.t, p.out.Decode(&a))
	if a.Error != "" {
		return errors.New(a.Error)
	}
	if into != nil {
		require.NoError(p.t, json.Unmarshal(a.Result, into), "%s", a.Result)
	}
	return nil
}

// open opens a session file with one of pi's own ways to do so and returns the number by which
// later calls refer to it.
func (p *pi) open(method string, args ...any) (manager int) {
	p.t.Helper()
	require.NoError(p.t, p.ask(request{Do: "make", Method: method, Args: args}, &manager))
	return manager
}

func (p *pi) call(manager int, into any, method string, args ...any) error {
	p.t.Helper()
	return p.ask(request{Do: "call", On: manager, Method: method, Args: args}, into)
}

// file is the session file of a manager.
func (p *pi) file(manager int) (path string) {
	p.t.Helper()
	require.NoError(p.t, p.call(manager, &path, "getSessionFile"))
	return path
}
