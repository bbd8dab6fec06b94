package tool

import (
	"cmp"
	"context"
	_ "embed" // the tools' descriptions

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

//go:embed edit.md
var editDoc string

type editArgs struct {
	Path  string        `json:"path"`
	Edits []replacement `json:"edits"`
}

// replacement is one change of a text.
type replacement struct {
	OldText string `json:"oldText" jsonschema:"The exact text to replace."`
	NewText string `json:"newText"`
	All     bool   `json:"all,omitzero" jsonschema:"Replace every occurrence."`
}

func newEdit(o Options) Tool {
	return define(definition[editArgs]{
		name: "edit", doc: editDoc, changes: true,
		accept: acceptEdit,
		check: func(a editArgs) error {
			if err := cmp.Or(needPath("edit", a.Path), filesOrResources("edit", a.Path)); err != nil {
				return err
			}
			if len(a.Edits) == 0 {
				return badArgument("edits", "edit needs at least one replacement in edits.")
			}
			return nil
		},
		preview: func(ctx context.Context, env Env, a editArgs) (Preview, error) {
			e, err := prepareEdit(ctx, o, env, a)
			if err != nil {
				return Preview{}, err
			}
			return o.preview("Edit "+a.Path, e.details.Patch, e.path, e.was)
		},
		run: func(ctx context.Context, env Env, a editArgs) (Result, error) {
			path, err := o.place(env, "edit", a.Path, true)
			if err != nil {
				return Result{}, err
			}
			unlock, err := lockFile(ctx, path)
			if err != nil {
				return Result{}, err
			}
			defer unlock()
			e, err := prepareEdit(ctx, o, env, a)
			if env.Permission.revises(e.content) {
				return env.Permission.Revision.write(ctx, o, env, "Edit "+a.Path, a.Path, path)
			}
			if err != nil {
				return Result{}, err
			}
			defer env.Background.approved(ctx, e.path)()
			saved, err := env.Files.WriteFile(ctx, "Edit "+a.Path, e.path, e.was, e.content)
			if err != nil {
				return Result{}, err
			}
			r := TextResult("Successfully replaced " + counted(e.blocks, "block") + " in " + a.Path + "." + e.note + savedNote(saved))
			r.Details = details(e.details)
			return r, nil
		},
	})
}

// edited is a change that was worked out and not made yet.
type edited struct {
	path    string
	was     File
	content []byte
	blocks  int
	note    string
	details editDetails
}

func prepareEdit(ctx context.Context, o Options, env Env, a editArgs) (edited, error) {
	path, err := o.place(env, "edit", a.Path, true)
	if err != nil {
		return edited{}, err
	}
	e := edited{path: path}
	if e.was, err = readFile(ctx, o, env, e.path); err != nil {
		return e, err
	}
	doc := newDocument(string(e.was.Content))
	spans, fuzzy, err := doc.find(a.Path, a.Edits)
	if err != nil {
		return e, err
	}
	content := doc.splice(spans)
	if content == string(e.was.Content) {
		return e, fault.New(fault.InvalidArgument, "No changes made to %s: the replacements are identical to the existing text.", a.Path)
	}
	e.content, e.blocks = []byte(content), len(spans)
	if fuzzy {
		e.note = " Some text matched only after ignoring spaces at line ends, the style of quotes, dashes and spaces, and the encoding of accents."
	}
	e.details = newEditDetails(a.Path, doc.text, newDocument(content).text)
	return e, nil
}

// acceptEdit understands a list of edits that is a string or a single edit, edits beside
// the path instead of in a list, and the names of oh-my-pi, whose edits each name the file.
func acceptEdit(args arguments) error {
	args.rename("path", "file_path", "filePath")
	if _, ok := args["input"]; ok {
		return badArgument("input", `edit takes no patch in "input". Read the file, then call edit with its path and with edits, a list of {"oldText": the exact text to replace, "newText": the new text}.`)
	}
	if text, ok := args.text("edits"); ok {
		args["edits"] = jsontext.Value(text)
		if !args["edits"].IsValid() {
			return badArgument("edits", "edit: edits must be a list of {oldText, newText}; the string is not valid JSON.")
		}
	}
	top := arguments{}
	for _, name := range []string{"oldText", "newText", "old_text", "new_text", "old_string", "new_string", "all", "replace_all"} {
		if v, ok := args[name]; ok {
			top[name] = v
			delete(args, name)
		}
	}
	var list []arguments
	switch v := args["edits"]; v.Kind() {
	case '[':
		if jsonv2.Unmarshal(v, &list, jsontext.AllowInvalidUTF8(true)) != nil {
			return badArgument("edits", "edit: each of edits must be an object {oldText, newText}.")
		}
	case '{':
		list = make([]arguments, 1)
		if jsonv2.Unmarshal(v, &list[0], jsontext.AllowInvalidUTF8(true)) != nil {
			return badArgument("edits", "edit: edits must be a list of {oldText, newText}.")
		}
	}
	if len(top) > 0 {
		list = append(list, top)
	}
	if list == nil {
		return nil
	}
	for _, edit := range list {
		if err := acceptReplacement(args, edit); err != nil {
			return err
		}
	}
	raw, err := jsonv2.Marshal(list, jsontext.AllowInvalidUTF8(true))
	args["edits"] = raw
	return err
}

func acceptReplacement(args, edit arguments) error {
	edit.rename("oldText", "old_text", "old_string")
	edit.rename("newText", "new_text", "new_string")
	edit.rename("all", "replace_all")
	for _, other := range []string{"op", "diff", "loc", "pos", "lines", "target", "sel", "rename"} {
		if _, ok := edit[other]; ok {
			return badArgument("edits", "edit replaces exact text: each of edits is {oldText, newText}, without %q.", other)
		}
	}
	path, ok := edit["path"]
	if !ok {
		return nil
	}
	delete(edit, "path")
	if was, ok := args["path"]; ok && string(was) != string(path) {
		return badArgument("path", "edit changes one file at a time; make a separate call for each file.")
	}
	args["path"] = path
	return nil
}
