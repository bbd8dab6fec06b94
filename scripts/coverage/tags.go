package main

import (
	"go/build/constraint"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var tagsFlag = regexp.MustCompile(`-tags[ =]["']?([\w,]+)`)

// usedTags returns the sets of build tags with which the repository's scripts run tests; the first is empty.
func usedTags(root string) ([][]string, error) {
	sets := [][]string{nil}
	for _, pattern := range []string{"Makefile", "scripts/*.sh", ".github/workflows/*.yml"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, m := range tagsFlag.FindAllStringSubmatch(string(text), -1) {
				sets = append(sets, strings.Split(m[1], ","))
			}
		}
	}
	return sets, nil
}

// runs reports whether a file's build constraint holds on a tested system with one of the sets of tags.
func runs(f testFile, tags [][]string) bool {
	for _, line := range f.lines {
		if !constraint.IsGoBuild(line) {
			continue
		}
		expr, err := constraint.Parse(line)
		if err != nil {
			return false
		}
		for _, system := range []string{"linux", "darwin", "windows"} {
			for _, set := range tags {
				if expr.Eval(func(tag string) bool {
					return tag == system || tag == "unix" && system != "windows" || tag == "amd64" || slices.Contains(set, tag)
				}) {
					return true
				}
			}
		}
		return false
	}
	return true
}
