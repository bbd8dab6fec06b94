//go:build unix

package attack

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

const (
	// whileUnread is how long the editor reads nothing.
	whileUnread = 8 * time.Second
)

// Requests with small and with large responses.
const (
	codeAction = `"textDocument/codeAction","params":{"textDocument":{"uri":"file:///x"},` +
		`"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"context":{"diagnostics":[]}}`
	models   = `"workspace/executeCommand","params":{"command":"xcsh.models"}`
	snapshot = `"workspace/executeCommand","params":{"command":"xcsh.snapshot"}`
)

// unreading is an editor with raw requests and responses, which reads only when the test calls answers.
type unreading struct {
	*victim
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// unread starts the server in a folder whose session has an answer of 24 KiB.
func (v *victim) unread() *unreading {
	v.t.Helper()
	v.Script("m", providertest.Reply{Text: strings.Repeat("0123456789abcdef", 1536), Chunk: 4096})
	require.Zero(v.t, v.ask().code)
	cmd := v.commandWithin(conversation, "--continue", "--model", "fake/m")
	in, err := cmd.StdinPipe()
	require.NoError(v.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(v.t, err)
	require.NoError(v.t, cmd.Start())
	u := &unreading{v, cmd, in, bufio.NewReader(out)}
	u.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{},`+
		`"workspaceFolders":[{"uri":%q,"name":"w"}]}}`, lsptest.URI(v.work)))
	u.answers(1)
	u.send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	u.send(`{"jsonrpc":"2.0","id":2,"method":"workspace/executeCommand","params":{"command":"xcsh.state"}}`)
	u.answers(1)
	return u
}

func (u *unreading) send(body string) {
	_, _ = u.in.Write(lsptest.Frame(body)) // the program may have exited
}

// flood sends a request n times, and then the last message.
func (u *unreading) flood(n int, request, last string) (sent <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		pause := time.NewTicker(5 * time.Millisecond) // otherwise the server rejects most as too many at once
		defer pause.Stop()
		for i := range n {
			if i%20 == 0 {
				<-pause.C
			}
			u.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s}`, i+10, request))
		}
		u.send(last)
	}()
	return done
}

// answers reads until n responses have arrived, and returns how often each id was answered.
func (u *unreading) answers(n int) map[string]int {
	u.t.Helper()
	ids := map[string]int{}
	for range n {
		for {
			header, err := textproto.NewReader(u.out).ReadMIMEHeader()
			require.NoError(u.t, err, "after %d answers", len(ids))
			length, err := strconv.Atoi(header.Get("Content-Length"))
			require.NoError(u.t, err)
			body := make([]byte, length)
			_, err = io.ReadFull(u.out, body)
			require.NoError(u.t, err)
			var m struct {
				ID     json.RawMessage
				Method string
			}
			require.NoError(u.t, json.Unmarshal(body, &m))
			if m.Method == "" {
				ids[string(m.ID)]++
				break
			}
		}
	}
	return ids
}

// memory returns the program's resident memory, in MiB.
func (u *unreading) memory() int {
	u.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", u.cmd.Process.Pid))
	if err != nil {
		u.t.Skip("no /proc to look at")
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest + " 0")[0])
	require.NoError(u.t, err)
	return kib >> 10
}

// most returns the maximum of memory during a period.
func (u *unreading) most(d time.Duration) (mib int) {
	u.t.Helper()
	over := time.NewTimer(d)
	defer over.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		mib = max(mib, u.memory())
		select {
		case <-over.C:
			return mib
		case <-tick.C:
		}
	}
}

// Output that an editor does not read is bounded, and every request is answered once it reads.
func TestUnreadOutputIsBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		n       int
		request string
		most    int // MiB: the program's normal use, the bound of the output, and garbage
	}{
		"small answers": {20_000, codeAction, 150},
		// Plus the results of the requests in flight.
		"large answers": {1_000, models, 280},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVictim(t)
			v.env = []string{"GOMEMLIMIT=160MiB"} // limits garbage, which the test does not measure
			u := v.unread()
			sent := u.flood(tc.n, tc.request, `{"jsonrpc":"2.0","method":"made/up"}`)
			memory := u.most(whileUnread)
			t.Logf("%d MiB after %d requests", memory, tc.n)
			require.Less(t, memory, tc.most)
			ids := u.answers(tc.n)
			<-sent
			assert.Len(t, ids, tc.n)
			u.send(`{"jsonrpc":"2.0","method":"exit"}`)
			v.ends(u.cmd)
		})
	}
}

// The server exits on request although the editor reads nothing.
func TestExitIsSeenBehindUnreadOutput(t *testing.T) {
	v := newVictim(t)
	u := v.unread()
	u.leave(u.flood(2_000, snapshot, `{"jsonrpc":"2.0","method":"exit"}`))
	assert.Empty(t, v.locks())
}

// An editor that reads nothing can stop a turn.
func TestAbortIsSeenBehindUnreadOutput(t *testing.T) {
	v := newVictim(t)
	u := v.unread()
	release := make(chan struct{})
	defer close(release)
	v.Script("m", providertest.Reply{Text: "a long answer", Before: release})
	asked := len(v.Requests())
	u.send(`{"jsonrpc":"2.0","id":4,"method":"workspace/executeCommand","params":{"command":"xcsh.prompt","arguments":[{"text":"go"}]}}`)
	require.Eventually(t, func() bool { return len(v.Requests()) > asked }, deadline, 10*time.Millisecond)
	turn := v.Requests()[asked]
	sent := u.flood(2_000, snapshot, `{"jsonrpc":"2.0","id":5,"method":"workspace/executeCommand","params":{"command":"xcsh.abort"}}`)
	select {
	case <-turn.Ended:
	case <-time.After(atOnce):
		require.Fail(t, "the model is still asked")
	}
	<-sent
	u.send(`{"jsonrpc":"2.0","method":"exit"}`)
	u.leave(sent)
}

// leave waits until the server exits, after everything was sent.
func (u *unreading) leave(sent <-chan struct{}) {
	u.t.Helper()
	select {
	case <-sent:
	case <-time.After(atOnce):
		require.Fail(u.t, "the server does not read")
	}
	u.ends(u.cmd)
}
