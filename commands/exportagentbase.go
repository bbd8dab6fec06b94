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
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/agentbase"
	exporter "github.com/xcsh-ls/xcsh-ls/session/export"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// agentBase is the file format of agent-base.
const agentBase = "agentBase"

// notListed is the note on an export that is not in agent-base's index, for users of editors. Shells have their own; see
// [ExportResult.Unlisted].
const notListed = "agent-base can resume the session by name, but lists it only after its index is rebuilt. To add it to the index, export with registerInIndex."

// agentBaseName returns the file name for an agent-base session. It becomes the session's ID,
// so it is made from the title if there is one.
func (job exportJob) agentBaseName(sub subject) string {
	title := sub.doc.Title().Text
	if job.style.redact {
		title = job.redactor().Text(title)
	}
	return library.Slug(title, sub.doc.Header().ID) + extensions[agentBase]
}

// checkAgentBaseName returns an error for a name that agent-base does not accept.
func checkAgentBaseName(path string) error {
	name := filepath.Base(path)
	stem, ok := strings.CutSuffix(name, extensions[agentBase])
	if !ok {
		return fault.New(fault.InvalidArgument, "The name of an agent-base session must end with .json: %q.", name).With("field", "path")
	}
	if err := agentbase.CheckID(stem); err != nil {
		return fault.New(fault.InvalidArgument, "agent-base does not accept a session named %q: the name %w. Choose another path.", stem, err).With("field", "path")
	}
	return nil
}

// toAgentBase writes the active branch of a session to path in agent-base's format. If
// the index cannot be updated, it returns an error and keeps the file.
func (job exportJob) toAgentBase(ctx context.Context, path string, sub subject, a ExportArgs) (r ExportResult, err error) {
	state, _, err := session.StreamContext(sub.doc, sub.leaf, nil)
	if err != nil {
		return r, err
	}
	description, err := sub.doc.Description()
	if err != nil {
		return r, err
	}
	doc := exporter.Doc{Title: sub.doc.Title().Text, Entries: branchLines(ctx, sub)}
	doc.Entries = job.counted(doc.Entries, exportPasses(agentBase, job.style.redact), len(sub.doc.PathTo(sub.leaf)))
	var redactor *exporter.Redactor
	if job.style.redact {
		redactor = job.redactor()
		doc = redactor.Doc(doc)
		description = redactor.TextAt("description", description)
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
	r.Bytes, err = job.writeFile(ctx, path, func(w io.Writer) error {
		return agentbase.Write(w, meta, branch.Messages(nil))
	})
	if err != nil {
		return ExportResult{}, err
	}
	r.Path, r.Losses = path, losses
	if job.style.redact {
		r.redacted(redactor)
	}
	if a.RegisterInIndex {
		err = job.register(path, meta)
	} else {
		r.Unlisted, r.Note = true, notListed
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

// createdTime returns the time in a session's header, or the Unix epoch.
func createdTime(d *session.Document) time.Time {
	at, ok := session.ParseTime(d.Header().Timestamp)
	if !ok {
		return time.UnixMilli(0)
	}
	return at
}

// register adds a session to the index in the same directory.
func (job exportJob) register(path string, meta agentbase.Metadata) error {
	index := filepath.Join(filepath.Dir(path), "index.json")
	err := job.store.UpdateFile(index, func(old []byte) ([]byte, error) {
		content, err := agentbase.AddToIndex(old, meta, job.finder.Now())
		if err != nil {
			return nil, fault.New(fault.Damaged, "%s %w; it was not changed.", index, err).With("path", index)
		}
		return content, nil
	})
	if err != nil {
		return fault.New(fault.KindOf(err), "The session was exported to %s but could not be added to the index: %w", path, err).With("path", path)
	}
	return nil
}
