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
	"models.json", "models.yml", "models.yaml", "auth.json", "AGENTS.md", "CLAUDE.md",
	"AGENTS.override.md", "AGENTS.MD", "CLAUDE.MD", "XCSH.md", "SYSTEM.md", "APPEND_SYSTEM.md", "RULES.md",
	"mcp.json", ".mcp.json",
	"share", "share.ts", "share.js", "share.mjs", "share.exe", "share.cmd", "share.bat",
}

// agentSubdirs have further ones, under any name; deepDirs also in directories of their own.
var (
	agentSubdirs = []string{filepath.Join("xcsh-ls", "hooks"), "rules", "prompts", "commands"}
	deepDirs     = []string{filepath.Join("xcsh-ls", "tools"), "skills"}
)

// maxDepth bounds the directories within each other in deepDirs, and maxToolFiles their files.
const (
	maxDepth     = 8
	maxToolFiles = 1000
)

// DigestAgentDir returns the digest of those files of the agent directory dir that control the
// program. It fails if one of the files cannot be read, is not regular or is very large.
func DigestAgentDir(fsys afero.Fs, dir string) (string, error) {
	names := slices.Clone(agentFiles)
	for _, sub := range agentSubdirs {
		files, err := afero.ReadDir(fsys, filepath.Join(dir, sub))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		for _, f := range files {
			names = append(names, filepath.Join(sub, f.Name()))
		}
	}
	for _, deep := range deepDirs {
		files, err := below(fsys, dir, deep, maxDepth)
		if err != nil {
			return "", err
		}
		names = append(names, files...)
	}
	return Digest(fsys, dir, names)
}

// below returns the names of the files in a directory of dir and in the directories below it. It follows
// no links to directories: the tools there are not used.
func below(fsys afero.Fs, dir, name string, depth int) (names []string, err error) {
	if depth == 0 {
		return nil, fmt.Errorf("%s has too many directories within each other", filepath.Join(dir, name))
	}
	entries, err := afero.ReadDir(fsys, filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(name, e.Name())
		if !e.IsDir() {
			names = append(names, path)
		} else if more, err := below(fsys, dir, path, depth-1); err != nil {
			return nil, err
		} else {
			names = append(names, more...)
		}
		if len(names) > maxToolFiles {
			return nil, fmt.Errorf("%s has more than %d files", filepath.Join(dir, name), maxToolFiles)
		}
	}
	return names, nil
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
