// Command site builds the documentation site with mdBook: static pages that can be searched without a server.
//
//	go run ./scripts/site [-mdbook PROGRAM] [-out DIR]
//
// The pages are those that docs/SUMMARY.md lists, the README first. mdBook gets copies of them at their places in the
// repository. Links to files that are no pages lead to the repository.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	summary    = "docs/SUMMARY.md"
	images     = "docs/images"
	source     = "scripts/site" // the configuration of mdBook
	repository = "https://github.com/xcsh-ls/xcsh-ls/"
)

func main() {
	mdbook := flag.String("mdbook", "mdbook", "mdBook, a `program` or its path")
	out := flag.String("out", "dist/site", "`directory` of the site, which is replaced")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := build(ctx, ".", *mdbook, *out); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		stop()
		os.Exit(1)
	}
}

// build makes the site of the repository at root in the directory out.
func build(ctx context.Context, root, mdbook, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "xcsh-ls-site")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := stage(root, work); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, mdbook, "build", "--dest-dir", out, work)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s (Debian's package mdbook): %w\n%s", mdbook, err, output)
	}
	return nil
}

// stage writes everything that mdBook needs into the directory work.
func stage(root, work string) error {
	list, err := os.ReadFile(filepath.Join(root, summary))
	if err != nil {
		return err
	}
	book := filepath.Join(work, "main")
	all := pages(string(list))
	for _, page := range all {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			return err
		}
		if err := write(filepath.Join(book, page), rewrite(root, page, string(text), all)); err != nil {
			return err
		}
	}
	// The links of the list are relative to docs, and mdBook looks for it beside README.md.
	if err := write(filepath.Join(book, "SUMMARY.md"), pageLink.ReplaceAllStringFunc(string(list), func(link string) string {
		return "](" + path.Join(path.Dir(summary), link[2:])
	})); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(book, images), os.DirFS(filepath.Join(root, images))); err != nil {
		return err
	}
	// Debian's mdBook has no fonts, but its pages load this file.
	if err := write(filepath.Join(book, "fonts", "fonts.css"), ""); err != nil {
		return err
	}
	for _, name := range []string{"book.toml", "site.css"} {
		text, err := os.ReadFile(filepath.Join(root, source, name))
		if err != nil {
			return err
		}
		if err := write(filepath.Join(work, name), string(text)); err != nil {
			return err
		}
	}
	return nil
}

func write(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o600)
}

var (
	pageLink = regexp.MustCompile(`\]\([^)\s#]+\.md`)
	// Code comes first, so that what looks like a link in it is not matched as one.
	codeOrLink = regexp.MustCompile("(?ms)^ *```.*?^ *```$|`[^`\n]+`|\\]\\([^)\\s]+\\)")
	// An address of a file or directory of the repository, or of the content of a file.
	own = regexp.MustCompile(`^` + repository + `(?:blob|tree|raw)/HEAD/`)
)

// pages returns the files that the list of pages names, by their paths in the repository.
func pages(list string) []string {
	var all []string
	for _, link := range pageLink.FindAllString(list, -1) {
		all = append(all, path.Join(path.Dir(summary), link[2:]))
	}
	return all
}

// rewrite returns the text of a page with links that work in the site.
func rewrite(root, page, text string, all []string) string {
	return codeOrLink.ReplaceAllStringFunc(text, func(match string) string {
		if !strings.HasPrefix(match, "](") {
			return match
		}
		return "](" + destination(root, page, match[2:len(match)-1], all) + ")"
	})
}

// destination returns the destination of a link from page in the site.
func destination(root, page, link string, all []string) string {
	name, anchor, _ := strings.Cut(link, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	var target string
	switch {
	case own.MatchString(name):
		target = own.ReplaceAllString(name, "")
	case name == "" || strings.Contains(name, ":"):
		return link
	default:
		target = path.Join(path.Dir(page), name)
	}
	info, err := os.Stat(filepath.Join(root, target))
	isDir := err == nil && info.IsDir()
	if isDir && slices.Contains(all, path.Join(target, "README.md")) {
		target, isDir = path.Join(target, "README.md"), false
	}
	switch {
	case slices.Contains(all, target):
		if path.Base(target) == "README.md" { // of which mdBook makes index.html
			target = path.Join(path.Dir(target), "index.md")
		}
	case strings.HasPrefix(target, images+"/"):
	case isDir:
		return repository + "tree/HEAD/" + target + anchor
	default:
		return repository + "blob/HEAD/" + target + anchor
	}
	back := strings.Repeat("../", strings.Count(page, "/"))
	return back + target + anchor
}
