package commands

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/agentbase"
	exporter "github.com/xcsh-ls/xcsh-ls/session/export"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// agentBase is the format in which agent-base reads a session.
const agentBase = "agentBase"

// notListed is said of an export that agent-base will not find by itself.
const notListed = "agent-base resumes the session by its name, but does not list it until its index is rebuilt; registerInIndex puts it there."

// agentBaseName is the name of the file that a session gets there: it is the session's id,
// and what the person called the session makes the better one.
func agentBaseName(sub subject) string {
	return session.Slug(sub.doc.Title().Text, sub.doc.Header().ID) + extensions[agentBase]
}

// checkAgentBaseName refuses a name that agent-base would not take for a session's.
func checkAgentBaseName(path string) error {
	name := filepath.Base(path)
	stem, ok := strings.CutSuffix(name, extensions[agentBase])
	if !ok {
		return fault.New(fault.InvalidArgument, "The name of a session of agent-base must end with .json, not %q.", name).With("field", "path")
	}
	if err := agentbase.CheckID(stem); err != nil {
		return fault.New(fault.InvalidArgument, "agent-base takes no session called %q: the name %w. Choose another with \"path\".", stem, err).With("field", "path")
	}
	return nil
}

// exportToAgentBase writes the active branch of a session at path in agent-base's form. An
// index that cannot be extended is an error behind which the file stays.
func (env *Env) exportToAgentBase(ctx context.Context, path string, sub subject, style exportStyle, a ExportArgs) (r ExportResult, err error) {
	state, err := sub.doc.ContextState(sub.leaf)
	if err != nil {
		return r, err
	}
	description, err := sub.doc.Description()
	if err != nil {
		return r, err
	}
	doc := exporter.Doc{Title: sub.doc.Title().Text, Entries: branchLines(ctx, sub)}
	if style.redact {
		redactor := new(exporter.Redactor)
		doc = redactor.Doc(doc)
		description = redactor.Text(description)
	}
	meta := agentbase.Metadata{
		ID: strings.TrimSuffix(filepath.Base(path), extensions[agentBase]), Name: doc.Title, Description: description, Created: createdTime(sub.doc),
	}
	if meta.Name == "" {
		meta.Name = meta.ID
	}
	if ref, ok := provider.ParseRef(state.Models["default"]); ok {
		meta.Provider, meta.Model = ref.Provider, ref.ID
	}
	branch, losses := agentbase.Branch{Entries: doc.Entries, Tools: a.IncludeTool}, agentbase.Losses{}
	if err := meta.Survey(branch.Messages(losses)); err != nil {
		return r, err
	}
	r.Bytes, err = env.writeExport(ctx, path, style.overwrite, func(w io.Writer) error {
		return agentbase.Write(w, meta, branch.Messages(nil))
	})
	if err != nil {
		return ExportResult{}, err
	}
	r.Path, r.Losses, r.Note = path, losses, notListed
	if style.redact {
		r.Redacted = doc.Redacted()
	}
	if a.RegisterInIndex {
		r.Note = ""
		err = env.register(path, meta)
	}
	return r, err
}

// branchLines yields the entries of the active branch, from its root to its leaf.
func branchLines(ctx context.Context, sub subject) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for _, i := range sub.doc.PathTo(sub.leaf) {
			e, err := sub.doc.Entry(i)
			if err == nil && ctx.Err() != nil {
				err = fault.New(fault.Cancelled, "The export was cancelled.")
			}
			if !yield(e.Raw, err) || err != nil {
				return
			}
		}
	}
}

// createdTime is when a session began, as far as its header says it.
func createdTime(d *session.Document) time.Time {
	at, ok := session.ParseTime(d.Header().Timestamp)
	if !ok {
		return time.UnixMilli(0)
	}
	return at
}

// register puts a session into the index beside its file.
func (env *Env) register(path string, meta agentbase.Metadata) error {
	index := filepath.Join(filepath.Dir(path), "index.json")
	err := env.Store.UpdateFile(index, func(old []byte) ([]byte, error) {
		content, err := agentbase.AddToIndex(old, meta, env.Finder.Now())
		if err != nil {
			return nil, fault.New(fault.Damaged, "%s %w; it stays as it is.", index, err).With("path", index)
		}
		return content, nil
	})
	if err != nil {
		return fault.New(fault.KindOf(err), "The session is exported to %s, but is not in the index: %w", path, err).With("path", path)
	}
	return nil
}
