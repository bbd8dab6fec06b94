package look

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// facts is cached data of the index besides contents. It is valid until the index or the attributes change.
type facts struct {
	of      string   // identifies the index and the attributes
	modules []string // submodules
	unsure  []string // files whose content is not that of the index: they have a filter, or git is set to ignore their changes
}

const maxUnsure = 2000

// factsOf returns the facts of a root.
func (m *Memory) factsOf(ctx context.Context, r *root) (facts, error) {
	of := strings.Join(r.own.Filters, " ") + "\n" +
		r.identities(r.indexFile, filepath.Join(r.top, ".gitattributes"), filepath.Join(r.info, "attributes"))
	m.mu.Lock()
	known, ok := m.facts[r.top]
	m.mu.Unlock()
	if ok && known.of == of {
		return known, nil
	}
	f := facts{of: of}
	var filtered []string
	err := together(func() error {
		lines, err := r.names(ctx, "ls-files", "-z", "-v", "--stage")
		for _, line := range lines { // "H mode hash stage\tpath", with a lower-case letter for a file whose changes git ignores
			head, rel, _ := strings.Cut(line, "\t")
			switch tag, rest, _ := strings.Cut(head, " "); {
			case strings.HasPrefix(rest, modeSubmodule):
				f.modules = append(f.modules, rel)
			case len(tag) == 1 && tag[0] >= 'a' && tag[0] <= 'z':
				f.unsure = append(f.unsure, rel)
			}
		}
		return err
	}, func() (err error) {
		filtered, err = r.withFilter(ctx)
		return err
	})
	if err != nil {
		return f, err
	}
	f.unsure = append(f.unsure, filtered...)
	if len(f.unsure) > maxUnsure {
		f.unsure = f.unsure[:maxUnsure]
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.facts == nil {
		m.facts = map[string]facts{}
	}
	m.facts[r.top] = f
	return f, nil
}

// withFilter returns the tracked files with an attribute that names a filter of the settings.
func (r *root) withFilter(ctx context.Context) ([]string, error) {
	args := []string{"ls-files", "-z", "--"}
	for _, name := range r.own.Filters {
		if name != "" && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-_") == "" {
			args = append(args, ":(attr:filter="+name+")")
		}
	}
	if len(args) == 3 {
		return nil, nil
	}
	files, err := r.names(ctx, args...)
	slices.Sort(files)
	return slices.Compact(files), err
}
