package acp_test

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/acp"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// bytesFs counts the bytes that are read from the session.
type bytesFs struct {
	afero.Fs
	read atomic.Int64
}

func (fs *bytesFs) Open(name string) (afero.File, error) {
	f, err := fs.Fs.Open(name)
	if err != nil || name != file1 {
		return f, err
	}
	return bytesFile{f, &fs.read}, nil
}

type bytesFile struct {
	afero.File
	n *atomic.Int64
}

func (f bytesFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	f.n.Add(int64(n))
	return n, err
}

func (f bytesFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	f.n.Add(int64(n))
	return n, err
}

// While the client does not read, a session is not replayed any further than its unread messages may be large.
func TestAReplayWaitsForAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	synctest.Test(t, func(t *testing.T) {
		const messages, size = 32, 1 << 20
		w := newWorld(t)
		lines, parent := []string{st.Header(id1, "/w")}, ""
		for n := range messages {
			id := fmt.Sprintf("%08x", n+1)
			lines = append(lines, st.User(id, parent, fmt.Sprintf("message %d. ", n)+strings.Repeat("x", size)))
			parent = id
		}
		w.file(t, file1, st.File(lines...))
		fs := &bytesFs{Fs: w.fs}
		w.fs = fs
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		served := make(chan error, 1)
		go func() {
			served <- acp.Serve(t.Context(), in, out, acp.Options{Commands: commands.Default, Backend: w.backend(), Log: zap.NewNop()})
		}()
		r := bufio.NewReaderSize(fromServer, 64)
		send := func(line string) {
			_, err := io.WriteString(toServer, line+"\n")
			require.NoError(t, err)
		}
		send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
		_, err := r.ReadString('\n')
		require.NoError(t, err)
		send(`{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"` + id1 + `","cwd":"/w","mcpServers":[]}}`)
		synctest.Wait()
		unread := fs.read.Load()

		var shown strings.Builder
		for line := ""; !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":2,`); {
			line, err = r.ReadString('\n')
			require.NoError(t, err)
			if at := strings.Index(line, "message "); at >= 0 {
				for _, part := range strings.SplitAfter(line, "message ")[1:] {
					number, _, _ := strings.Cut(part, ".")
					shown.WriteString(number + " ")
				}
			}
		}
		var want strings.Builder
		for n := range messages {
			fmt.Fprint(&want, n, " ")
		}
		require.Equal(t, want.String(), shown.String())
		require.Greater(t, fs.read.Load()-unread, int64(messages-20)*size, "read before the client read")
		require.NoError(t, toServer.Close())
		go func() { _, _ = io.Copy(io.Discard, r) }()
		require.NoError(t, <-served)
		_ = out.Close()
	})
}
