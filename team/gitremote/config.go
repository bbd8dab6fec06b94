package gitremote

import (
	"path/filepath"
	"slices"
	"strings"
)

// config is the part of a configuration that determines the remote.
type config struct {
	pushDefault string
	remotes     map[string][]string // name → addresses
	names       []string            // of the remotes, in order
	instead     []instead
	safe        []string // directories

	worktrees bool // config.worktree is read, too
}

// instead replaces the beginning from of an address by to.
type instead struct{ from, to string }

// readConfig reads all configuration files for a repository.
func readConfig(m Machine, d dirs) (*config, error) {
	r := &reader{m: m, gitDirs: d.names(), deaf: true}
	if head, err := pointer(m, filepath.Join(d.git, "HEAD")); err == nil {
		r.branch, _ = strings.CutPrefix(head, "ref: refs/heads/")
		if r.branch == head {
			r.branch = ""
		}
	}
	// Conditions may depend on the addresses of all remotes, so those are read first.
	c, err := r.all(d)
	if err != nil {
		return nil, err
	}
	for _, name := range c.names {
		r.urls = append(r.urls, c.remotes[name]...)
	}
	r.deaf = false
	return r.all(d)
}

// all reads every file once.
func (r *reader) all(d dirs) (*config, error) {
	r.files, r.bytes = 0, 0
	c := &config{remotes: map[string][]string{}}
	own := false // the files of the repository are being read
	r.each = func(v variable) { c.add(v, own) }
	for _, name := range r.m.Config {
		if err := r.file(name, 0); err != nil {
			return nil, err
		}
	}
	own = true
	if err := r.file(filepath.Join(d.common, "config"), 0); err != nil {
		return nil, err
	}
	if c.worktrees {
		if err := r.file(filepath.Join(d.git, "config.worktree"), 0); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// add applies a variable. own says that it comes from the repository, which cannot make itself safe.
func (c *config) add(v variable, own bool) {
	switch {
	case v.section == "remote" && !v.hasSub && v.name == "pushdefault":
		c.pushDefault = v.value
	case v.section == "remote" && v.hasSub && v.name == "url":
		if _, known := c.remotes[v.sub]; !known {
			c.names = append(c.names, v.sub)
		}
		if v.value == "" { // clears the list
			c.remotes[v.sub] = nil
			return
		}
		c.remotes[v.sub] = append(c.remotes[v.sub], v.value)
	case v.section == "url" && v.hasSub && v.name == "insteadof":
		c.instead = append(c.instead, instead{from: v.value, to: v.sub})
	case v.section == "safe" && !v.hasSub && v.name == "directory" && !own:
		if v.value == "" {
			c.safe = nil
			return
		}
		c.safe = append(c.safe, v.value)
	case v.section == "extensions" && !v.hasSub && v.name == "worktreeconfig" && own:
		c.worktrees = !v.hasValue || isTrue(v.value)
	}
}

func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// isSafe reports whether the user allowed the repository of another user.
func (c *config) isSafe(root string) bool {
	root = filepath.ToSlash(root)
	return slices.ContainsFunc(c.safe, func(dir string) bool {
		above, all := strings.CutSuffix(dir, "/*")
		return dir == "*" || filepath.ToSlash(dir) == root || all && strings.HasPrefix(root, above+"/")
	})
}

// remote returns the address of the repository's remote.
func (c *config) remote() string {
	var usable []string
	for _, name := range c.names {
		if len(c.remotes[name]) > 0 {
			usable = append(usable, name)
		}
	}
	for _, name := range []string{c.pushDefault, "origin"} {
		if slices.Contains(usable, name) {
			return c.replaced(c.remotes[name][0])
		}
	}
	if len(usable) == 1 {
		return c.replaced(c.remotes[usable[0]][0])
	}
	return ""
}

// replaced applies the longest insteadOf that matches.
func (c *config) replaced(url string) string {
	best := instead{}
	for n, i := range c.instead {
		if strings.HasPrefix(url, i.from) && (n == 0 || len(i.from) > len(best.from)) {
			best = i
		}
	}
	return best.to + url[len(best.from):]
}
