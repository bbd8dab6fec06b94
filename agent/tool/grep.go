package tool

import (
	"cmp"
	"context"
	_ "embed" // the tools' descriptions
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/tool/regular"
)

//go:embed grep.md
var grepDoc string

const (
	grepLimit = 100

	// maxSearched is the largest file that is searched, in bytes.
	maxSearched = 32 << 20

	// grepBatch is how many files are searched before the limit is checked.
	grepBatch = 512
)

type grepArgs struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path,omitzero" jsonschema:"File or directory to search."`
	Glob       string `json:"glob,omitzero" jsonschema:"Such as *.go or src/**/*.ts; a leading ! excludes files."`
	IgnoreCase bool   `json:"ignoreCase,omitzero"`
	Literal    bool   `json:"literal,omitzero" jsonschema:"The pattern is plain text."`
	Context    int    `json:"context,omitzero" jsonschema:"Lines before and after each match."`
	Limit      int    `json:"limit,omitzero" jsonschema:"Default: 100."`
}

// grepDetails are pi's.
type grepDetails struct {
	MatchLimitReached int         `json:"matchLimitReached,omitempty"`
	LinesTruncated    bool        `json:"linesTruncated,omitempty"`
	Truncation        *Truncation `json:"truncation,omitempty"`
}

// foundLine is a line that matches, or one around such a line.
type foundLine struct {
	number int // from 1
	text   string
	match  bool
}

// searcher searches files. The result has the lines of files[i] at i, in their order, with no more
// than most matches and the lines around them; a file that is binary or cannot be read has none.
// All searchers find the same lines.
type searcher interface {
	search(ctx context.Context, files []string, around, most int) ([][]foundLine, error)
}

func newGrep(o Options) Tool {
	return define(definition[grepArgs]{
		name: "grep", doc: grepDoc,
		accept: acceptGrep,
		check: func(a grepArgs) error {
			_, err := compile(a)
			if err == nil && a.Glob != "" {
				_, err = globMatcher("grep", a.Glob)
			}
			if err == nil && a.Context < 0 {
				err = badArgument("context", "grep: context must not be negative.")
			}
			return cmp.Or(filesOrResources("grep", a.Path), err, checkLimit("grep", a.Limit))
		},
		run: func(ctx context.Context, env Env, a grepArgs) (Result, error) {
			p, err := compile(a)
			if err != nil {
				return Result{}, err
			}
			unsaved, err := SaveEdits(ctx, env.Files, env.Cwd, false)
			if err != nil {
				return Result{}, err
			}
			g := grep{args: a, limit: cmp.Or(a.Limit, grepLimit), context: min(a.Context, MaxLines), engine: newSearcher(o, p)}
			path, err := o.place(env, "grep", a.Path, false)
			if err != nil {
				return Result{}, err
			}
			if err := g.list(ctx, o, path); err != nil {
				return Result{}, err
			}
			if err := g.run(ctx); err != nil {
				return Result{}, err
			}
			return g.result().withNote(unsavedNote(env.Cwd, unsaved)), nil
		},
	})
}

// acceptGrep understands the names of oh-my-pi and xcsh.
func acceptGrep(args arguments) error {
	args.rename("ignoreCase", "i")
	if v, ok := args["case"]; ok {
		delete(args, "case")
		if _, has := args["ignoreCase"]; !has && (string(v) == "false" || string(v) == `"false"`) {
			args["ignoreCase"] = jsontext.Value("true")
		}
	}
	if _, has := args["glob"]; !has {
		splitGlob(args, "glob")
	}
	for _, name := range []string{"pre", "post"} {
		if v, ok := args[name]; ok {
			if was := args["context"]; len(was) == 0 || len(v) > len(was) || len(v) == len(was) && string(v) > string(was) {
				args["context"] = v // the larger of two whole numbers
			}
			delete(args, name)
		}
	}
	if v, ok := args["gitignore"]; ok && string(v) == "false" {
		return badArgument("gitignore", "grep omits files that .gitignore excludes; use bash to search all files.")
	}
	args.drop("gitignore", "timeout", "hidden")
	for name, instead := range map[string]string{
		"type": "use glob, for example *.go", "multiline": "matches do not span lines", "offset": "raise limit to see more", "skip": "raise limit to see more",
	} {
		if err := args.refuse("grep", name, instead); err != nil {
			return err
		}
	}
	return nil
}

