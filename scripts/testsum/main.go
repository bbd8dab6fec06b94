// Command testsum reads the output of "go test -json" on standard input and
// prints it for people: one line per test, the whole output of what failed, the
// go tool's own line per package, and the totals. With -tally it also appends
// "PASSED FAILED SKIPPED" to a file, so that a caller can add up several runs.
//
// Its exit status is 1 when anything failed, also when nothing was tested.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	tally := flag.String("tally", "", "append the totals to this `file`")
	flag.Parse()

	t, err := summarize(os.Stdin, os.Stdout)
	if err == nil && *tally != "" {
		err = appendLine(*tally, fmt.Sprintf("%d %d %d\n", t.passed, t.failed, t.skipped))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
	if t.failed > 0 || t.passed == 0 {
		os.Exit(1)
	}
}

func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(line); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// event is one line of "go test -json" (go doc cmd/test2json).
type event struct {
	Action     string
	Package    string
	ImportPath string // of build-output and build-fail, which have no Package
	Test       string
	Elapsed    float64
	Output     string
}

// totals counts tests, subtests included. A package that failed without a failed
// test (it did not build, its TestMain or init failed, it timed out) counts as one
// failed test, because otherwise its tests would just be missing.
type totals struct{ passed, failed, skipped int }

type summary struct {
	out    *bufio.Writer
	totals totals
	output map[string]*strings.Builder // by package and test; a test's is dropped when it passes
	failed map[string]bool             // packages with a failed test
}

// summarize copies a readable form of the events in r to w. Lines that are not
// JSON are copied as they are: the go tool mixes its own complaints in.
func summarize(r io.Reader, w io.Writer) (totals, error) {
	buf := bufio.NewWriter(w)
	s := &summary{out: buf, output: map[string]*strings.Builder{}, failed: map[string]bool{}}
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil && e.Action != "" {
				s.add(e)
			} else {
				fmt.Fprintf(s.out, "%s", line)
			}
			// A person watches: show each line when it is known.
			if flushErr := buf.Flush(); flushErr != nil {
				return s.totals, flushErr
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return s.totals, err
		}
	}
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped\n", s.totals.passed, s.totals.failed, s.totals.skipped)
	return s.totals, buf.Flush()
}

func (s *summary) add(e event) {
	key := e.Package + e.ImportPath + " " + e.Test
	switch e.Action {
	case "output", "build-output":
		if s.output[key] == nil {
			s.output[key] = &strings.Builder{}
		}
		s.output[key].WriteString(e.Output)
	case "build-fail":
		// Several packages may fail because of it; the compiler speaks once.
		s.print(key)
		delete(s.output, key)
	case "pass", "skip", "fail":
		if e.Test == "" {
			s.endPackage(e, key)
		} else {
			s.endTest(e, key)
		}
		delete(s.output, key)
	}
}

func (s *summary) endTest(e event, key string) {
	fmt.Fprintf(s.out, "%-4s %s %s (%.2fs)\n", e.Action, e.Package, e.Test, e.Elapsed)
	switch e.Action {
	case "pass":
		s.totals.passed++
	case "skip":
		s.totals.skipped++
		s.print(key)
	default:
		s.totals.failed++
		s.failed[e.Package] = true
		s.print(key)
	}
}

func (s *summary) endPackage(e event, key string) {
	if e.Action == "fail" {
		if !s.failed[e.Package] {
			s.totals.failed++
		}
		// A test that was running when its process died ends with no event of its own.
		for _, other := range slices.Sorted(maps.Keys(s.output)) {
			if other != key && strings.HasPrefix(other, e.Package+" ") {
				s.print(other)
			}
		}
	}
	// Of a package that passed only the go tool's last line ("ok …") is of interest.
	text := s.output[key]
	if text == nil {
		return
	}
	if e.Action == "fail" {
		s.print(key)
		return
	}
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	fmt.Fprintln(s.out, lines[len(lines)-1])
}

func (s *summary) print(key string) {
	if text := s.output[key]; text != nil {
		fmt.Fprint(s.out, text.String())
	}
}
