package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// message is a part of the output of govulncheck.
type message struct {
	Config *struct {
		DB string `json:"db"`
	} `json:"config"`
	OSV *struct {
		ID      string `json:"id"`
		Summary string `json:"summary"`
	} `json:"osv"`
	Finding *struct {
		OSV   string  `json:"osv"`
		Fixed string  `json:"fixed_version"`
		Trace []frame `json:"trace"`
	} `json:"finding"`
}

// frame is a step from the vulnerable function, which is the first, to a function of the program.
type frame struct {
	Module   string `json:"module"`
	Version  string `json:"version"`
	Package  string `json:"package"`
	Function string `json:"function"`
}

// judge prints the vulnerabilities in functions that the program calls, and fails if one of them counts.
func judge(in io.Reader, strict bool, out io.Writer) error {
	summaries, lines := map[string]string{}, map[string]string{}
	started, failing, ignored := false, 0, 0
	for decoder := json.NewDecoder(in); ; {
		var m message
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("the output of govulncheck: %w", err)
		}
		started = started || m.Config != nil
		if m.OSV != nil {
			summaries[m.OSV.ID] = m.OSV.Summary
		}
		f := m.Finding
		if f == nil || len(f.Trace) == 0 || f.Trace[0].Function == "" || lines[f.OSV] != "" {
			continue // it is linked or required only, or known already
		}
		if f.Trace[0].Module == "stdlib" && !strict {
			ignored++
		} else {
			failing++
		}
		at, from := f.Trace[0], f.Trace[len(f.Trace)-1]
		lines[f.OSV] = fmt.Sprintf("%s.%s of %s %s, called by %s.%s, fixed in %s", at.Package, at.Function, at.Module, at.Version,
			from.Package, from.Function, orNone(f.Fixed))
	}
	if !started {
		return errors.New("govulncheck printed no result")
	}
	for _, id := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(out, "%s: %s (%s)\n", id, summaries[id], lines[id])
	}
	if ignored > 0 {
		fmt.Fprintf(out, "The Go of this machine has %d of these vulnerabilities; a newer Go removes them.\n", ignored)
	}
	if failing > 0 {
		return fmt.Errorf("the program calls functions with %d known vulnerabilities", failing)
	}
	return nil
}

func orNone(version string) string {
	if version == "" {
		return "no version yet"
	}
	return version
}
