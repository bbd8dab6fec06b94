package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// The statuses of a statement. A statement with tests and without a declaration is proven: its tests
// assert every word of it.
const (
	proven  = "proven"
	partly  = "partly"  // a part is not asserted, or does not hold
	differs = "differs" // something else is done on purpose
	missing = "missing" // nothing does it
)

// status is the declaration of a row that is not simply proven.
type status struct {
	kind, reason string
}

var statusLine = regexp.MustCompile(`^([A-Z]+-\d+): (partly|differs|missing): (\S.+)$`)

// readStatuses reads status.txt.
func readStatuses(path string) (map[string]status, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	declared := map[string]status{}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := statusLine.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("%s:%d: want \"X-001: partly|differs|missing: reason\"", path, n)
		}
		if _, twice := declared[m[1]]; twice {
			return nil, fmt.Errorf("%s:%d: %s is declared twice", path, n, m[1])
		}
		declared[m[1]] = status{m[2], m[3]}
	}
	return declared, nil
}

// statusOf returns the status of a statement, or an error about its declaration.
func statusOf(id string, tests []proof, declared map[string]status) (status, error) {
	s, ok := declared[id]
	switch {
	case !ok && len(tests) == 0:
		return s, fmt.Errorf("%s has neither a test nor a reason in status.txt", id)
	case !ok:
		return status{kind: proven}, nil
	case s.kind == partly && len(tests) == 0:
		return s, fmt.Errorf("%s has no test: declare it as differs or missing", id)
	case s.kind == missing && len(tests) > 0:
		return s, fmt.Errorf("%s is missing, but %s proves it", id, tests[0].name)
	}
	return s, nil
}

var mentioned = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*(?:/[\w-]+)?`)

// checkMentions requires that the tests that a reason names exist.
func checkMentions(declared map[string]status, exists map[string]bool) error {
	for id, s := range declared {
		for _, name := range mentioned.FindAllString(s.reason, -1) {
			if !exists[name] {
				return fmt.Errorf("%s: there is no test %s", id, name)
			}
		}
	}
	return nil
}
