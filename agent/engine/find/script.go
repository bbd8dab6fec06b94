package find

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// interpreter returns the interpreter that the first line of a script names; "" for a file that is none. onPath is that
// it is searched in the PATH, as in "#!/usr/bin/env node".
func interpreter(first string) (name string, onPath bool) {
	text, ok := strings.CutPrefix(first, "#!")
	fields := strings.Fields(text)
	if !ok || len(fields) == 0 {
		return "", false
	}
	if filepath.Base(fields[0]) != "env" {
		return fields[0], false
	}
	for _, field := range fields[1:] {
		if strings.HasPrefix(field, "-") || strings.Contains(field, "=") {
			continue
		}
		return field, !strings.ContainsRune(field, '/')
	}
	return "", false
}

// maxShim bounds the size of a script of cmd.exe that is read, in bytes.
const maxShim = 64 << 10

// npmShim is the line of npm's scripts for cmd.exe that runs a script of Node.js.
var npmShim = regexp.MustCompile(`"%(?:~dp0|dp0%)\\([^"%]+\.[cm]?js)"`)

// shimTarget returns the script of Node.js that a .cmd file of npm runs. Running it without cmd.exe avoids the quoting
// rules of that program, and ends Node.js together with its process.
func (m Machine) shimTarget(path string) (script string, ok bool) {
	if m.OS != "windows" || !strings.EqualFold(filepath.Ext(path), ".cmd") {
		return "", false
	}
	content, err := intake.ReadAll(m.Fs, path, maxShim)
	if err != nil {
		return "", false
	}
	found := npmShim.FindSubmatch(content)
	if found == nil {
		return "", false
	}
	return filepath.Join(filepath.Dir(path), filepath.FromSlash(strings.ReplaceAll(string(found[1]), `\`, "/"))), true
}
