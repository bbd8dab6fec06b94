package look

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/internal/durable"
)

// saved is a look in a file, so that another process can complete it if this one dies while the command runs.
type saved struct {
	V      int                     `json:"v"`
	Folder string                  `json:"folder"`
	Head   change.Git              `json:"head"`
	Limits []string                `json:"limits,omitempty"`
	Roots  []savedRoot             `json:"roots,omitempty"`
	Scan   string                  `json:"scan,omitempty"` // the folder
	Kept   map[string]change.State `json:"kept,omitempty"`
	Blind  []string                `json:"blind,omitempty"`
}

type savedRoot struct {
	Top       string                  `json:"top"`
	IndexFile string                  `json:"indexFile"`
	Info      string                  `json:"info"`
	Private   *private                `json:"private"`
	Nested    []string                `json:"nested,omitempty"`
	Ignored   ignored                 `json:"ignored"`
	Kept      map[string]change.State `json:"kept,omitempty"`
	Over      map[string]string       `json:"over,omitempty"`
}

// Save writes the look to a file of fsys, which need not be that of the folder.
func (l *Look) Save(fsys afero.Fs, path string) error {
	s := saved{V: 1, Folder: l.o.Folder, Head: l.head, Limits: l.limits}
	if l.scan != nil {
		s.Scan, s.Kept, s.Blind = l.scan.folder, l.scan.kept, l.scan.blind
	}
	for _, r := range l.roots {
		s.Roots = append(s.Roots, savedRoot{r.top, r.indexFile, r.info, r.own, r.nested, r.ignored, r.kept, r.over})
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return durable.WriteFile(fsys, path, raw, 0o600)
}

// Load reads a look that another process saved in fsys. It fails if the folder differs from that of the options: the file is not trusted.
func Load(fsys afero.Fs, path string, o Options) (*Look, error) {
	raw, err := afero.ReadFile(fsys, path)
	if err != nil {
		return nil, err
	}
	var s saved
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	if s.V != 1 || s.Folder != o.Folder || len(s.Roots) > maxNested+1 {
		return nil, errNoRepository
	}
	l := newLook(o)
	l.head, l.limits = s.Head, s.Limits
	if s.Scan != "" {
		l.scan = &scan{folder: l.folder, kept: map[string]change.State{}, blind: s.Blind}
		for path, st := range s.Kept {
			if rel, err := filepath.Rel(l.folder, path); err == nil && filepath.IsLocal(rel) {
				l.scan.kept[path] = st
			}
		}
	}
	for _, sr := range s.Roots {
		r, err := sr.root(o, l.roots)
		if err != nil {
			return nil, err
		}
		l.roots = append(l.roots, r)
		l.close = append(l.close, r.close)
	}
	return l, nil
}

// root restores a saved root. It fails unless the root belongs to the folder, and its private repository was created by a look.
func (s savedRoot) root(o Options, above []*root) (*root, error) {
	if s.Private == nil || filepath.Dir(s.Private.Dir) != o.temp() || !strings.HasPrefix(filepath.Base(s.Private.Dir), privatePrefix) {
		return nil, errNoRepository
	}
	outer, inner := s.Top, realPath(o.Folder)
	if len(above) > 0 {
		outer, inner = above[0].top, s.Top
	}
	if rel, err := filepath.Rel(outer, inner); err != nil || !filepath.IsLocal(rel) {
		return nil, errNoRepository
	}
	plain := git{dir: s.Top, env: o.Env}
	r := &root{
		plain: plain, git: plain, top: s.Top, indexFile: s.IndexFile, info: s.Info, nested: s.Nested, ignored: s.Ignored,
		kept: map[string]change.State{}, over: s.Over, fs: o.Fs,
	}
	r.own = s.Private
	for abs, st := range s.Kept {
		if rel, err := filepath.Rel(s.Top, abs); err == nil && filepath.IsLocal(rel) {
			r.kept[abs] = st
		}
	}
	return r, nil
}
