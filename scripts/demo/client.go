package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// client speaks LSP with a server that is its child. It is minimal: one request at a time,
// notifications ignored.
type client struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	log bytes.Buffer
	id  int
}

func start(ctx context.Context, server, home string) (*client, error) {
	c := &client{cmd: exec.CommandContext(ctx, server, "--stdio")}
	c.cmd.Env = append(os.Environ(), "HOME="+home, "PI_CODING_AGENT_DIR=", "PI_CONFIG_DIR=", "XDG_DATA_HOME=", "XDG_STATE_HOME=")
	c.cmd.Stderr = &c.log
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	return c, c.cmd.Start()
}

func (c *client) stop() error {
	err := c.call("shutdown", nil, nil)
	return errors.Join(err, c.notify("exit", nil), c.cmd.Wait())
}

func (c *client) run(command string, args, result any) error {
	err := c.call("workspace/executeCommand", map[string]any{"command": command, "arguments": []any{args}}, result)
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	return nil
}

func (c *client) notify(method string, params any) error {
	return c.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func (c *client) send(message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

func (c *client) call(method string, params, result any) error {
	c.id++
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params}); err != nil {
		return err
	}
	for {
		body, err := c.receive()
		if err != nil {
			return err
		}
		var answer struct {
			ID     *int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			return err
		}
		switch {
		case answer.ID == nil || *answer.ID != c.id:
			continue
		case answer.Error != nil:
			return errors.New(answer.Error.Message)
		case result == nil:
			return nil
		}
		return json.Unmarshal(answer.Result, result)
	}
}

func (c *client) receive() ([]byte, error) {
	length := 0
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if length, err = strconv.Atoi(value); err != nil {
				return nil, err
			}
		}
	}
	body := make([]byte, length)
	_, err := io.ReadFull(c.out, body)
	return body, err
}
