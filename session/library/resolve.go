package library

import (
	"cmp"
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// ResolveOptions say where to look for a session.
type ResolveOptions struct {
	Scope      string // "": the folder, then everywhere; "folder"; "all"
	SessionDir string // instead of Finder.SessionDir; nothing else is searched
}

// Resolution is the result of resolving a target.
type Resolution struct {
	Matches []Info `json:"matches"` // the strongest first, then as in a list
	Scope   string `json:"scope"`   // "path", "local" or "global"
	Target  string `json:"-"`

	strongest int // number of Matches of the strongest class
}

// candidate is one of several sessions that a target may refer to.
type candidate struct {
	Path     string `json:"path"`
	ID       string `json:"id"`
	Name     string `json:"name"`
	Cwd      string `json:"cwd"`
	Modified string `json:"modified"`
}

// One returns the session that the target refers to. Without any the error is of kind
// notFound. With several it is of kind ambiguous and has the candidates, unless only one
// is of the strongest class: a complete id means that session and not those whose ids
// continue it.
//
// Differs: the originals take the newest of several silently.
func (r Resolution) One() (Info, error) {
	switch {
	case len(r.Matches) == 0:
		return Info{}, fault.New(fault.NotFound, "Session %q not found.", r.Target)
	case len(r.Matches) == 1 || r.strongest == 1:
		return r.Matches[0], nil
	}
	candidates := make([]candidate, 0, len(r.Matches))
	for _, m := range r.Matches {
		candidates = append(candidates, candidate{Path: m.Path, ID: m.ID, Name: m.Name, Cwd: m.Cwd, Modified: m.Modified})
	}
	return Info{}, fault.New(fault.Ambiguous, "%d sessions match %q.", len(r.Matches), r.Target).With("candidates", candidates)
}

// Resolve finds the sessions that target refers to. A path (see [Finder.TargetPath]) is that
// file. Any other target is compared, ignoring case, with ids, file names, titles and slugs:
// first of the sessions of cwd, then of all others, unless a session directory is forced. An
// empty target refers to nothing.
//
// Sessions without messages are only found by their whole id, file name or path.
//
// The error is of kind notFound for a missing path, and of kind damaged for a file that is
// not a session, also if it matches only by its name. No match is not an error, see
// [Resolution.One].
func (f Finder) Resolve(ctx context.Context, cwd, target string, opts ResolveOptions) (Resolution, error) {
	r := Resolution{Target: target, Scope: "local", Matches: []Info{}}
	path, isPath, err := f.TargetPath(cwd, target)
	if err != nil {
		return r, err
	}
	var missing error
	if isPath {
		info, err := f.describeBriefly(path)
		if err == nil {
			r.Scope, r.Matches, r.strongest = "path", []Info{info}, 1
			return r, nil
		}
		if !fault.Is(err, fault.NotFound) || strings.ContainsAny(target, `/\`) {
			return r, err
		}
		missing = err // a bare file name may still be one in a session directory
	}
	m := matcher{f: f, want: strings.ToLower(strings.TrimSpace(target))}
	if m.want == "" {
		return r, nil
	}
	if r, err = m.search(ctx, cwd, r, opts); err == nil && len(r.Matches) == 0 && missing != nil {
		err = missing
	}
	return r, err
}

// TargetPath returns the file that target names, if it is a path: a file: URI, or anything
// with a slash or backslash, or that ends in .jsonl. It is absolute, relative ones being
// relative to cwd, and need not exist. A NUL byte and a URI of another machine are errors
// of kind invalidArgument.
func (f Finder) TargetPath(cwd, target string) (path string, ok bool, err error) {
	path = target
	if len(target) >= 5 && strings.EqualFold(target[:5], "file:") {
		if path, err = uriPath(target); err != nil {
			return "", false, err
		}
	} else if !strings.ContainsAny(target, `/\`) && !strings.HasSuffix(target, ".jsonl") && target != ".." {
		return "", false, noNUL(target)
	}
	if err := noNUL(path); err != nil {
		return "", false, err
	}
	if rest, home := strings.CutPrefix(path, "~/"); home && f.Home != "" {
		return filepath.Join(f.Home, rest), true, nil
	}
	if isAbsPath(path) || filepath.IsAbs(path) {
		return filepath.Clean(path), true, nil
	}
	return filepath.Join(cwd, path), true, nil
}

func noNUL(target string) error {
	if strings.ContainsRune(target, 0) {
		return badTarget("The session %q has a NUL byte in its name.", target)
	}
	return nil
}

func badTarget(format, target string) error {
	return fault.New(fault.InvalidArgument, format, target).With("field", "target")
}

// uriPath returns the path of a file: URI.
func uriPath(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Opaque != "" || u.Path == "" {
		return "", badTarget("%q is not the URI of a file.", uri)
	}
	if u.Host != "" && u.Host != "localhost" {
		if filepath.Separator == '/' {
			return "", badTarget("%q is on another machine.", uri)
		}
		return `\\` + u.Host + filepath.FromSlash(u.Path), nil
	}
	if filepath.Separator == '\\' && isWindowsPath(u.Path[1:]) {
		return filepath.FromSlash(u.Path[1:]), nil
	}
	return u.Path, nil
}

// class is how a session matches, the strongest first.
type class int

const (
	wholeID class = iota
	wholeName
	idPrefix
	namePrefix
	suffixPrefix // of the file name, after its last underscore: the id, by convention
	wholeTitle
	wholeSlug
	titlePrefix
	noMatch
)

// matcher compares sessions with a reference typed by the user.
type matcher struct {
	f    Finder
	want string // lower-cased, not empty
}

// search searches the places that opts allow, one after the other, until one has matches.
func (m matcher) search(ctx context.Context, cwd string, r Resolution, opts ResolveOptions) (Resolution, error) {
	if !slices.Contains([]string{"", "folder", "all"}, opts.Scope) {
		return r, fault.New(fault.InvalidArgument, "There is no scope %q.", opts.Scope).With("field", "scope")
	}
	forced := cmp.Or(opts.SessionDir, m.f.SessionDir) != ""
	if opts.Scope != "all" || forced {
		folders, own, err := m.f.foldersOf(cwd, m.f.Roots, opts.SessionDir)
		if err != nil {
			return r, err
		}
		r.Matches, r.strongest, err = m.in(ctx, folders, own)
		if err != nil || len(r.Matches) > 0 || forced || opts.Scope == "folder" {
			return r, err
		}
	}
	var err error
	r.Scope = "global"
	r.Matches, r.strongest, err = m.in(ctx, m.f.allFolders(""), owner{all: true})
	return r, err
}

// hit is a matching session.
type hit struct {
	class class
	info  Info
}

// in searches one set of folders. Files named by convention have their ids in their names,
// so that only matching ones are opened; the others are read only if nothing matches that
// way, for their titles and for ids that differ from the name.
func (m matcher) in(ctx context.Context, folders []folder, own owner) ([]Info, int, error) {
	likely := func(name string) bool { return m.byName(name) != noMatch || !isConventionalName(name) }
	hits, damaged, err := m.read(ctx, folders, likely, own)
	if err == nil && len(hits) == 0 {
		hits, _, err = m.read(ctx, folders, nil, own)
	}
	if err != nil {
		return []Info{}, 0, err
	}
	if len(hits) == 0 {
		return []Info{}, 0, damaged
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.class, b.class), b.info.ModTime.Compare(a.info.ModTime), ByName(b.info.Path, a.info.Path))
	})
	infos, strongest := make([]Info, 0, len(hits)), 0
	for _, h := range hits {
		infos = append(infos, h.info)
		if h.class == hits[0].class {
			strongest++
		}
	}
	return infos, strongest, nil
}

// read describes those sessions of folders that match: of files whose names are likely by their
// ids and names, and by their titles too if likely is nil, which stands for all files. damaged is the
// error of a file that matches by its name alone.
func (m matcher) read(ctx context.Context, folders []folder, likely func(name string) bool, own owner) (hits []hit, damaged, err error) {
	titles := likely == nil
	l := listing{f: m.f, own: own, whole: titles, opts: ListOptions{IncludeEmpty: true}, everywhere: own.all && len(folders) > 1}
	if !titles {
		l.match = func(i int, h session.Header) bool { return m.byID(h.ID, l.files[i].name) != noMatch }
	}
	_, err = l.look(ctx, folders, likely)
	defer l.close()
	if err == nil {
		err = l.run(ctx)
	}
	if err == nil && titles {
		_, err = l.page(ctx) // it gives them slugs
		l.remember()
	}
	if err != nil {
		return nil, nil, err
	}
	for i := range l.found {
		o, base := &l.found[i], l.files[i].name
		if fault.Is(o.err, fault.Damaged) && damaged == nil && m.byName(base) != noMatch {
			damaged = o.err
		}
		if o.err != nil {
			continue
		}
		c := m.byID(o.info.ID, base)
		if c == noMatch && titles {
			c = m.byTitle(o.info.Title, o.info.Slug)
		}
		if c <= wholeName || c != noMatch && o.info.MessageCount > 0 {
			hits = append(hits, hit{c, *o.info})
		}
	}
	return hits, damaged, nil
}

// byID classifies a session by its id and file name.
func (m matcher) byID(id, base string) class {
	id = strings.ToLower(id)
	c := m.byName(base)
	switch {
	case id == m.want:
		return wholeID
	case strings.HasPrefix(id, m.want):
		return min(c, idPrefix)
	}
	return c
}

// ByName classifies a session by its file name.
func (m matcher) byName(base string) class {
	base = strings.ToLower(base)
	name := strings.TrimSuffix(base, ".jsonl")
	switch {
	case name == m.want || base == m.want:
		return wholeName
	case strings.HasPrefix(name, m.want):
		return namePrefix
	case strings.HasPrefix(name[strings.LastIndexByte(name, '_')+1:], m.want):
		return suffixPrefix
	}
	return noMatch
}

// byTitle classifies a session by its title and by the slug made of it.
//
// Differs: the originals do not look at titles.
func (m matcher) byTitle(title, slug string) class {
	title = strings.ToLower(oneLine(title))
	switch {
	case title == m.want:
		return wholeTitle
	case slug == m.want:
		return wholeSlug
	case strings.HasPrefix(title, m.want):
		return titlePrefix
	}
	return noMatch
}

// isConventionalName reports whether a file is named as the programs name theirs:
// time of creation, underscore, id.
func isConventionalName(base string) bool {
	const pattern = "0000-00-00T00-00-00-000Z_"
	if len(base) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if digit := base[i]-'0' <= 9; pattern[i] == '0' && !digit || pattern[i] != '0' && base[i] != pattern[i] {
			return false
		}
	}
	return true
}
