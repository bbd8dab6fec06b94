package main

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// The advice for a lost session is a command line to copy, whatever the names of the file and the directory contain.
//
// Proves: AB-082
func TestTheAdviceForALostSession(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of Unix")
	}
	for want, l := range map[string]library.Lost{
		`Move it to its directory: xcsh-ls move /a/-wrong/x.jsonl '/w/it is'`:           {Reason: library.LostPlace, Path: "/a/-wrong/x.jsonl", Cwd: "/w/it is"},
		`Assign it to an existing directory: xcsh-ls move '/a/$x.jsonl' DIR`:            {Reason: library.LostPlace, Path: "/a/$x.jsonl"},
		`Assign it to an existing directory: xcsh-ls move /a/x.jsonl DIR`:               {Reason: library.LostCwd, Path: "/a/x.jsonl", Cwd: "/gone"},
		`Copy the readable part to a new file: xcsh-ls doctor /a/x --salvage NEW.jsonl`: {Reason: library.LostHeader, Path: "/a/x"},
		`It belongs to pi. Copy it to the sessions of an existing directory: xcsh-ls import /p/x.jsonl --cwd DIR`: {
			Reason: library.LostCwd, Path: "/p/x.jsonl", Cwd: "/gone", Dialect: session.Pi,
		},
	} {
		require.Equal(t, want, lostAdvice(l))
	}
}
