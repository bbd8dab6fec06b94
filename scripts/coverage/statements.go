package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// statement is a row of the copies of the specification, or a heading, which has no id.
type statement struct {
	id, text string
}

// sources are the files of docs/coverage with statements, in the order of the document. A copy of a
// specification has the digest of its ids and statements, so that none is reworded, shortened or dropped
// to suit a test. Statements of this project have none.
var sources = []struct{ file, digest string }{
	{"checklist.md", "2afa149d59829a98ea95cad4951f05e2fcdaef2c3f3bdb2558e0aff0dd100b8c"},
	{"failures.md", "e43213e71daf848cd72c4bba1ae1a656ff4534d0dd90d1c61f8beaff15ca4237"},
	{"agent-base.md", "1955d8e24b7c4c275947b81095edfd01bebb2a5c0dd32c092b7819b642f818f5"},
	{"own.md", ""},
	{"engines.md", ""},
	{"changes.md", "b789cbfa1fd41e67c34f9e81f8b043f3ead414af2a9dff51c70e632692151425"},
	{"team.md", "bb9a5d35dae8309c3e707a20fce7d6a9a76818d7d5b62a56a4bb3e8d8b016341"},
}

var (
	tableRow = regexp.MustCompile(`^\| ([A-Z]+-\d+) \| (.+) \|$`)
	rowStart = regexp.MustCompile(`^\|\s*[A-Z]+-\d`)
)

// readStatements reads the sources. verbatim says whether the digests are compared.
func readStatements(dir string, verbatim bool) (list []statement, err error) {
	known := map[string]string{}
	for _, source := range sources {
		text, err := os.ReadFile(filepath.Join(dir, source.file))
		if err != nil {
			return nil, err
		}
		rows, err := parseStatements(source.file, string(text), known)
		if err != nil {
			return nil, err
		}
		if sum := digest(rows); verbatim && source.digest != "" && sum != source.digest {
			return nil, fmt.Errorf("%s: a statement differs from the specification (digest %s)", source.file, sum)
		}
		list = append(list, rows...)
	}
	return list, nil
}

// parseStatements reads one file; known are the ids so far with their places. A row has an id, one or two
// cells with the statement, and a note, which is not part of it.
func parseStatements(file, text string, known map[string]string) (list []statement, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\n")
		if title, ok := strings.CutPrefix(line, "#"); ok {
			list = append(list, statement{text: "#" + title})
			continue
		}
		place := fmt.Sprintf("%s:%d", file, n)
		m := tableRow.FindStringSubmatch(line)
		if m == nil {
			if rowStart.MatchString(line) {
				return nil, fmt.Errorf("%s: not a row: %s", place, line)
			}
			continue
		}
		cells := strings.Split(m[2], " |")
		cells = cells[:len(cells)-1] // the note
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if first, used := known[m[1]]; used {
			return nil, fmt.Errorf("%s: %s is already in %s", place, m[1], first)
		}
		s := strings.Join(cells, ": ")
		if len(cells) == 0 || len(cells) > 2 || s == "" {
			return nil, fmt.Errorf("%s: want an id, a statement and a note", place)
		}
		known[m[1]] = place
		list = append(list, statement{id: m[1], text: s})
	}
	return list, nil
}

// digest is the SHA-256 of the ids and statements of a file.
func digest(list []statement) string {
	h := sha256.New()
	for _, s := range list {
		if s.id != "" {
			_, _ = fmt.Fprintf(h, "%s\x00%s\n", s.id, s.text)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
