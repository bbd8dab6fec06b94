package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// start measures the time from starting a server to its first response.
func (p *programs) start(store) []entrant {
	list := []entrant{{name: "xcsh-ls initialize", argv: []string{p.cli}, session: initialize}}
	if p.piCLI != nil {
		list = append(list, entrant{name: "pi --mode rpc", argv: append(slices.Clone(p.piCLI), "--mode", "rpc", "--no-session"), session: rpcState})
	}
	return list
}

// initialize requests the capabilities of a language server.
func initialize(ctx context.Context, argv, env []string) (sample, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`
	return ask(ctx, argv, env, fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body), func(r *bufio.Reader) error {
		head, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "Content-Length:")))
		if err != nil {
			return err
		}
		answer := make([]byte, n+len("\r\n"))
		if _, err := io.ReadFull(r, answer); err != nil {
			return err
		}
		if !strings.Contains(string(answer), `"capabilities"`) {
			return fmt.Errorf("no capabilities in %s", answer)
		}
		return nil
	})
}

// rpcState requests the state of pi.
func rpcState(ctx context.Context, argv, env []string) (sample, error) {
	return ask(ctx, argv, env, `{"type":"get_state","id":"1"}`+"\n", func(r *bufio.Reader) error {
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return err
			}
			if strings.Contains(line, `"get_state"`) {
				return nil
			}
		}
	})
}

// ask starts a server, sends one request and ends the server. It measures the time until the response and
// the memory of the process at that moment.
func ask(ctx context.Context, argv, env []string, question string, answered func(*bufio.Reader) error) (sample, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return sample{}, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return sample{}, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return sample{}, err
	}
	_, err = io.WriteString(stdin, question)
	if err == nil {
		err = answered(bufio.NewReader(stdout))
	}
	s := sample{wall: ms(time.Since(start))}
	time.Sleep(100 * time.Millisecond) // the process is idle after the answer
	s.memory = residentNow(cmd.Process.Pid)
	_ = stdin.Close()
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	return s, err
}

// residentNow returns the resident size of a process in megabytes, or 0 if it is unknown.
func residentNow(pid int) float64 {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kb * 1024 / 1e6
		}
	}
	return 0
}
