package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/schema"
	"github.com/xcsh-ls/xcsh-ls/internal/filestat"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

const (
	maxTools      = 32
	maxExecutable = 64 << 20 // bytes
)

// Folder is the user's folder of tools.
type Folder struct {
	Fs    afero.Fs
	Dir   string     // absolute; it need not exist
	Shell tool.Shell // runs the executables

	// Taken are the names of other tools, which no manifest can have.
	Taken []string

	// Check fails, with a sentence for the user, if no file of Dir may be run in the workspace folder cwd.
	// It is called before each call, and with "" by Load; nil: they may be run.
	Check func(cwd string) error

	// ReadOnly reports whether the user confirmed that the tool with this name and digest only reads.
	// nil: none does.
	ReadOnly func(name, digest string) bool

	// Report receives a sentence for the user about each manifest that is not used; nil drops them.
	Report func(text string)
}

// Tool is a tool of a folder.
type Tool struct {
	tool.Tool
	Executable string // absolute
	ReadOnly   bool   // it is declared to only read
	Confirmed  bool   // the user confirmed that
}

// Load returns the tools of the folder in the order of their files' names. A manifest that must not be
// used is reported and left out.
func (f Folder) Load() []Tool {
	entries, err := f.entries()
	if err != nil {
		f.report("The tools in %s are not used: %s.", f.Dir, err)
		return nil
	}
	if len(entries) == 0 {
		return nil
	}
	if f.Check != nil {
		if err := f.Check(""); err != nil {
			f.report("%s", err)
			return nil
		}
	}
	var tools []Tool
	taken := map[string]bool{}
	for _, name := range f.Taken {
		taken[strings.ToLower(name)] = true
	}
	for _, name := range entries {
		t, err := f.load(name)
		switch folded := strings.ToLower(t.Name); {
		case err != nil:
		case taken[folded]:
			err = fmt.Errorf("its name %q is that of another tool", t.Name)
		case len(tools) == maxTools:
			err = fmt.Errorf("there are more than %d tools", maxTools)
		default:
			taken[folded] = true
			tools = append(tools, t)
		}
		if err != nil {
			f.report("The tool of %s is not used: %s.", filepath.Join(f.Dir, tool.Printable(name)), strings.TrimSuffix(err.Error(), "."))
		}
	}
	return tools
}

func (f Folder) report(format string, args ...any) {
	if f.Report != nil {
		f.Report(fmt.Sprintf(format, args...))
	}
}

// entries returns the names of the manifest files, sorted.
func (f Folder) entries() ([]string, error) {
	if !filepath.IsAbs(f.Dir) {
		return nil, nil // it would be relative to the workspace
	}
	info, err := filestat.Lstat(f.Fs, f.Dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errors.New("the folder is a link")
	case !info.IsDir():
		return nil, errors.New("it is not a folder")
	case intake.Foreign(info):
		return nil, others(f.Dir)
	}
	all, err := afero.ReadDir(f.Fs, f.Dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range all {
		if strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// load makes the tool of one manifest.
func (f Folder) load(name string) (Tool, error) {
	raw, err := f.readOwn(name, maxManifest)
	if err != nil {
		return Tool{}, err
	}
	m, err := parse(raw)
	if err != nil {
		return Tool{}, err
	}
	p, err := schema.New(m.Name, m.Parameters)
	if err != nil {
		return Tool{}, err
	}
	digest, err := f.digest(name, m.Executable)
	if err != nil {
		return Tool{}, err
	}
	c := call{folder: f, manifest: m, file: name, digest: digest, parameters: p}
	return c.tool(), nil
}

// readOwn reads a file of the folder that only the user can have written.
func (f Folder) readOwn(name string, limit int64) ([]byte, error) {
	path := f.Dir
	parts := strings.Split(filepath.ToSlash(name), "/")
	for i, part := range parts {
		path = filepath.Join(path, part)
		info, err := filestat.Lstat(f.Fs, path)
		switch {
		case err != nil:
			return nil, err
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, fmt.Errorf("%s is a link", tool.Printable(path))
		case i < len(parts)-1 && !info.IsDir(), i == len(parts)-1 && !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is not a file", tool.Printable(path))
		case intake.Foreign(info):
			return nil, others(path)
		}
	}
	return intake.ReadAll(f.Fs, path, limit)
}

func others(path string) error {
	return fmt.Errorf("other users can write to %s; remove the permission with: chmod go-w '%s'", tool.Printable(path), tool.Printable(path))
}

// digest returns the digest of a manifest and its executable, and checks that both may be used.
func (f Folder) digest(name, executable string) (string, error) {
	raw, err := f.readOwn(name, maxManifest)
	if err != nil {
		return "", err
	}
	program, err := f.readOwn(executable, maxExecutable)
	if err != nil {
		return "", err
	}
	path := f.path(executable)
	info, err := f.Fs.Stat(path)
	if err != nil {
		return "", err
	}
	if !isExecutable(path, info) {
		return "", fmt.Errorf("%s is not executable", tool.Printable(path))
	}
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q %x\n%q %x\n", name, sha256.Sum256(raw), executable, sha256.Sum256(program)) // a hash takes everything
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (f Folder) path(executable string) string {
	return filepath.Join(f.Dir, filepath.FromSlash(executable))
}

func isExecutable(path string, info fs.FileInfo) bool {
	if runtime.GOOS == "windows" {
		return slices.Contains([]string{".exe", ".com", ".bat", ".cmd"}, strings.ToLower(filepath.Ext(path)))
	}
	return info.Mode()&0o111 != 0
}
