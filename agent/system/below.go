package system

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
)

const (
	// maxBelow bounds one file of instructions for a part of a project, in bytes: it comes with the
	// result of a tool.
	maxBelow = 16 << 10

	// maxLevels bounds how many directories above a file are searched.
	maxLevels = 16
)

// foreignDirs hold the code of other projects, whose instructions are for the people who work on them.
var foreignDirs = []string{".git", "node_modules", "vendor", "third_party", "site-packages", ".venv", "venv"}

// Below returns the instructions that hold for path, a file or directory below cwd, beside those of
// [Builder.Files]: from the directory below cwd down to that of path, so that the nearest comes last. A
// path that leaves cwd once links are followed has none, and neither has one in the code of other
// projects. The same files are left out as in Files.
//
// Differs: pi reads the instructions of the working directory and above only.
func (b Builder) Below(cwd, path string) (files []File) {
	cwd, path = sensitive.Resolve(b.Fs, cwd), sensitive.Resolve(b.Fs, path)
	rel, err := filepath.Rel(cwd, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return nil
	}
	parts := strings.Split(rel, string(filepath.Separator))
	if info, err := b.Fs.Stat(path); err != nil || !info.IsDir() {
		parts = parts[:len(parts)-1]
	}
	if len(parts) > maxLevels || slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(foreignDirs, strings.ToLower(p)) }) {
		return nil
	}
	r := reader{b, cwd, b.Private.Resolve(b.Fs)}
	for i := range parts {
		dir := filepath.Join(cwd, filepath.Join(parts[:i+1]...))
		if dir == filepath.Clean(b.AgentDir) {
			continue
		}
		if f, ok := r.first(dir, r.below); ok {
			if len(f.Content) > maxBelow {
				f.Content, f.Cut = strings.ToValidUTF8(f.Content[:maxBelow], ""), true
			}
			files = append(files, f)
		}
	}
	return files
}
