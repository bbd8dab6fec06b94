package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// sandboxCommand restricts the rights of this process and then executes another program. The restriction
// is permanent and applies to the whole process, so the server cannot do this itself.
func sandboxCommand() *cobra.Command {
	var policy string
	c := &cobra.Command{
		Use: "sandbox-exec --policy JSON -- PROGRAM [ARG]...", Hidden: true, DisableFlagsInUseLine: true,
		Short: "Run a program with restricted rights",
		Args:  takes(1, math.MaxInt, "PROGRAM"),
		RunE: func(_ *cobra.Command, args []string) error {
			var p sandbox.Policy
			if err := json.Unmarshal([]byte(policy), &p); err != nil {
				return fault.New(fault.InvalidArgument, "--policy is not valid JSON: %w", err)
			}
			return sandbox.Exec(p, args)
		},
	}
	c.Flags().StringVar(&policy, "policy", "", "sandbox policy as `JSON`")
	return c
}

// self returns the path of this program, which the sandbox runs again as its launcher.
var self = os.Executable

// newBox returns the sandbox for the commands of models. It is nil if this machine has none or the user
// turned it off; every command then requires approval.
func (p place) newBox(mode string, deny func() []string, log *zap.Logger) *sandbox.Box {
	if mode == "off" || !sandbox.Supported().OK {
		return nil
	}
	program, err := self()
	if err != nil {
		log.Warn("sandbox disabled because the path of this program is unknown", zap.Error(err))
		return nil
	}
	env := p.env
	return &sandbox.Box{
		Launcher: []string{program, "sandbox-exec", "--policy"}, Home: env.Home, Temp: env.Temp, OS: env.OS, Getenv: env.Getenv,
		Deny: deny, Rules: p.sandboxRules(),
	}
}

// sandboxRules returns the user's additions to the sandbox's rights.
func (p place) sandboxRules() *sandbox.Rules {
	return &sandbox.Rules{Fs: p.fs, Path: filepath.Join(p.rules(), "sandbox.json"), Home: p.env.Home}
}
