package child_test

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
)

// actorName is the variable that makes the test program a child; its value is what it does.
const actorName = "CHILD_TEST_ACTOR"

func TestMain(m *testing.M) {
	if does := os.Getenv(actorName); does != "" {
		name, arg, _ := strings.Cut(does, " ")
		act(name, arg)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// act is what the child does. It ends with code 0 if it returns.
func act(name, arg string) {
	n, _ := strconv.Atoi(arg) // 0 without a number
	switch name {
	case "echo":
		echo()
	case "exit":
		fmt.Fprintln(os.Stderr, "Error: it does not start")
		os.Exit(n)
	case "lines": // of one letter, without a reader of the input
		out := bufio.NewWriter(os.Stdout)
		for i := range n {
			fmt.Fprintln(out, i)
		}
		_ = out.Flush() // a host that is gone reads nothing
	case "long": // one line of n bytes and one of three
		fmt.Println(strings.Repeat("x", n))
		fmt.Println("end")
	case "endless":
		for {
			fmt.Print(strings.Repeat("x", 1<<20))
		}
	case "hesitant": // reads on only when a long line was received
		in := bufio.NewReaderSize(os.Stdin, 16)
		first, _ := in.Peek(1) // without input it ends
		fmt.Println("began")
		fmt.Println(strings.Repeat("-", 1<<20))
		if len(first) > 0 {
			echoFrom(in)
		}
	case "half":
		fmt.Print("whole\nhalf")
	case "flood": // n lines of standard error before a line
		for i := range n {
			fmt.Fprintln(os.Stderr, "warning", i, strings.Repeat("-", 80))
		}
		fmt.Println("done")
		echo()
	case "stderr":
		fmt.Fprint(os.Stderr, strings.ReplaceAll(arg, `\n`, "\n"))
	case "deaf": // reads nothing
		fmt.Println("ready")
		<-time.After(time.Hour)
	case "stays": // ignores the end of the input
		fmt.Println("ready")
		_, _ = bufio.NewReader(os.Stdin).ReadString(0)
		fmt.Println("end of input")
		<-time.After(time.Hour)
	default:
		actOnSystem(name, arg)
	}
}

// echo sends back each line.
func echo() { echoFrom(bufio.NewReader(os.Stdin)) }

func echoFrom(in *bufio.Reader) {
	for {
		line, err := in.ReadString('\n')
		fmt.Print(line)
		if err != nil {
			return
		}
	}
}

// config is that of a child that does something.
func config(t testing.TB, does string) child.Config {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return child.Config{Name: "pi", Path: self, Env: append(os.Environ(), actorName+"="+does), Dir: t.TempDir()}
}

func start(t testing.TB, c child.Config) *child.Child {
	t.Helper()
	got, err := child.Start(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, got.Close(t.Context())) })
	return got
}

// limit is how long something may take on a busy machine.
const limit = time.Minute

// line receives a line.
func line(t testing.TB, c *child.Child) string {
	t.Helper()
	select {
	case l, ok := <-c.Lines():
		require.True(t, ok, "no line: %s", c.Stderr())
		return string(l)
	case <-time.After(limit):
		require.FailNow(t, "no line came")
		return ""
	}
}

// noLine requires that no more lines come.
func noLine(t testing.TB, c *child.Child) {
	t.Helper()
	select {
	case l, ok := <-c.Lines():
		require.False(t, ok, "a line: %.80s", l)
	case <-time.After(limit):
		require.FailNow(t, "the lines do not end")
	}
}

// ended waits for the end of a child.
func ended(t testing.TB, c *child.Child) child.Exit {
	t.Helper()
	select {
	case <-c.Done():
	case <-time.After(limit):
		require.FailNow(t, "it has not ended")
	}
	return c.Exit()
}
