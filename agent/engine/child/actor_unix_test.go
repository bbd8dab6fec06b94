//go:build unix

package child_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
)

// actOnSystem is what a child does that needs signals.
func actOnSystem(name, arg string) {
	switch name {
	case "stubborn": // ignores the end of the input and SIGTERM
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		<-time.After(time.Hour)
	case "cleans": // ends at SIGTERM, with a code
		got := make(chan os.Signal, 1)
		signal.Notify(got, syscall.SIGTERM)
		fmt.Println("ready")
		<-got
		os.Exit(143)
	case "stopped":
		fmt.Println("ready")
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		<-time.After(time.Hour)
	case "shell": // a script, which has the output of this process
		cmd := exec.CommandContext(context.Background(), "sh", "-c", arg)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			os.Exit(1)
		}
	case "server": // starts a child, prints its id, and waits
		self, _ := os.Executable() // without it the start fails
		c, err := child.Start(context.Background(), child.Config{Path: self, Env: []string{actorName + "=echo"}, Dir: "/"})
		if err != nil {
			panic(err)
		}
		fmt.Println(c.Pid())
		_, _ = io.Copy(io.Discard, os.Stdin)
	default:
		panic("unknown: " + name + " " + arg)
	}
}
