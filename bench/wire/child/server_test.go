package child_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/bench/wire/child"
)

// fake makes the test binary a server.
const fake = "XCSH_LS_BENCH_FAKE"

func TestMain(m *testing.M) {
	if os.Getenv(fake) != "" {
		serve()
		return
	}
	os.Exit(m.Run())
}

// big is the result of the command test.big, which is larger than what is kept.
var big = `"` + strings.Repeat("x", child.MaxKept) + `"`

func serve() {
	in := bufio.NewReader(os.Stdin)
	for {
		header, err := textproto.NewReader(in).ReadMIMEHeader()
		if err != nil {
			return
		}
		n, _ := strconv.Atoi(header.Get("Content-Length"))
		body := make([]byte, n)
		_, _ = io.ReadFull(in, body)
		var m struct {
			ID     int
			Method string
			Params struct{ Command string }
		}
		_ = json.Unmarshal(body, &m)
		answer := func(rest string) { say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, m.ID, rest)) }
		switch m.Method + m.Params.Command {
		case "initialize":
			answer(`"result":{"capabilities":{"experimental":{"xcsh":{"commands":[{"name":"test.big","args":{"properties":{"limit":{}}}}]}}}}`)
		case "workspace/executeCommandtest.big":
			say(`{"jsonrpc":"2.0","method":"xcsh/event","params":{}}`)
			say(`{"jsonrpc":"2.0","id":"ask","method":"window/showMessageRequest","params":{}}`)
			answer(`"result":` + big)
		case "workspace/executeCommandtest.fails":
			answer(`"error":{"code":1,"message":"It is too large.","data":{"kind":"tooLarge"}}`)
		case "workspace/executeCommandtest.crash":
			fmt.Fprintln(os.Stderr, "the reason")
			os.Exit(3)
		case "shutdown":
			answer(`"result":null`)
		case "exit":
			return
		}
	}
}

func say(body string) { fmt.Printf("Content-Length: %d\r\n\r\n%s", len(body), body) }

func start(t *testing.T) *child.Server {
	t.Helper()
	t.Setenv(fake, "1")
	program, err := os.Executable()
	require.NoError(t, err)
	s, cost, err := child.Start(context.WithoutCancel(t.Context()), child.Config{Program: program, Home: t.TempDir(), Folder: "/f"})
	require.NoError(t, err)
	require.Positive(t, cost.Wall)
	t.Cleanup(s.Kill)
	return s
}

func TestALargeAnswerIsDigestedOnlyIfItIsToBeCompared(t *testing.T) {
	s := start(t)
	sum := sha256.Sum256([]byte(big + "}"))
	for _, keep := range []bool{true, false, true} {
		a, cost, err := s.Measure("test.big", nil, keep)
		require.NoError(t, err)
		require.Nil(t, a.Result)
		require.Greater(t, cost.Bytes, int64(child.MaxKept))
		if keep {
			require.Equal(t, hex.EncodeToString(sum[:]), a.Digest)
		} else {
			require.Empty(t, a.Digest)
		}
	}
	require.NoError(t, s.Close())
}

func TestNotificationsAreWatched(t *testing.T) {
	t.Setenv(fake, "1")
	program, err := os.Executable()
	require.NoError(t, err)
	seen := make(chan string, 1)
	s, _, err := child.Start(context.WithoutCancel(t.Context()), child.Config{
		Program: program, Home: t.TempDir(), Folder: "/f", Watch: func(content []byte, _ time.Time) { seen <- string(content) },
	})
	require.NoError(t, err)
	t.Cleanup(s.Kill)
	_, err = s.Call("test.big", nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"jsonrpc":"2.0","method":"xcsh/event","params":{}}`, <-seen)
	require.NoError(t, s.Close())
}

func TestAnErrorHasItsKind(t *testing.T) {
	s := start(t)
	a, err := s.Call("test.fails", nil)
	require.NoError(t, err)
	require.Equal(t, "tooLarge", a.Kind)
	require.Equal(t, "It is too large.", a.Text)
}

func TestTheServersListOfCommandsIsKnown(t *testing.T) {
	s := start(t)
	require.True(t, s.Offers("test.big", ""))
	require.True(t, s.Offers("test.big", "limit"))
	require.False(t, s.Offers("test.big", "cursor"))
	require.False(t, s.Offers("test.small", ""))
}

func TestAServerThatEndsIsAnErrorWithItsLog(t *testing.T) {
	s := start(t)
	_, err := s.Call("test.crash", nil)
	require.ErrorContains(t, err, "the reason")
}
