package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// ndjson FILE TYPE ... requires that every line of FILE is an object and that their types are these.
// Adjacent lines of one type count as one, because the pieces of an answer may be merged.
func ndjson(ts *testscript.TestScript, _ bool, args []string) {
	var got []string
	text := ts.ReadFile(args[0])
	if !strings.HasSuffix(text, "\n") {
		ts.Fatalf("the last line of %s has no line break", args[0])
	}
	for line := range strings.Lines(text) {
		var object struct{ Type string }
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			ts.Fatalf("%v: %s", err, line)
		}
		got = append(got, object.Type)
	}
	if got = slices.Compact(got); !slices.Equal(got, args[1:]) {
		ts.Fatalf("got  %s\nwant %s", strings.Join(got, " "), strings.Join(args[1:], " "))
	}
}

// grows OLD NEW requires that NEW is OLD with more lines appended.
func grows(ts *testscript.TestScript, _ bool, args []string) {
	was, is := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	if !strings.HasPrefix(is, was) || len(is) == len(was) {
		ts.Fatalf("%s is not %s with more lines:\n%s", args[1], args[0], is)
	}
}
