package pi

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// ompCall returns the tool call of a question of omp or xcsh. Only a call that names its one file plainly counts as
// an edit of that file. All other calls are treated like commands: an edit in the form of a text that names files, a
// move, and paths that are addresses or lead into archives.
func (e *Engine) ompCall(q question) engine.Call {
	call := newCall(q)
	if q.Own == nil || !*q.Own {
		return call
	}
	switch {
	case e.d.harmless(q.Tool, q.Args):
		call.Effect, call.Path = engine.Reads, e.readPath(q.Args, withoutPlace)
	case q.Tool == "write":
		w, err := decodeWrite(q.Args)
		if err == nil && isPlainPath(w.path) {
			e.changes(&call, w.path, w.apply)
		}
	case q.Tool == "edit":
		paths, plain := editedPaths(q.Args)
		if plain && len(paths) == 1 {
			e.changes(&call, paths[0], nil)
		}
	}
	return call
}

// changes makes a call a change of a file.
func (e *Engine) changes(call *engine.Call, path string, apply func(tool.File) ([]byte, error)) {
	if resolved, err := resolvePath(path, e.at.Cwd); err == nil {
		call.Path, call.Effect, call.Apply = resolved, engine.Changes, apply
	}
}

var (
	address = regexp.MustCompile(`^(?i:[a-z][a-z0-9+.-]+:/|www\.)`)
	drive   = regexp.MustCompile(`^[A-Za-z]:[\\/]`)
)

// isPlainPath reports whether a path is that of a file, rather than an address, or a place in an archive or a
// database.
func isPlainPath(path string) bool {
	return path != "" && !address.MatchString(path) && !strings.Contains(drive.ReplaceAllString(path, ""), ":")
}

// namesAddress reports whether an argument is an address. Arguments that are nested count too.
func namesAddress(args json.RawMessage) bool {
	switch rawjson.Kind(args) {
	case '"':
		s, _ := rawjson.String(args)
		return address.MatchString(strings.TrimLeft(s, " @\t\n"))
	case '{', '[':
		var any any
		return json.Unmarshal(args, &any) != nil || hasAddress(any)
	}
	return false
}

func hasAddress(v any) bool {
	switch v := v.(type) {
	case string:
		return address.MatchString(strings.TrimLeft(v, " @\t\n"))
	case []any:
		return slices.ContainsFunc(v, hasAddress)
	case map[string]any:
		for _, member := range v {
			if hasAddress(member) {
				return true
			}
		}
	}
	return false
}

// editedPaths returns the files that the arguments of omp's and xcsh's tool edit name, in each form that is known. plain
// is false if the call may do more than change the content of these files.
func editedPaths(args json.RawMessage) (paths []string, plain bool) {
	plain = rawjson.Kind(args) == '{'
	add := func(v []byte) {
		path, ok := rawjson.GetString(v, "path")
		if !ok {
			return
		}
		plain = plain && isPlainPath(path)
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	check := func(v []byte) {
		for _, name := range []string{"move", "rename", "delete"} {
			plain = plain && rawjson.Kind(rawjson.Get(v, name)) != '"' && string(rawjson.Get(v, name)) != "true"
		}
		op, ok := rawjson.GetString(v, "op")
		plain = plain && (!ok || op == "update" || op == "create")
	}
	add(args)
	check(args)
	edits := rawjson.Get(args, "edits")
	if text, isText := rawjson.String(edits); isText {
		edits, plain = []byte(text), false
		if !json.Valid(edits) {
			edits = nil
		}
	}
	rawjson.Elements(edits, func(v []byte) bool {
		add(v)
		check(v)
		return len(paths) <= maxEdits
	})
	for _, name := range []string{"input", "patch", "diff"} {
		if text, ok := rawjson.GetString(args, name); ok {
			plain = false
			paths = append(paths, namedPaths(text)...)
		}
	}
	return paths, plain && len(paths) > 0
}

// header finds the lines of a patch that name its files: [a.go#1F2E], *** Update File: a.go, +++ b/a.go and ¶a.go#1F2E.
var header = regexp.MustCompile(`(?m)^\s*(?:\[([^\]\n]+)\]|\*\*\* (?:Add|Update|Delete) File: (.+)|\*\*\* Move to: (.+)|(?:---|\+\+\+) (?:[ab]/)?(\S.*)|[¶@]+\s*([^\s@].*?))\s*$`)

var hashSuffix = regexp.MustCompile(`#[0-9A-Za-z]*$`)

func namedPaths(text string) (paths []string) {
	for _, found := range header.FindAllStringSubmatch(text, maxEdits) {
		path := hashSuffix.ReplaceAllString(strings.TrimSpace(strings.Join(found[1:], "")), "")
		if path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// touched returns the files that a call of a tool may change, as far as its arguments name them: absolute, without
// the place in the file that some forms append.
func (e *Engine) touched(q question) (paths []string) {
	named, _ := editedPaths(q.Args)
	if q.Tool == "write" {
		if w, err := decodeWrite(q.Args); err == nil {
			named = []string{w.path}
		}
	}
	for _, path := range named {
		for _, form := range []string{path, withoutPlace(path)} {
			if resolved, err := resolvePath(form, e.at.Cwd); err == nil {
				paths = append(paths, filepath.Clean(resolved))
			}
		}
	}
	return paths
}

// withoutPlace returns a path up to its first colon.
func withoutPlace(path string) string {
	prefix := drive.FindString(path)
	rest, _, _ := strings.Cut(path[len(prefix):], ":")
	return prefix + rest
}
