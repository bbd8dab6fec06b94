// Package child runs a server as an editor does, as a child process with the protocol on its standard input
// and output, and measures the cost of single commands: the time until the complete answer has arrived, and the
// processor time and memory of the server.
package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Config describes a server and its surroundings.
type Config struct {
	Program  string
	Home     string         // the home directory of the server
	AgentDir string         // its agent directory, with its cache
	Folder   string         // the only workspace folder
	Options  map[string]any // further initialization options
	Env      []string       // additions to the environment

	// Watch is called with each notification and the time at which its last byte had arrived, by the goroutine that reads. It owns
	// the content. nil: notifications are ignored.
	Watch func(content []byte, at time.Time)

	// Quiet is how long the server must use no processor time before and after a measured command, so that
	// its work in the background is measured as part of the command. 0 does not wait.
	Quiet time.Duration
}

// Server is a running server. Its methods are for one goroutine.
type Server struct {
	cmd *exec.Cmd
	in  io.WriteCloser

	writing sync.Mutex // serializes messages: those of the caller, and of the reader, which refuses requests

	answer chan response
	failed chan error // why reading ended, once
	keep   chan bool  // whether the next answer is kept, for the reader
	stderr tail
	watch  func(content []byte, at time.Time)
	quiet  time.Duration
	lastID int
	offers map[string]map[string]bool // arguments by command
}

// response is an answer, and when its last byte had arrived.
type response struct {
	Answer

	at time.Time
}

// timeout bounds a single command, so that a server that hangs ends the run.
const timeout = 20 * time.Minute

// Start starts a server and initializes it. The returned cost is that of the start, until initialize was answered.
func Start(ctx context.Context, c Config) (*Server, Cost, error) {
	s := &Server{
		cmd:    exec.CommandContext(ctx, c.Program, "--stdio", "--log-level", "error"),
		answer: make(chan response), failed: make(chan error, 1), keep: make(chan bool, 1), quiet: c.Quiet, watch: c.Watch,
	}
	s.cmd.Env = append(environment(c.Home), c.Env...)
	s.cmd.Dir = c.Home
	s.cmd.Stderr = &s.stderr
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, Cost{}, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, Cost{}, err
	}
	s.in = in
	start := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, Cost{}, err
	}
	go s.read(bufio.NewReaderSize(out, 1<<20))
	cost, err := s.initialize(c, start)
	if err != nil {
		s.Kill()
		return nil, Cost{}, err
	}
	return s, cost, nil
}

// environment is that of this process, without what would show the server other sessions or another cache.
func environment(home string) (env []string) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "PI_") && name != "HOME" && name != "USERPROFILE" {
			env = append(env, v)
		}
	}
	return append(env, "HOME="+home, "USERPROFILE="+home)
}

func (s *Server) initialize(c Config, start time.Time) (Cost, error) {
	options := map[string]any{
		"agentDir": c.AgentDir, "ui": map[string]any{"pick": true}, "export": map[string]any{"open": false},
		"showResumeSummary": false, "rememberModel": false,
	}
	maps.Copy(options, c.Options)
	answer, err := s.request("initialize", map[string]any{
		"processId": os.Getpid(), "capabilities": map[string]any{}, "initializationOptions": options,
		"workspaceFolders": []map[string]string{{"uri": "file://" + c.Folder, "name": "folder"}},
	}, true)
	if err != nil {
		return Cost{}, err
	}
	cost := Cost{Wall: answer.at.Sub(start), CPU: processorTime(s.cmd.Process.Pid), Peak: peakMemory(s.cmd.Process.Pid), Bytes: answer.Size}
	if err := s.learn(answer.Result); err != nil {
		return Cost{}, err
	}
	return cost, s.send(map[string]any{"method": "initialized", "params": map[string]any{}})
}

// learn keeps which commands and arguments the server offers.
func (s *Server) learn(result json.RawMessage) error {
	var offered struct {
		Capabilities struct {
			Experimental struct {
				Xcsh struct {
					Commands []struct {
						Name string
						Args struct{ Properties map[string]json.RawMessage }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(result, &offered); err != nil {
		return err
	}
	s.offers = map[string]map[string]bool{}
	for _, c := range offered.Capabilities.Experimental.Xcsh.Commands {
		s.offers[c.Name] = map[string]bool{}
		for name := range c.Args.Properties {
			s.offers[c.Name][name] = true
		}
	}
	return nil
}

// Offers reports whether the server has a command with an argument; "" stands for any.
func (s *Server) Offers(command, argument string) bool {
	args, ok := s.offers[command]
	return ok && (argument == "" || args[argument])
}

// Call runs a command and returns its complete answer.
func (s *Server) Call(command string, args map[string]any) (Answer, error) {
	r, err := s.request("workspace/executeCommand", params(command, args), true)
	return r.Answer, err
}

func params(command string, args map[string]any) map[string]any {
	if args == nil {
		args = map[string]any{}
	}
	return map[string]any{"command": command, "arguments": []any{args}}
}

// request sends a request and waits for its answer. Of an answer that is not kept only the size is known.
func (s *Server) request(method string, params any, keep bool) (response, error) {
	s.lastID++
	s.keep <- keep
	if err := s.send(map[string]any{"id": s.lastID, "method": method, "params": params}); err != nil {
		return response{}, err
	}
	limit := time.NewTimer(timeout)
	defer limit.Stop()
	select {
	case r := <-s.answer:
		if r.ID != s.lastID {
			return response{}, fmt.Errorf("%s: answer to %d instead of %d", method, r.ID, s.lastID)
		}
		return r, nil
	case err := <-s.failed:
		s.Kill() // which waits for the end of its log
		return response{}, fmt.Errorf("%s: the server ended: %w: %s", method, err, s.stderr.text())
	case <-limit.C:
		return response{}, fmt.Errorf("%s: no answer within %v", method, timeout)
	}
}

func (s *Server) send(message map[string]any) error {
	message["jsonrpc"] = "2.0"
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err = fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// Close ends the server as an editor does, so that it completes its work, and waits for its end.
func (s *Server) Close() error {
	if _, err := s.request("shutdown", nil, true); err != nil {
		s.Kill()
		return err
	}
	err := s.send(map[string]any{"method": "exit"})
	err = errors.Join(err, s.in.Close())
	if ended := <-s.failed; !errors.Is(ended, io.EOF) { // all output was read
		err = errors.Join(err, ended)
	}
	return errors.Join(err, s.cmd.Wait())
}

// Kill ends the server at once.
func (s *Server) Kill() {
	_ = s.in.Close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
}
