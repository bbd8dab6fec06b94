package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatDrivesTheProgramFromOutside is the rule of the column "Black box".
func TestWhatDrivesTheProgramFromOutside(t *testing.T) {
	t.Parallel()
	const (
		kit = "func (m *machine) command() *exec.Cmd { return exec.CommandContext(m.ctx, \"xcsh-ls\") }\n" +
			"func (m *machine) run() { m.command() }\n"
		proves = "\n// Proves: X-001\nfunc TestA(t *testing.T) {\n\t"
	)
	for name, tc := range map[string]struct {
		file, text string
		want       bool
	}{
		"a conversation":            {"testdata/conversations/a.txtar", "# Proves: X-001\n", true},
		"a script":                  {"cmd/xcsh-ls/testdata/script/a.txtar", "# Proves: X-001\n", true},
		"a client in JS":            {"cmd/xcsh-ls/testdata/a-client/a.test.mjs", "// Proves: X-001\ntest('a', f)\n", true},
		"an editor":                 {"editors/vscode/test/e2e/a.test.mjs", "// Proves: X-001\ntest('a', f)\n", true},
		"a module of an editor":     {"editors/vscode/test/unit/a.test.ts", "// Proves: X-001\ntest('a', f)\n", false},
		"Neovim with the server":    {"editors/neovim/tests/a_test.lua", "-- Proves: X-001\ncase('a', f)\nlocal h = require('harness')\n", true},
		"Neovim without the server": {"editors/neovim/tests/a_test.lua", "-- Proves: X-001\ncase('a', f)\n", false},
		"a server over pipes":       {"cmd/xcsh-ls/a_test.go", "package main\n" + proves + "lsptest.Start(t, o)\n}\n", true},
		"a process":                 {"cmd/xcsh-ls/a_test.go", "package main\n" + kit + proves + "m.run()\n}\n", true},
		"a process of an attack":    {"attack/a_test.go", "package a\n" + proves + "exec.Command(program, \"list\")\n}\n", true},
		"in a subtest":              {"attack/a_test.go", "package a\n" + kit + proves + "t.Run(\"\", func(t *testing.T) { m.run() })\n}\n", true},
		"another program":           {"cmd/xcsh-ls/a_test.go", "package main\n" + kit + proves + "exec.Command(\"git\")\n}\n", false},
		"functions of the package":  {"cmd/xcsh-ls/a_test.go", "package main\n" + kit + proves + "parse()\n}\n", false},
		"a function, not a method":  {"cmd/xcsh-ls/a_test.go", "package main\n" + kit + proves + "run()\n}\n", false},
		"a server in parts":         {"lsp/a_test.go", "package lsp\n" + proves + "lsptest.Start(t, o)\n}\n", false},
		"a package":                 {"session/a_test.go", "package session\n" + proves + "Open(t)\n}\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tests, err := scan(repository(t, map[string]string{tc.file: tc.text}))
			require.NoError(t, err)
			require.Len(t, tests.proofs["X-001"], 1)
			require.Equal(t, tc.want, tests.proofs["X-001"][0].outside)
		})
	}
}
