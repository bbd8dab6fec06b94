// Command gen writes every file that repeats the list of commands, for the editors' plugins and for users. One
// function both writes and checks the files, so that TestGenerated and "make gen" cannot disagree.
//
//	go run ./commands/gen          writes them
//	go run ./commands/gen -check   names those that are stale and fails
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/commands"
)

// output is one generated file. render gets the current file, because some files are generated only in part.
type output struct {
	path   string // relative to the module's root
	render func(table *commands.Table, old []byte) ([]byte, error)
}

var outputs = []output{
	{"commands/manifest.gen.json", manifestJSON},
	{"docs/commands.md", commandsMarkdown},
	{"docs/protocol.md", protocolMarkdown},
	{"editors/vscode/package.json", packageJSON},
	{"editors/vscode/package.nls.json", packageTitles},
	{"editors/vscode/src/commands.gen.ts", typeScript},
	{"editors/vscode/src/wire.gen.ts", wireTypeScript},
	{"editors/neovim/lua/xcsh/commands_gen.lua", lua},
	{"editors/neovim/lua/xcsh/wire_gen.lua", luaWire},
	{"editors/neovim/plugin/xcsh.lua", luaPalette},
}

func main() {
	check := flag.Bool("check", false, "only name the files that are stale")
	root := flag.String("root", ".", "directory of go.mod")
	flag.Parse()
	stale, err := generate(*root, !*check)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
	for _, path := range stale {
		fmt.Println(path)
	}
	if *check && len(stale) > 0 {
		fmt.Fprintln(os.Stderr, "gen: these files are stale; run make gen")
		os.Exit(1)
	}
}

// generate renders every output and returns the paths of those that differ from the files on disk. If
// write is set, it writes them.
func generate(root string, write bool) (stale []string, err error) {
	for _, o := range outputs {
		path := filepath.Join(root, filepath.FromSlash(o.path))
		old, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		text, err := o.render(commands.Default, old)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.path, err)
		}
		if bytes.Equal(old, text) {
			continue
		}
		stale = append(stale, o.path)
		if !write {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // a source file of the repository, for everyone to read
			return nil, err
		}
	}
	return stale, nil
}
