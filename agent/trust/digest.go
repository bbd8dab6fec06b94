package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// maxDigested bounds each file of a digest, in bytes.
const maxDigested = 16 << 20

// agentFiles are the files of an agent directory that decide which data is sent where, which
// programs are executed and which instructions a model gets. Sessions and the prompt history are
// data.
var agentFiles = []string{
	"models.json", "auth.json", "AGENTS.md", "CLAUDE.md",
	"share", "share.ts", "share.js", "share.mjs", "share.exe", "share.cmd", "share.bat",
}

// hooksDir has further ones, under any name.
var hooksDir = filepath.Join("xcsh-ls", "hooks")

// DigestAgentDir returns the digest of those files of the agent directory dir that control the
// program. It fails if one of the files cannot be read, is not regular or is very large.
func DigestAgentDir(fsys afero.Fs, dir string) (string, error) {
	names := slices.Clone(agentFiles)
	hooks, err := afero.ReadDir(fsys, filepath.Join(dir, hooksDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, h := range hooks {
		names = append(names, filepath.Join(hooksDir, h.Name()))
	}
	return Digest(fsys, dir, names)
}

// Digest returns the digest of the files in dir that have one of the names. A missing file
// counts as such, a directory by its name. The order of the names does not matter.
func Digest(fsys afero.Fs, dir string, names []string) (string, error) {
	names = slices.Clone(names)
	slices.Sort(names)
	sum := sha256.New()
	for _, name := range slices.Compact(names) {
		path := filepath.Join(dir, name)
		info, err := fsys.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", err
		case info.IsDir():
			_, _ = fmt.Fprintf(sum, "%q directory\n", name) // a hash takes everything
			continue
		}
		raw, err := intake.ReadAll(fsys, path, maxDigested)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(sum, "%q %o %x\n", name, info.Mode().Perm()&0o111, sha256.Sum256(raw))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
