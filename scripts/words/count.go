package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// hit is one occurrence of a limited pattern or of a banned phrase.
type hit struct {
	path string
	line int
	what string
}

// count is the result for an area.
type count struct {
	words  int
	limits []int // occurrences, by limit
	hits   []hit
	banned []hit
}

// skipped are the directories without prose of the project.
var skipped = []string{".git", "node_modules", "testdata", "dist", "bin", ".cache", "out", ".built"}

// word is a word for the purpose of counting.
var word = regexp.MustCompile(`[A-Za-z][A-Za-z'’-]*`)

// countFiles counts all files below a directory, by area.
func countFiles(root string, r rules, exceptions []*exception) ([]count, error) {
	counts := make([]count, len(r.areas))
	for i := range counts {
		counts[i].limits = make([]int, len(r.limits))
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && slices.Contains(skipped, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		i := r.area(rel)
		if i < 0 || !d.Type().IsRegular() {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, c := range extract(rel, src) {
			counts[i].add(rel, c, r, exceptions)
		}
		counts[i].addCode(rel, src, r, exceptions)
		return nil
	})
	return counts, err
}

// add counts one piece of prose.
func (n *count) add(path string, c chunk, r rules, exceptions []*exception) {
	n.words += len(word.FindAllString(c.text, -1))
	at := func(offset int) int { return c.line + strings.Count(c.text[:offset], "\n") }
	for i, l := range r.limits {
		for _, m := range l.pattern.FindAllStringIndex(c.text, -1) {
			n.limits[i]++
			n.hits = append(n.hits, hit{path, at(m[0]), l.name + ": " + oneLine(c.text[m[0]:m[1]])})
		}
	}
	n.banned = append(n.banned, bannedIn(path, c, r, exceptions)...)
}

// bannedIn returns the banned phrases in a text.
func bannedIn(path string, c chunk, r rules, exceptions []*exception) (found []hit) {
	for _, b := range r.bans {
		for _, m := range b.pattern.FindAllStringIndex(c.text, -1) {
			if !allowed(exceptions, path, b.phrase) {
				line := c.line + strings.Count(c.text[:m[0]], "\n")
				found = append(found, hit{path, line, fmt.Sprintf("%q, use %s", b.phrase, b.advice)})
			}
		}
	}
	return found
}

// allowed reports whether an exception covers a phrase in a file, and marks it as used.
func allowed(exceptions []*exception, path, phrase string) bool {
	for _, e := range exceptions {
		if e.path == path && strings.EqualFold(e.phrase, phrase) {
			e.used = true
			return true
		}
	}
	return false
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// per10000 scales a number of occurrences.
func per10000(n, words int) float64 {
	if words == 0 {
		return 0
	}
	return float64(n) * 10000 / float64(words)
}

// report prints the matches and the table, and reports whether every enforcing area passes.
func report(out io.Writer, r rules, counts []count, exceptions []*exception, verbose bool) bool {
	ok := true
	for i, a := range r.areas {
		if a.enforce && len(counts[i].banned) > 0 {
			ok = false
		}
		if verbose || a.enforce {
			printHits(out, counts[i].banned)
		}
		if verbose {
			printHits(out, counts[i].hits)
		}
	}
	for _, e := range exceptions {
		if !e.used {
			_, _ = fmt.Fprintf(out, "exceptions.txt: %s does not contain %q any more\n", e.path, e.phrase)
			ok = false
		}
	}
	_, _ = fmt.Fprintf(out, "%-12s %-7s %8s", "area", "mode", "words")
	for _, l := range r.limits {
		_, _ = fmt.Fprintf(out, " %16s", fmt.Sprintf("%s < %g", l.name, l.max))
	}
	_, _ = fmt.Fprintf(out, " %7s\n", "banned")
	for i, a := range r.areas {
		ok = printRow(out, a, r, counts[i]) && ok
	}
	return ok
}

func printHits(out io.Writer, hits []hit) {
	for _, h := range hits {
		_, _ = fmt.Fprintf(out, "%s:%d: %s\n", h.path, h.line, h.what)
	}
}

// printRow prints one area and reports whether it keeps the limits it is held to.
func printRow(out io.Writer, a area, r rules, n count) bool {
	mode, ok := "report", true
	if a.enforce {
		mode = "enforce"
	}
	_, _ = fmt.Fprintf(out, "%-12s %-7s %8d", a.name, mode, n.words)
	for i, l := range r.limits {
		rate, mark := per10000(n.limits[i], n.words), ""
		if rate >= l.max {
			mark = "!"
			ok = ok && !a.enforce
		}
		_, _ = fmt.Fprintf(out, " %16s", fmt.Sprintf("%.1f%s", rate, mark))
	}
	_, _ = fmt.Fprintf(out, " %7d\n", len(n.banned))
	return ok
}
