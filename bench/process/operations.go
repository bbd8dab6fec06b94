package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/bench"
	"github.com/xcsh-ls/xcsh-ls/bench/corpus/gen"
)

// operations returns all operations in the order of the README.
func (p *programs) operations() []operation {
	list := []operation{{name: "start", store: "tiny", entrants: p.start}}
	for _, name := range []string{"S1", "S10", "S2", "S2n"} {
		list = append(list, operation{name: "open " + name, store: name, entrants: p.open})
	}
	list = append(list, operation{name: "open S3", store: "S3", rounds: 2, entrants: p.open})
	for _, name := range []string{"L1", "L2"} {
		list = append(
			list,
			operation{name: "list " + name, store: name, entrants: p.list},
			operation{name: "resolve " + name, store: name, entrants: p.resolve},
			operation{name: "search " + name, store: name, entrants: p.search},
		)
	}
	return append(
		list,
		operation{name: "append 10000", store: "S1", entrants: p.append},
		operation{name: "append 300 synced", store: "S1", entrants: p.appendSynced},
		operation{name: "fork S2", store: "S2", rounds: 5, entrants: p.fork},
		operation{name: "export S1", store: "S1", entrants: p.export},
		operation{name: "export S2", store: "S2", rounds: 3, entrants: p.export},
	)
}

// open loads a session and returns its newest context.
func (p *programs) open(s store) []entrant {
	list := p.drivers(s, "open", s.Path)
	list = append(
		list, p.ours(s, "engine, every entry indexed", "index", s.Path),
		entrant{name: "xcsh-ls context", argv: []string{p.cli, "context", s.Path}},
	)
	return p.limit(list, "wc", nil, "-l", s.Path)
}

func (p *programs) list(s store) []entrant {
	list := p.drivers(s, "list")
	for i, e := range list {
		if e.name == "omp" {
			list[i].mayDiffer = "it counts the messages of the first 4 KB"
		}
	}
	stat := p.ours(s, "readdir+stat", "stat")
	stat.mayDiffer = "it only counts files"
	return append(
		list, p.ours(s, "engine, without texts", "brief"), p.again(s, "brief"),
		entrant{name: "xcsh-ls list", argv: []string{p.cli, "list", "--all"}},
		entrant{name: "xcsh-ls list again", argv: []string{p.cli, "list", "--all"}, again: true}, stat,
	)
}

func (p *programs) resolve(s store) []entrant { return p.drivers(s, "resolve", s.Prefix) }

func (p *programs) search(s store) []entrant {
	list := p.drivers(s, "search", gen.Needle)
	for i, e := range list {
		if e.name == "omp" {
			list[i].mayDiffer = "it searches the first 4 KB"
		}
	}
	word := []string{p.cli, "list", "--all", gen.Needle}
	list = append(
		list, p.again(s, "search", gen.Needle),
		entrant{name: "xcsh-ls list WORD", argv: word}, entrant{name: "xcsh-ls list WORD again", argv: word, again: true},
	)
	root := filepath.Join(s.Home, ".pi", "agent", "sessions")
	list = p.limit(list, "rg", idsOfFiles, "-lF", gen.Needle, root)
	return p.limit(list, "grep", idsOfFiles, "-rlF", gen.Needle, root)
}

// idsOfFiles converts a list of session files to an answer.
func idsOfFiles(out string) string {
	var ids []string
	for path := range strings.Lines(out) {
		base := strings.TrimSuffix(filepath.Base(strings.TrimSpace(path)), ".jsonl")
		ids = append(ids, base[strings.LastIndexByte(base, '_')+1:])
	}
	slices.Sort(ids)
	answer, _ := json.Marshal(bench.AnswerOf(ids)) // a number and a text
	return string(answer)
}

func (p *programs) append(s store) []entrant {
	list := p.drivers(s, "append", "{copy}", "10000")
	for i := range list {
		list[i].copied = true
	}
	least := p.ours(s, "write(2)", "write", "{copy}", "10000")
	least.copied, least.mayDiffer = true, "it only writes"
	return append(list, least)
}

func (p *programs) appendSynced(s store) []entrant {
	ours := p.ours(s, "engine", "append", "{copy}", "300", "sync")
	least := p.ours(s, "write(2)+fsync", "write", "{copy}", "300", "sync")
	least.mayDiffer = "it only writes"
	ours.copied, least.copied = true, true
	return []entrant{ours, least}
}

func (p *programs) fork(s store) []entrant {
	list := p.drivers(s, "fork", s.Path, s.Cwd)
	return p.limit(list, "cp", nil, s.Path, "{scratch}/copy")
}

func (p *programs) export(s store) []entrant {
	list := []entrant{ // the other programs do not redact
		{name: "xcsh-ls export --no-redact", argv: []string{p.cli, "export", "--no-redact", s.Path, "{scratch}/page.html"}},
		{name: "xcsh-ls export", argv: []string{p.cli, "export", s.Path, "{scratch}/redacted.html"}, mayDiffer: "secrets are replaced"},
	}
	if p.piCLI != nil {
		list = append(list, entrant{name: "pi --export", argv: append(slices.Clone(p.piCLI), "--export", s.Path, "{scratch}/pi.html")})
	}
	for _, e := range p.drivers(s, "export", s.Path, "{scratch}/omp.html") {
		if e.name == "omp" { // the others export from their command line
			e.mayDiffer = "pages differ"
			list = append(list, e)
		}
	}
	return p.limit(list, "cp", nil, s.Path, "{scratch}/copy")
}
