package look

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// branch returns the branch of a work tree, "" for a detached HEAD.
func (g git) branch(ctx context.Context) string {
	out, err := g.read(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Head returns the commit and the branch of the work tree of a folder. Each is "" if there is none.
func Head(ctx context.Context, o Options, folder string) (head, branch string) {
	r, err := rootOf(ctx, o, folder)
	if err != nil {
		return "", ""
	}
	return r.head, r.plain.branch(ctx)
}

func rootOf(ctx context.Context, o Options, folder string) (*root, error) {
	return findRoot(ctx, o, realPath(folder))
}

// realPath returns a path with its links resolved, if possible.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// AtHead returns the contents of files in the commit at HEAD of the folder's work tree, by absolute path. It omits files that are
// missing there or that have a filter. Without git the result is empty.
func AtHead(ctx context.Context, o Options, folder string, paths []string) (map[string][]byte, error) {
	found := map[string][]byte{}
	r, err := rootOf(ctx, o, folder)
	if isNoRepository(err) || err == nil && r.head == "" || len(paths) == 0 {
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	settings, err := r.plain.settings(ctx)
	if err != nil {
		return nil, err
	}
	r.git = r.plain
	if r.own, err = newPrivate(o, r, settings); err != nil {
		return nil, err
	}
	defer r.close()
	byRel := map[string]string{}
	var rels []string
	for _, path := range paths {
		real := filepath.Join(realPath(filepath.Dir(path)), filepath.Base(path))
		if rel, err := filepath.Rel(r.top, real); err == nil && filepath.IsLocal(rel) && rel != "." {
			byRel[filepath.ToSlash(rel)] = path
			rels = append(rels, filepath.ToSlash(rel))
		}
	}
	all, err := r.atHead(ctx, rels)
	if err != nil || len(all) == 0 {
		return found, err
	}
	if err := r.attributes(ctx); err != nil {
		return nil, err
	}
	filtered, err := r.filtered(ctx, all)
	if err != nil {
		return nil, err
	}
	entries := slices.DeleteFunc(all, func(e staged) bool { return filtered[e.rel] })
	return found, r.apart().contents(ctx, entries, true, func(e staged, content []byte) { found[byRel[e.rel]] = content })
}

// atHead returns the entries of paths at HEAD, without links and missing files.
func (r *root) atHead(ctx context.Context, rels []string) (found []staged, err error) {
	for chunk := range chunks(rels) {
		lines, err := r.names(ctx, append([]string{"--literal-pathspecs", "ls-tree", "-z", "-r", "--full-tree", r.head, "--"}, chunk...)...)
		if err != nil {
			return nil, err
		}
		for _, line := range lines { // "mode type hash\tpath"
			head, rel, _ := strings.Cut(line, "\t")
			if fields := strings.Fields(head); len(fields) == 3 && fields[1] == "blob" && fields[0] != modeLink {
				found = append(found, staged{mode: fields[0], hash: fields[2], rel: rel, size: -1})
			}
		}
	}
	return found, nil
}

// Commits returns the commits that a command created: those that are reachable from the commit to but not from the commit from, newest
// first, at most a hundred.
func Commits(ctx context.Context, o Options, folder, from, to string) (commits []string) {
	if from == to || to == "" {
		return nil
	}
	for _, hash := range []string{from, to} {
		if strings.Trim(hash, "0123456789abcdef") != "" {
			return nil // the hash is from a session file, so it is not trusted
		}
	}
	r, err := rootOf(ctx, o, folder)
	if err != nil {
		return nil
	}
	args := []string{"rev-list", "--max-count=100", to}
	if from != "" {
		args = append(args, "^"+from)
	}
	out, err := r.plain.read(ctx, append(args, "--")...)
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}
