package attack

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// A log may be read in a terminal, whether it was written to standard error or to a file.
func TestLogsSteerNoTerminal(t *testing.T) {
	v := newVictim(t)
	path := v.hostileSession()
	v.Script("m", providertest.Reply{Text: steering, ToolCalls: []providertest.Call{{Name: steering, Args: map[string]any{"command": steering}}}}, providertest.Reply{Text: "Done."})
	v.write(v.path("\u202e\u009b2J/AGENTS.md"), "x")
	log := v.path("log")
	for _, args := range [][]string{{"run", "--model", "fake/m", "--resume", path, "go"}, {"doctor", path}, {"list", steering}, {"dump", steering}} {
		requireQuiet(t, args[0], v.run(append(args, "--log-level", "debug")...))
		v.run(append(args, "--log-level", "debug", "--log-file", log)...)
	}
	requireSteersNothing(t, "log file", v.read(log))

	cmd := v.command("--stdio", "--log-level", "debug")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	body := func(s string) string {
		return "Content-Length: " + strconv.Itoa(len(s)) + "\r\n\r\n" + s
	}
	uri := "untitled:" + "\u009b2J\u202e\x7f"
	cmd.Stdin = strings.NewReader(body(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"clientInfo":{"name":"`+uri+`"},"rootUri":"`+uri+`","workspaceFolders":[{"uri":"`+uri+`","name":"`+uri+`"}],"initializationOptions":{"`+uri+`":1}}}`) +
		body(`{"jsonrpc":"2.0","method":"initialized","params":{}}`) + body(`{"jsonrpc":"2.0","method":"`+uri+`","params":{}}`) + body(`{"jsonrpc":"2.0","id":2,"method":"`+uri+`","params":{}}`) +
		body(`{"jsonrpc":"2.0","id":3,"method":"shutdown"}`) + body(`{"jsonrpc":"2.0","method":"exit"}`))
	_ = cmd.Run() // only the log matters
	require.Contains(t, errs.String(), "untitled:")
	requireSteersNothing(t, "log of the server", errs.String())
}
