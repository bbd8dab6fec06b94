package procgroup_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

// role is the variable that makes this program a process of a test.
const role = "XCSH_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "": // the tests
		os.Exit(m.Run())
	case "member":
		fmt.Println(os.Getpid())
		forever()
	case "head": // prints the pid of its member
		_ = as("member", os.Stdout).Start()
		forever()
	case "server": // starts a family, and ends without ending it
		cmd := as("head", nil)
		out, _ := cmd.StdoutPipe()
		_, err := procgroup.StartFamily(cmd)
		line, _ := bufio.NewReader(out).ReadString('\n')
		fmt.Print(line)
		_, _ = io.ReadAll(os.Stdin) // until the test has opened the member
		if err != nil {
			os.Exit(1)
		}
	}
}

func forever() { _, _ = windows.WaitForSingleObject(windows.CurrentProcess(), windows.INFINITE) }

func as(name string, stdout *os.File) *exec.Cmd {
	cmd := exec.Command(os.Args[0]) //nolint:noctx // the test ends it
	cmd.Env = append(os.Environ(), role+"="+name)
	if stdout != nil {
		cmd.Stdout = stdout
	}
	return cmd
}

// open returns a handle of the process whose id out has, which stays valid when the process ends.
func open(t *testing.T, out io.Reader) windows.Handle {
	t.Helper()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	require.NoError(t, err)
	t.Cleanup(func() { _ = windows.CloseHandle(process) })
	return process
}

func lives(t *testing.T, process windows.Handle) bool {
	t.Helper()
	event, err := windows.WaitForSingleObject(process, 0)
	require.NoError(t, err)
	return event == uint32(windows.WAIT_TIMEOUT)
}

func requireEnd(t *testing.T, process windows.Handle) {
	t.Helper()
	const limit = 30_000 // milliseconds
	event, err := windows.WaitForSingleObject(process, limit)
	require.NoError(t, err)
	require.EqualValues(t, windows.WAIT_OBJECT_0, event)
}

// A family ends with the processes that its head started, and alone.
func TestAJobEndsAlone(t *testing.T) {
	t.Parallel()
	var members []windows.Handle
	var families []*procgroup.Family
	for range 2 {
		cmd := as("head", nil)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		f, err := procgroup.StartFamily(cmd)
		require.NoError(t, err)
		families, members = append(families, f), append(members, open(t, out))
	}
	require.Empty(t, families[0].Kill())
	families[0].Await()
	families[0].Wait()
	requireEnd(t, members[0])
	require.True(t, lives(t, members[1]))
	require.Empty(t, families[1].Kill())
	families[1].Await()
	families[1].Wait()
	requireEnd(t, members[1])
	require.Empty(t, families[1].Kill())
}

// The end of the process that started a family ends it, however it ends.
func TestAJobEndsWithItsStarter(t *testing.T) {
	t.Parallel()
	server := as("server", nil)
	in, err := server.StdinPipe()
	require.NoError(t, err)
	out, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	member := open(t, out)
	require.True(t, lives(t, member))
	require.NoError(t, in.Close())
	require.NoError(t, server.Wait())
	requireEnd(t, member)
}
