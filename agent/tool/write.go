package tool

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the tools' descriptions
	"errors"
	"fmt"
	"io/fs"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

//go:embed write.md
var writeDoc string

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func newWrite(o Options) Tool {
	return define(definition[writeArgs]{
		name: "write", doc: writeDoc, changes: true,
		accept: func(args arguments) error {
			args.rename("path", "file_path", "filePath")
			return nil
		},
		check: func(a writeArgs) error { return cmp.Or(needPath("write", a.Path), filesOrResources("write", a.Path)) },
		preview: func(ctx context.Context, env Env, a writeArgs) (Preview, error) {
			path, err := o.place(env, "write", a.Path, true)
			if err != nil {
				return Preview{}, err
			}
			was, err := readOrNew(ctx, o, env, path)
			if err != nil {
				return Preview{}, err
			}
			title := "Create " + a.Path
			if was.Exists {
				title = "Overwrite " + a.Path
			}
			return o.preview(title, patch(a.Path, string(was.Content), a.Content), path, was)
		},
		run: func(ctx context.Context, env Env, a writeArgs) (Result, error) {
			path, err := o.place(env, "write", a.Path, true)
			if err != nil {
				return Result{}, err
			}
			unlock, err := lockFile(ctx, path)
			if err != nil {
				return Result{}, err
			}
			defer unlock()
			if env.Permission.revises([]byte(a.Content)) {
				return env.Permission.Revision.write(ctx, o, env, "Write "+a.Path, a.Path, path)
			}
			was, err := readOrNew(ctx, o, env, path)
			if err != nil {
				return Result{}, err
			}
			if was.Exists && bytes.Equal(was.Content, []byte(a.Content)) {
				return TextResult(a.Path + " already has this content."), nil
			}
			defer env.Background.approved(ctx, path)()
			saved, err := env.Files.WriteFile(ctx, "Write "+a.Path, path, was, []byte(a.Content))
			if err != nil {
				return Result{}, err
			}
			return TextResult(fmt.Sprintf("Successfully wrote %s to %s.%s", counted(len(a.Content), "byte"), a.Path, savedNote(saved))), nil
		},
	})
}

func needPath(tool, path string) error {
	if path == "" {
		return badArgument("path", "%s needs a path.", tool)
	}
	return nil
}

// readOrNew reads a file that need not exist.
func readOrNew(ctx context.Context, o Options, env Env, path string) (File, error) {
	if err := cmp.Or(readable(o.Fs, path), o.mayShow(path)); err != nil {
		return File{}, err
	}
	f, err := env.Files.ReadFile(context.WithValue(ctx, creatingKey{}, true), path)
	if errors.Is(err, fs.ErrNotExist) || fault.Is(err, fault.NotFound) {
		return File{}, nil
	}
	if err := cmp.Or(err, o.mayUse(path, f)); err != nil {
		return File{}, err
	}
	return f, nil
}

// savedNote returns a note for the model about a fact that it cannot see: commands still read the
// old file.
func savedNote(s Saved) string {
	if !s.Buffer {
		return ""
	}
	return " The change is in the editor's unsaved buffer; the file on disk does not change until the user saves it."
}
