// Command drive performs one operation of bench.Kit and prints its time inside the process, as JSON. It is the
// counterpart of peers/drive.mjs, which drives the other programs:
//
//	drive [-check] [-remember] OPERATION STORE SCRATCH ARGUMENT...
//
// With -remember, listings are cached in SCRATCH. With -check, the output includes the result in the form that all
// drivers share.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/xcsh-ls/xcsh-ls/bench"
	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// result is the output of a driver.
type result struct {
	Ms     float64       `json:"ms"` // of the operation, without startup
	Answer *bench.Answer `json:"answer,omitempty"`
}

// operation performs an operation and returns a function that computes the answer, outside the measured time.
type operation func(k bench.Kit, args []string) (answer func() (bench.Answer, error), err error)

var operations = map[string]operation{
	"open":    func(k bench.Kit, a []string) (func() (bench.Answer, error), error) { return context1(k.Open(a[0])) },
	"index":   func(k bench.Kit, a []string) (func() (bench.Answer, error), error) { return context1(k.Index(a[0])) },
	"list":    list,
	"brief":   brief,
	"search":  search,
	"resolve": resolve,
	"append":  appendTo,
	"fork":    fork,
	"stat":    stat,
	"write":   write,
}

func main() {
	check := flag.Bool("check", false, "print the result for comparison")
	remember := flag.Bool("remember", false, "cache listings in SCRATCH")
	flag.Parse()
	if err := run(flag.Args(), *check, *remember); err != nil {
		fmt.Fprintln(os.Stderr, "drive:", err)
		os.Exit(1)
	}
}

func run(args []string, check, remember bool) error {
	if len(args) == 2 && args[0] == "store" {
		return describe(args[1])
	}
	if len(args) < 3 || operations[args[0]] == nil {
		return errors.New("usage: drive [-check] [-remember] OPERATION STORE SCRATCH [ARGUMENTS]")
	}
	k := bench.New(args[1], args[2])
	if remember {
		k = k.Remembering(args[2])
	}
	start := time.Now()
	answer, err := operations[args[0]](k, args[3:])
	r := result{Ms: float64(time.Since(start).Microseconds()) / 1000}
	if err == nil && check {
		var a bench.Answer
		a, err = answer()
		r.Answer = &a
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// Facts are the properties of a store that the runner needs.
type Facts struct {
	Home    string `json:"home"`
	Path    string `json:"path"` // of the first session
	Cwd     string `json:"cwd"`
	Prefix  string `json:"prefix"` // of the id of the middle session
	Files   int    `json:"files"`
	Bytes   int64  `json:"bytes"`
	Context int    `json:"context"` // messages of the first session
}

// describe generates a store if it is missing and prints its facts. The runner must stay small, so it does
// not read manifests itself.
func describe(name string) error {
	cache, err := gen.CacheDir()
	if err != nil {
		return err
	}
	home, m, err := gen.Cached(cache, name)
	if err != nil {
		return err
	}
	first, middle := m.Sessions[0], m.Sessions[len(m.Sessions)/2]
	return json.NewEncoder(os.Stdout).Encode(Facts{
		Home: home, Path: filepath.Join(home, first.Path), Cwd: first.Cwd, Prefix: middle.ID[:13],
		Files: len(m.Sessions), Bytes: m.Bytes, Context: first.Context,
	})
}

func context1(c session.Context, err error) (func() (bench.Answer, error), error) {
	return func() (bench.Answer, error) { return bench.ContextAnswer(c), nil }, err
}

func list(k bench.Kit, _ []string) (func() (bench.Answer, error), error) {
	infos, err := k.List(context.Background())
	return func() (bench.Answer, error) { return bench.ListAnswer(infos), nil }, err
}

func brief(k bench.Kit, _ []string) (func() (bench.Answer, error), error) {
	infos, err := k.ListBriefly(context.Background())
	return func() (bench.Answer, error) { return bench.ListAnswer(infos), nil }, err
}

func search(k bench.Kit, args []string) (func() (bench.Answer, error), error) {
	found, err := k.Search(context.Background(), args[0])
	return func() (bench.Answer, error) { return bench.FoundAnswer(found), nil }, err
}

func resolve(k bench.Kit, args []string) (func() (bench.Answer, error), error) {
	path, err := k.Resolve(context.Background(), args[0])
	return func() (bench.Answer, error) { return bench.AnswerOf([]string{filepath.Base(path)}), nil }, err
}

// appendTo appends to the session at args[0]; the answer is the context afterwards.
func appendTo(k bench.Kit, args []string) (func() (bench.Answer, error), error) {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return nil, err
	}
	flushEvery := 0
	if len(args) > 2 {
		flushEvery = 1
	}
	return contextOf(k, args[0], k.Append(args[0], n, flushEvery))
}

// fork copies the session at args[0]; the answer is the context of the copy.
func fork(k bench.Kit, args []string) (func() (bench.Answer, error), error) {
	path, err := k.Fork(args[0], args[1])
	return contextOf(k, path, err)
}

func contextOf(k bench.Kit, path string, err error) (func() (bench.Answer, error), error) {
	return func() (bench.Answer, error) {
		c, err := k.Index(path)
		return bench.ContextAnswer(c), err
	}, err
}

func stat(k bench.Kit, _ []string) (func() (bench.Answer, error), error) {
	n, err := k.Stat()
	return func() (bench.Answer, error) { return bench.Answer{Count: n}, nil }, err
}

// write appends 300 bytes to the file args[0] n times, and syncs each time if requested: the
// system's time for an append.
func write(_ bench.Kit, args []string) (func() (bench.Answer, error), error) {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(args[0], os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	line := make([]byte, 300)
	for range n {
		if _, err = f.Write(line); err == nil && len(args) > 2 {
			err = f.Sync()
		}
		if err != nil {
			break
		}
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return func() (bench.Answer, error) { return bench.Answer{Count: n}, nil }, err
}
