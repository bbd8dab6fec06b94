package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// verdict is the result of one mutant.
type verdict int

const (
	killed   verdict = iota
	survived         // a test passed
	stuck            // a test hung, and the list doesn't say so
	unusable         // the mutant doesn't compile, or its test fails without it
)

// String is the word in the report.
func (v verdict) String() string {
	return [...]string{"killed", "SURVIVED", "TIMEOUT", "ERROR"}[v]
}

// result is the verdict on a mutant, with its reason in words and the output of the test or compiler.
type result struct {
	mutant  mutant
	verdict verdict
	took    time.Duration
	log     string
}

// judge runs the tests of a mutant, each without it and with it. A mutant is killed if each of its tests fails.
func (w *workshop) judge(ctx context.Context, m mutant) result {
	start := time.Now()
	v, log := w.verdict(ctx, m)
	return result{mutant: m, verdict: v, took: time.Since(start), log: log}
}

func (w *workshop) verdict(ctx context.Context, m mutant) (verdict, string) {
	dir, err := os.MkdirTemp(w.dir, "mutant")
	if err != nil {
		return unusable, err.Error()
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := w.overlay(m, dir)
	if err != nil {
		return unusable, err.Error()
	}
	built := map[string]string{} // test binaries by package
	for _, test := range m.tests {
		sound := w.passes(ctx, test)
		if sound.err != nil {
			return unusable, sound.err.Error()
		}
		pkg, _, err := target(test)
		if err != nil {
			return unusable, err.Error()
		}
		if built[pkg] == "" {
			built[pkg] = filepath.Join(dir, fmt.Sprintf("%d.test.exe", len(built)))
			if err := w.build(ctx, pkg, overlay, built[pkg]); err != nil {
				return unusable, err.Error()
			}
		}
		if v, log := w.verdictOf(ctx, m, test, built[pkg], overlay, sound.took); v != killed {
			return v, log
		}
	}
	return killed, ""
}

// verdictOf runs one test of a mutant. A slower machine delays the test without a mutant as well, so its time
// gives the limit.
func (w *workshop) verdictOf(ctx context.Context, m mutant, test, bin, overlay string, took time.Duration) (verdict, string) {
	limit := w.base + 10*took
	if m.hangs {
		limit = w.base/6 + 5*took
	}
	result, out, err := w.test(ctx, bin, test, overlay, limit)
	switch {
	case err != nil:
		return unusable, err.Error() + "\n" + tail(out)
	case result == passed:
		return survived, test + " passes:\n" + tail(out)
	case result == timedOut && !m.hangs:
		return stuck, test + " hangs:\n" + tail(out)
	default:
		return killed, ""
	}
}
