package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// openChoices are the flags that also take values other than their choices.
var openChoices = []string{"engine", "since"}

// checkChoices returns an error about a flag of cmd whose value is none of its choices. An empty value is the default.
func checkChoices(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values, limited := choices[f.Name]
		value := f.Value.String()
		if err == nil && limited && value != "" && !slices.Contains(values, value) && !slices.Contains(openChoices, f.Name) {
			err = invalidValue(f.Name, value, anyOf(values))
		}
	})
	return err
}

// anyOf lists words: "a, b or c".
func anyOf(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// noEntry returns the error of a command for a shell: a missing entry is the one that the flag names.
func noEntry(err error, flag string) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.NotFound || f.Data["entryId"] == nil {
		return err
	}
	return fault.New(fault.NotFound, "There is no entry %q for --%s. 'xcsh-ls rewind ID' lists the prompts of a session with their ids.", f.Data["entryId"], flag)
}

// maxCandidates limits the sessions that an error lists.
const maxCandidates = 10

// withCandidates returns an error about a name of several sessions with a line for each of them.
func withCandidates(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Data["candidates"] == nil {
		return err
	}
	var found []struct{ ID, Name string }
	raw, encodeErr := json.Marshal(f.Data["candidates"])
	if encodeErr != nil || json.Unmarshal(raw, &found) != nil {
		return err
	}
	lines := []string{f.Message + " Pass one of their IDs:"}
	for i, c := range found {
		if i == maxCandidates {
			lines = append(lines, fmt.Sprintf("  … and %d more", len(found)-i))
			break
		}
		name := displaywidth.TruncateString(visible.Line(c.Name), usualWidth/2, ellipsis)
		lines = append(lines, strings.TrimRight("  "+visible.Line(c.ID)+"  "+name, " "))
	}
	return &fault.Error{Kind: f.Kind, Message: strings.Join(lines, "\n"), Data: f.Data, Err: err}
}

var errTwoOutputs = errors.New("too many arguments: pass either OUT or --output")

func errNotWithStdout(flag string) error {
	return fmt.Errorf("%s can't be used with standard output", flag)
}
