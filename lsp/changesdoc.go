package lsp

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/uri"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// changesDoc is the suffix of a changes document's URI: xcsh:PATH/changes.md?since=SINCE shows the changes of the session at PATH.
const changesDoc = "/changes.md"

// baseScheme is the URI scheme of a file without its pending changes: xcsh-change:PATH?session=ID&base=SHA256.
const baseScheme = "xcsh-change"

func changesURI(path, since string) string {
	return transcriptScheme + strings.TrimPrefix(string(uri.File(path)), "file") + changesDoc + "?since=" + url.QueryEscape(since)
}

func isChangesURI(uri string) bool {
	_, _, ok := readChangesURI(uri)
	return ok
}

// readChangesURI is the inverse of [changesURI].
func readChangesURI(uri string) (path, since string, ok bool) {
	rest, ok := strings.CutPrefix(uri, transcriptScheme+":")
	if !ok {
		return "", "", false
	}
	rest, query, _ := strings.Cut(rest, "?")
	if rest, ok = strings.CutSuffix(rest, changesDoc); !ok {
		return "", "", false
	}
	values, err := url.ParseQuery(query)
	if path, ok = contentPath(rest); !ok || err != nil {
		return "", "", false
	}
	return path, values.Get("since"), true
}

// contentPath returns the path of a URI without its scheme. Clients omit the empty host.
func contentPath(rest string) (path string, ok bool) {
	if !strings.HasPrefix(rest, "//") {
		rest = "//" + rest
	}
	return textdoc.Path("file:" + rest)
}

// changesText returns the text of a changes document.
func (s *server) changesText(ctx context.Context, p textParams) (any, error) {
	path, since, ok := readChangesURI(p.URI)
	if !ok || filepath.Ext(path) != ".jsonl" || !s.files().MayRead(path) {
		return nil, noSuchText(p.URI)
	}
	shown := shownTranscript{uri: p.URI, path: path, file: stateOf(s.readOnlyEnv().Fs.Stat(path))}
	_, text, err := commands.ChangesDocument(ctx, s.config.envForCommand(), commands.ChangesArgs{
		Subject:      commands.Subject{Folder: commands.Folder{Cwd: filepath.Dir(path)}, Source: path},
		ChangesQuery: wire.ChangesQuery{Since: since},
	})
	if err != nil {
		return nil, err
	}
	s.transcripts.add(shown)
	return conn.EncodeJSON(map[string]string{"text": text})
}

// baseText returns the text of a file without its pending changes.
func (s *server) baseText(ctx context.Context, p textParams) (any, error) {
	rest, _ := strings.CutPrefix(p.URI, baseScheme+":")
	rest, query, _ := strings.Cut(rest, "?")
	path, ok := contentPath(rest)
	values, err := url.ParseQuery(query)
	id := values.Get("session")
	if !ok || err != nil || id == "" {
		return nil, noSuchText(p.URI)
	}
	cwd, live := s.folderOfSession(id)
	args := commands.ChangeArgs{SideQuery: wire.SideQuery{Path: path, Side: "base"}}
	args.Cwd = cwd
	if !live {
		args.Source = id
	}
	side, err := commands.Call[wire.Side](ctx, s.opts.Commands, s.config.envForCommand(), "xcsh.change", args)
	if err != nil {
		return nil, err
	}
	if side.Text == nil && side.Size > 0 {
		return nil, fault.New(fault.NotFound, "%s is not a text file.", path).With("path", path)
	}
	text := ""
	if side.Text != nil { // otherwise the file did not exist
		text = *side.Text
	}
	return conn.EncodeJSON(map[string]string{"text": text})
}

// folderOfSession returns the folder in which a session is live, or the first folder.
func (s *server) folderOfSession(id string) (cwd string, live bool) {
	folders := s.folders.list()
	if m := s.readOnlyEnv().Sessions; m != nil {
		i := slices.IndexFunc(folders, func(cwd string) bool {
			live := m.Live(cwd)
			if live == nil {
				return false
			}
			state, err := live.State()
			return err == nil && state.SessionID == id
		})
		if i >= 0 {
			return folders[i], true
		}
	}
	if len(folders) > 0 {
		return folders[0], false
	}
	return "", false
}

func noSuchText(uri string) error {
	return fault.New(fault.NotFound, "There is no document %q.", conn.Printable(uri)).With("path", uri)
}

var _ commands.ChangesUI = clientUI{}

// ShowChanges shows the changes of a session as a virtual document.
func (ui clientUI) ShowChanges(ctx context.Context, path, since string) bool {
	if !ui.s.client.textDocumentContent || !ui.s.client.showDocument || !ui.s.files().MayRead(path) {
		return false
	}
	return ui.s.showContent(ctx, changesURI(path, since))
}
