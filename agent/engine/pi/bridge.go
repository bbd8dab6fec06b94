package pi

import (
	"crypto/rand"
	_ "embed" // the extension
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
)

// bridgeSource is the extension that is loaded into pi.
//
//go:embed bridge/xcsh-ls-host.ts
var bridgeSource []byte

// bridgeName is the base name of the extension's file.
const bridgeName = "xcsh-ls-host.ts"

// commandPrefix begins the names of the extension's commands. They are not shown to users.
const commandPrefix = "xcsh-ls-"

// The extension reads its settings from an environment variable, or from a file beside it, which it removes. omp's commands
// get the environment that omp itself was started with, and must not see the mark.
const (
	hostVariable = "XCSH_LS_HOST"
	hostFile     = "xcsh-ls-host.json"
)

// bridge is the extension's file, and the mark that its messages have.
type bridge struct {
	dir  string
	path string
	mark string
}

// writeBridge writes the extension into a new directory that only this user can enter. A new directory is made for
// each start, because the content of an existing one cannot be trusted.
func writeBridge() (_ *bridge, err error) {
	dir, err := os.MkdirTemp("", "xcsh-ls-pi-*") //nolint:forbidigo // mode 0700; pi reads it from the machine's own disk
	if err != nil {
		return nil, err
	}
	b := &bridge{dir: dir, path: filepath.Join(dir, bridgeName), mark: newMark()}
	// pi reports the resolved path of an extension.
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		b.path = filepath.Join(resolved, bridgeName)
	}
	if err := os.WriteFile(b.path, bridgeSource, 0o600); err != nil { //nolint:forbidigo // see above
		b.remove()
		return nil, err
	}
	return b, nil
}

// newMark returns a mark that other extensions cannot guess: 128 random bits.
func newMark() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return "xcsh-ls/1 " + hex.EncodeToString(random[:])
}

// hand gives the extension its settings. It returns the environment of the child.
func (b *bridge) hand(d dialect, env []string, setting string) ([]string, error) {
	if d.hides {
		return append(env, hostVariable+"="+setting), nil
	}
	return env, os.WriteFile(filepath.Join(b.dir, hostFile), []byte(setting), 0o600) //nolint:forbidigo // see writeBridge
}

// setting returns the settings of the extension.
func (b *bridge) setting(d dialect, files, permit bool) string {
	raw, _ := json.Marshal(struct {
		Mark    string   `json:"mark"`
		Files   bool     `json:"files"`
		Permit  bool     `json:"permit"`
		Builtin []string `json:"builtin,omitempty"`
	}{b.mark, files && d.files, permit, d.builtin})
	return string(raw)
}

func (b *bridge) remove() { _ = os.RemoveAll(b.dir) } //nolint:forbidigo // see writeBridge