// grep is one search.
type grep struct {
	args    grepArgs
	limit   int
	context int
	engine  searcher

	files []string // to search, in order
	names []string // how they are shown

	tooLarge int // files that are not searched
	out      []string
	size     int // of out, in bytes
	total    int // lines, also those that are not in out
	matches  int
	more     bool // there are matches beyond the limit
	cutLines bool
}

// list fills files.
func (g *grep) list(ctx context.Context, o Options, path string) error {
	if err := cmp.Or(regular.Ordinary(o.Fs, path), o.mayShow(path)); err != nil {
		return err
	}
	info, err := o.Fs.Stat(path)
	switch {
	case err != nil:
		return ioFault("read", path, err)
	case !info.IsDir():
		if info, err = regular.Check(o.Fs, path); err != nil || info == nil {
			return cmp.Or(err, ioFault("read", path, fs.ErrNotExist))
		}
		g.add(path, filepath.Base(path), info)
		return nil
	}
	matches := func(string) bool { return true }
	if g.args.Glob != "" {
		if matches, err = globMatcher("grep", g.args.Glob); err != nil {
			return err
		}
	}
	return walk(ctx, o.Fs, o.Private.Resolve(o.Fs), path, func(rel string, info fs.FileInfo) bool {
		if matches(rel) {
			g.add(filepath.Join(path, filepath.FromSlash(rel)), rel, info)
		}
		return true
	})
}

func (g *grep) add(path, name string, info fs.FileInfo) {
	switch {
	case !info.Mode().IsRegular():
	case info.Size() > maxSearched:
		g.tooLarge++
	default:
		g.files, g.names = append(g.files, path), append(g.names, name)
	}
}

// run searches the files until there is one match more than the limit.
func (g *grep) run(ctx context.Context) error {
	next := 0
	for batch := range slices.Chunk(g.files, grepBatch) {
		found, err := g.engine.search(ctx, batch, g.context, g.limit-g.matches+1)
		if err != nil {
			return err
		}
		for i, lines := range found {
			g.show(g.names[next+i], lines)
			if g.more {
				return nil
			}
		}
		next += len(batch)
	}
	return nil
}

// show adds the lines of one file. The last match that the limit allows is followed by the lines
// around it, and only a further match means that there are more.
func (g *grep) show(name string, lines []foundLine) {
	last := -1 // the last line of the last match's surroundings
	for _, l := range lines {
		if g.matches == g.limit && l.match {
			g.more, l.match = true, false
		}
		if l.match {
			g.matches++
			last = l.number + g.context
		} else if g.matches == g.limit && l.number > last {
			continue // around a match that is not shown
		}
		g.line(name, l)
	}
}

func (g *grep) line(name string, l foundLine) {
	text, cut := cutLine(strings.ToValidUTF8(l.text, "\uFFFD"))
	g.cutLines = g.cutLines || cut
	line := fmt.Sprintf("%s-%d- %s", name, l.number, text)
	if l.match {
		line = fmt.Sprintf("%s:%d: %s", name, l.number, text)
	}
	line = strings.ToValidUTF8(line, "\uFFFD") // the name
	g.total++
	if g.size <= MaxBytes { // lines beyond the limit are only counted
		g.out = append(g.out, line)
	}
	g.size += len(line) + 1
}

func (g *grep) result() Result {
	var notes []string
	var d grepDetails
	text := "No matches found"
	if g.matches > 0 {
		var cut Truncation
		text, cut = head(strings.Join(g.out, "\n"))
		if g.more {
			d.MatchLimitReached = g.limit
			notes = append(notes, limitReached(g.limit, "matches"))
		}
		if cut.Truncated {
			cut.TotalLines, cut.TotalBytes = g.total, g.size-1
			d.Truncation = &cut
			notes = append(notes, cutNote(cut))
		}
		if g.cutLines {
			d.LinesTruncated = true
			notes = append(notes, fmt.Sprintf("Some lines truncated to %d chars. Use read to see whole lines", MaxLineChars))
		}
	}
	if g.tooLarge > 0 {
		notes = append(notes, fmt.Sprintf("%s larger than %s not searched", counted(g.tooLarge, "file"), sizeText(maxSearched)))
	}
	r := TextResult(text + bracketed(notes))
	if d != (grepDetails{}) {
		r.Details = details(d)
	}
	return r
}
