package commands

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/convert"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands/composer"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// maxContext is the longest text of a thing in the editor, in bytes.
const maxContext = 64 << 10

// maxReferenced is the longest text that the references of one prompt add, in bytes.
const maxReferenced = 1 << 20

// EditorContext gives access to things in the editor that a prompt can name, such as the selection.
type EditorContext interface {
	// Kinds returns the kinds of [composer.EditorKinds] that the editor supports.
	Kinds() []string
	// Piece returns a thing; query is the name of a symbol. It returns nil if there is none. It asks the editor, so it
	// must not be called while a lock is held.
	Piece(ctx context.Context, cwd, kind, query string) (*ContextPiece, error)
}

// ContextPiece is a thing in the editor: a text, or a part of a file, of which the unsaved text counts.
type ContextPiece struct {
	Text  string `json:"text,omitempty"`
	URI   string `json:"uri,omitempty" jsonschema:"A file: URI in the folder. Ignored if there is a text."`
	Range *Range `json:"range,omitempty" jsonschema:"Of uri. Default: the whole file."`
	Label string `json:"label,omitempty" jsonschema:"What the text is, in a few words. Default: the kind."`
}

// Referred is what the references of a prompt add to it.
type Referred struct {
	Text   string // to put before the prompt
	Images []provider.Block
	Notes  []string // sentences for the user about references that add nothing
}

// Refer returns what the references in the text of a prompt add to it; see [composer.Parse]. attachments are sent anyway, and
// not twice. The error is that of ctx.
func Refer(ctx context.Context, env *Env, cwd, text string, attachments []Attachment) (Referred, error) {
	c := composing{
		env: env, cwd: cwd, at: newAttacher(env), named: map[string]bool{},
		finder: composer.Finder{Fs: env.Fs, Cwd: cwd, Home: env.Finder.Home, Sensitive: env.sensitive},
	}
	if env.Workspace == nil || env.Fs == nil {
		return Referred{}, nil
	}
	for _, a := range attachments {
		if path, err := c.at.paths.absolute(cwd, a.URI, "attachments"); err == nil && a.Range == nil {
			c.named[path] = true
		}
	}
	for _, word := range composer.Parse(text) {
		if err := c.word(ctx, word); err != nil {
			return Referred{}, err
		}
	}
	return c.out, nil
}

// composing resolves the references of one prompt.
type composing struct {
	env    *Env
	cwd    string
	at     attacher
	finder composer.Finder
	named  map[string]bool // files that are sent whole, and names of other places
	out    Referred
}

// word adds what a reference names. The error is that of ctx.
func (c *composing) word(ctx context.Context, w composer.Word) error {
	if kind, query, ok := w.Kind(); ok && c.env.Context != nil && slices.Contains(c.env.Context.Kinds(), kind) {
		return c.editor(ctx, kind, query)
	}
	place, problem, ok := c.finder.Find(w)
	switch {
	case !ok:
		c.note(problem)
		return nil
	case !c.first(place):
		return nil
	case place.Folder:
		names, err := composer.List(c.env.Fs, place.Path)
		if err != nil {
			c.note(fmt.Sprintf("The folder %s cannot be read: %v.", w.Text, err))
			return nil
		}
		c.add(w.Text, attachedFiles{text: convert.File(c.shown(place.Path)+"/", ` type="folder"`, names) + "\n\n"})
		return nil
	}
	a := Attachment{URI: place.Path}
	if lines := place.Lines; lines != (composer.Lines{}) {
		a.Range = &Range{Position{Line: lines.From - 1}, Position{Line: lines.To - 1, Character: 1}}
	}
	return c.file(ctx, w.Text, a)
}

// first reports whether a place is not sent yet.
func (c *composing) first(p composer.Place) bool {
	key := p.Path
	if p.Lines != (composer.Lines{}) {
		key = fmt.Sprintf("%s:%d-%d", p.Path, p.Lines.From, p.Lines.To)
	}
	if c.named[p.Path] || c.named[key] {
		return false
	}
	c.named[key] = true
	return true
}

// file adds a file, or notes why it is not sent. The error is that of ctx.
func (c *composing) file(ctx context.Context, name string, a Attachment) error {
	files, err := c.at.all(ctx, c.cwd, []Attachment{a})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		c.note(err.Error())
	default:
		c.add(name, files)
	}
	return nil
}

// editor adds a thing in the editor. The error is that of ctx.
func (c *composing) editor(ctx context.Context, kind, query string) error {
	piece, err := c.env.Context.Piece(ctx, c.cwd, kind, query)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		c.note(fmt.Sprintf("The editor did not answer for @%s: %v.", kind, err))
		return nil
	case piece == nil || piece.Text == "" && piece.URI == "":
		c.note(nothing(kind, query))
		return nil
	case piece.Text != "":
		label := piece.Label
		if label == "" {
			label = kind
		}
		c.add(kind, attachedFiles{text: convert.File(visible.Line(label), fmt.Sprintf(" type=%q", kind), cut(piece.Text)) + "\n\n"})
		return nil
	}
	path, err := c.at.paths.absolute(c.cwd, piece.URI, "uri")
	if err != nil || c.env.sensitive(path) {
		c.note(fmt.Sprintf("@%s is not sent, because its file may contain secrets.", kind))
		return nil
	}
	return c.file(ctx, "@"+kind, Attachment{URI: path, Range: piece.Range})
}

// nothing says that there is no such thing in the editor.
func nothing(kind, query string) string {
	switch kind {
	case composer.Problems:
		return "There are no problems in the folder."
	case composer.Selection:
		return "Nothing is selected in the editor."
	case composer.Buffer:
		return "No file of the folder is open in the editor."
	case composer.Terminal:
		return "There is no output of a terminal."
	}
	return fmt.Sprintf("There is no symbol %q.", query)
}

// cut returns the beginning of a text that is too long.
func cut(text string) string {
	if len(text) <= maxContext {
		return text
	}
	return strings.ToValidUTF8(text[:maxContext], "") + fmt.Sprintf("\n[%d more bytes]", len(text)-maxContext)
}

// add adds files, unless the prompt becomes too long.
func (c *composing) add(name string, files attachedFiles) {
	if len(c.out.Text)+len(files.text) > maxReferenced {
		c.note(name + " is not sent, because the prompt would become too long.")
		return
	}
	c.out.Text += files.text
	c.out.Images = append(c.out.Images, files.images...)
}

// note adds a sentence for the user.
func (c *composing) note(sentence string) {
	if sentence != "" {
		c.out.Notes = append(c.out.Notes, visible.Line(sentence))
	}
}

// shown returns a path relative to the folder, if it is there.
func (c *composing) shown(path string) string {
	if rel, err := filepath.Rel(c.cwd, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

func (env *Env) sensitive(path string) bool {
	return env.Sessions != nil && env.Sessions.Sensitive(path)
}
