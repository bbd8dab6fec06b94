package teamtest_test

import (
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

// echo returns a connection, over a proxy, to a server that sends every byte back.
func echo(t *testing.T) (*teamtest.Proxy, func() *net.TCPConn) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	p := teamtest.NewProxy(t, l.Addr().(*net.TCPAddr).Port)
	return p, func() *net.TCPConn {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", "127.0.0.1:"+strconv.Itoa(p.Port))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c.(*net.TCPConn)
	}
}

// exchange sends a text and returns the answer until the connection ends, or nothing came for some
// time.
func exchange(t *testing.T, c net.Conn, text string) (got string, err error) {
	t.Helper()
	_, err = io.WriteString(c, text)
	require.NoError(t, err)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(300*time.Millisecond)))
	all, err := io.ReadAll(c)
	return string(all), err
}

func TestAProxyPassesAndBreaks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault *teamtest.Fault
		want  string
		open  bool // the client sees no end of the connection
	}{
		{"no fault", nil, "hello", true},
		{"cut up", &teamtest.Fault{After: 2, Does: teamtest.Cut}, "", false},
		{"cut down", &teamtest.Fault{Down: true, After: 2, Does: teamtest.Cut}, "he", false},
		{"cut at once", &teamtest.Fault{Does: teamtest.Cut}, "", false},
		{"half-closed up", &teamtest.Fault{After: 2, Does: teamtest.HalfClose}, "he", false},
		{"half-closed down", &teamtest.Fault{Down: true, After: 2, Does: teamtest.HalfClose}, "he", false},
		{"swallowed up", &teamtest.Fault{After: 2, Does: teamtest.Swallow}, "he", true},
		{"swallowed down", &teamtest.Fault{Down: true, After: 2, Does: teamtest.Swallow}, "he", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, dial := echo(t)
			p.Arm(c.fault)
			got, err := exchange(t, dial(), "hello")
			if c.name != "cut up" { // the bytes before the cut may or may not come back
				require.Equal(t, c.want, got)
			}
			require.Equal(t, c.open, errors.Is(err, os.ErrDeadlineExceeded), "%v", err)
			require.True(t, p.Fired())
			got, err = exchange(t, dial(), "again")
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			require.Equal(t, "again", got, "a fault breaks one connection")
		})
	}
}

func TestAProxyDelaysAndCounts(t *testing.T) {
	t.Parallel()
	p, dial := echo(t)
	c := dial()
	p.Arm(nil)
	p.Delay(50 * time.Millisecond)
	began := time.Now()
	_, err := io.WriteString(c, "hello")
	require.NoError(t, err)
	_, err = io.ReadFull(c, make([]byte, 5))
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(began), 100*time.Millisecond)
	up, down := p.Passed()
	require.EqualValues(t, 5, up)
	require.EqualValues(t, 5, down)
}

func TestAProxyRecords(t *testing.T) {
	t.Parallel()
	p, dial := echo(t)
	_, err := exchange(t, dial(), "before")
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	p.Record()
	for _, text := range []string{"one", "two"} {
		_, err := exchange(t, dial(), text)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	}
	require.Equal(t, teamtest.Recording{Connections: 2, Up: []byte("onetwo"), Down: []byte("onetwo")}, p.Recorded())
}
