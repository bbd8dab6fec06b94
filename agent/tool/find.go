package tool

import (
	"cmp"
	"context"
	_ "embed" // the tools' descriptions
	"io/fs"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/tool/regular"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

//go:embed find.md
var findDoc string

const findLimit = 1000

type findArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitzero" jsonschema:"Directory to search, to which results are relative."`
	Limit   int    `json:"limit,omitzero" jsonschema:"Default: 1000."`
}

func newFind(o Options) Tool {
	return define(definition[findArgs]{
		name: "find", doc: findDoc,
		accept: acceptFind,
		check: func(a findArgs) error {
			_, err := globMatcher("find", a.Pattern)
			return cmp.Or(onlyFiles("find", a.Path), err, checkLimit("find", a.Limit))
		},
		run: func(ctx context.Context, env Env, a findArgs) (Result, error) {
			matches, err := globMatcher("find", a.Pattern)
			if err != nil {
				return Result{}, err
			}
			dir := o.path(env, a.Path)
			if err := cmp.Or(regular.Ordinary(o.Fs, dir), o.mayShow(dir), statDir(o.Fs, dir)); err != nil {
				return Result{}, err
			}
			limit := cmp.Or(a.Limit, findLimit)
			var found []string
			err = walk(ctx, o.Fs, o.Private.Resolve(o.Fs), dir, func(rel string, info fs.FileInfo) bool {
				if matches(rel) {
					if info.IsDir() {
						rel += "/"
					}
					found = append(found, rel)
				}
				return len(found) <= limit
			})
			if err != nil {
				return Result{}, err
			}
			return listResult(found, limit, "No files found matching pattern", "results", func(d *listDetails, limit int) {
				d.ResultLimitReached = limit
			}), nil
		},
	})
}

// acceptFind understands the parameters of oh-my-pi's glob, whose path is the pattern, and of xcsh's find.
func acceptFind(args arguments) error {
	if v, ok := args["gitignore"]; ok && string(v) == "false" {
		return badArgument("gitignore", "find omits files that .gitignore excludes; use bash to find all files.")
	}
	args.drop("gitignore", "hidden", "timeout")
	if _, has := args["pattern"]; !has {
		splitGlob(args, "pattern")
		if _, has := args["pattern"]; !has {
			args["pattern"] = jsontext.Value(`"*"`)
		}
	}
	return nil
}

// splitGlob moves the part of a path that is a pattern, and what follows it, into another parameter.
func splitGlob(args arguments, into string) {
	path, ok := args.text("path")
	if !ok {
		return
	}
	at := strings.IndexAny(path, "*?[{")
	if at < 0 || Scheme(path) != "" {
		args["path"] = rawjson.Quote(path)
		return
	}
	dir, pattern := "", path
	if slash := strings.LastIndexByte(path[:at], '/'); slash >= 0 {
		dir, pattern = path[:max(slash, 1)], path[slash+1:]
	}
	args[into] = rawjson.Quote(pattern)
	if dir != "" {
		args["path"] = rawjson.Quote(dir)
	}
}
