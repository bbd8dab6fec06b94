package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/artifact"
)

var artifacts = New(Spec{
	Name: "xcsh.artifacts", Title: "Tool Outputs", Flags: ReadOnly, Arg: "query",
	Doc: "List the tool outputs that were too long for the conversation, with the calls that made them, including those of the terminal programs.",
}, runArtifacts)

var readArtifact = New(Spec{
	Name: "xcsh.artifact", Title: "Read Tool Output", Flags: ReadOnly, Arg: "id",
	Doc: "Return a part of an output that xcsh.artifacts lists.",
}, runArtifact)

// ArtifactsArgs are the arguments of xcsh.artifacts.
type ArtifactsArgs struct {
	Subject
	Query string `json:"query,omitempty" jsonschema:"Words to find in the tool's name or its argument; the best matches are listed first. Without a match, all outputs are listed."`
}

// ArtifactsResult lists artifacts.
type ArtifactsResult struct {
	Artifacts []ArtifactInfo `json:"artifacts" jsonschema:"By number, then by name; with a query, the best match first."`
}

// ArtifactInfo describes an artifact.
type ArtifactInfo struct {
	ID          string `json:"id" jsonschema:"The argument for xcsh.artifact: the number at the beginning of the name, or else the name."`
	Name        string `json:"name"`
	Tool        string `json:"tool,omitempty" jsonschema:"The tool that wrote it, if known."`
	Description string `json:"description,omitempty" jsonschema:"The tool and its first argument, if the session contains the call."`
	EntryID     string `json:"entryId,omitempty" jsonschema:"The tool result that refers to it."`
	Bytes       int64  `json:"bytes"`
	Modified    string `json:"modified"`
	Score       int    `json:"score,omitempty" jsonschema:"How many words of the query match."`
}

func runArtifacts(ctx context.Context, env *Env, a ArtifactsArgs) (r ArtifactsResult, err error) {
	r.Artifacts = []ArtifactInfo{}
	err = env.withSource(ctx, a.Subject, func(sub subject) error {
		found, err := sub.artifacts()
		if err == nil && len(found) > 0 {
			r.Artifacts = rank(found, a.Query)
		}
		return err
	})
	return r, err
}

// artifacts returns the session's artifacts with their descriptions.
func (sub subject) artifacts() ([]describedArtifact, error) {
	list, err := artifact.Dir{Fs: sub.store.Fs, Session: sub.path}.List()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	sources, err := artifact.Sources(sub.doc)
	if err != nil {
		return nil, err
	}
	described := make([]describedArtifact, len(list))
	for i, one := range list {
		described[i] = describeArtifact(one, sources)
	}
	return described, nil
}

// describedArtifact is an artifact and the text that a query is matched with.
type describedArtifact struct {
	ArtifactInfo
	about string
}

func describeArtifact(a artifact.Artifact, sources map[string]artifact.Source) describedArtifact {
	d := describedArtifact{ArtifactInfo: ArtifactInfo{
		ID: a.ID, Name: a.Name, Tool: a.Tool, Bytes: a.Bytes, Modified: session.FormatTime(a.Modified.UTC().Truncate(time.Millisecond)),
	}, about: a.Name}
	source, ok := sources[a.ID]
	if !ok {
		source, ok = sources[a.Name]
	}
	if ok {
		d.Tool, d.EntryID = cmp.Or(d.Tool, source.Tool), source.EntryID
		d.Description = sourceText(source)
		d.about += " " + source.Tool + " " + source.Argument
	}
	return d
}

// maxArgument is the length to which an argument is cut in a description, in UTF-16 units.
const maxArgument = 50

// sourceText describes a tool call on one line.
func sourceText(s artifact.Source) string {
	switch {
	case s.Argument != "":
		line := strings.Join(strings.Fields(rawjson.UTF16Prefix(s.Argument, 10*maxArgument)), " ")
		if cut := rawjson.UTF16Prefix(line, maxArgument); cut != line {
			line = cut + "..."
		}
		return s.Tool + ": " + line
	case s.Count == 1:
		return s.Tool + " (1 argument)"
	case s.Count > 1:
		return fmt.Sprintf("%s (%d arguments)", s.Tool, s.Count)
	default:
		return s.Tool
	}
}

// rank returns the artifacts that match the most words of the query, the best first. If none
// matches, or the query has no words, it returns all.
func rank(all []describedArtifact, query string) []ArtifactInfo {
	wanted := keywords(query)
	ranked := make([]ArtifactInfo, 0, len(all))
	best := 0
	for _, d := range all {
		about := keywords(d.about)
		for word := range wanted {
			if about[word] {
				d.Score++
			}
		}
		best = max(best, d.Score)
		ranked = append(ranked, d.ArtifactInfo)
	}
	if best == 0 {
		return ranked
	}
	ranked = slices.DeleteFunc(ranked, func(a ArtifactInfo) bool { return a.Score == 0 })
	slices.SortStableFunc(ranked, func(a, b ArtifactInfo) int { return cmp.Compare(b.Score, a.Score) })
	return ranked
}

// keywords returns the words of a text that are longer than two characters.
func keywords(text string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if utf8.RuneCountInString(word) > 2 {
			words[word] = true
		}
	}
	return words
}

// Limits of one read of an artifact, in bytes.
const (
	defaultArtifactLimit = 64 << 10
	maxArtifactLimit     = 1 << 20
)

// ArtifactArgs are the arguments of xcsh.artifact.
type ArtifactArgs struct {
	Subject
	ID     string `json:"id" jsonschema:"An ID or name from xcsh.artifacts, or an artifact:// address."`
	Offset int64  `json:"offset,omitempty" jsonschema:"The offset of the first byte. Default: 0."`
	Limit  int64  `json:"limit,omitempty" jsonschema:"The maximum number of bytes, 1 to 1048576. Default: 65536. Characters are never split; lines are split only if they are longer."`
}

// ArtifactResult is a part of an artifact.
type ArtifactResult struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Text       string `json:"text"`
	Bytes      int64  `json:"bytes" jsonschema:"The size of the whole output."`
	Offset     int64  `json:"offset" jsonschema:"The offset of the text, in bytes."`
	NextOffset *int64 `json:"nextOffset,omitempty" jsonschema:"The offset of the next part; absent at the end."`
	Binary     bool   `json:"binary,omitempty" jsonschema:"This part contains bytes that are not text; they are replaced by U+FFFD."`
}

func runArtifact(ctx context.Context, env *Env, a ArtifactArgs) (ArtifactResult, error) {
	switch {
	case a.Offset < 0:
		return ArtifactResult{}, fault.New(fault.InvalidArgument, "offset must not be negative.").With("field", "offset")
	case a.Limit < 0 || a.Limit > maxArtifactLimit:
		return ArtifactResult{}, fault.New(fault.InvalidArgument, "limit must be 1 to %d.", maxArtifactLimit).With("field", "limit")
	}
	r := env.resolver()
	of, err := r.locate(ctx, a.Subject)
	if err == nil && a.ID == "" {
		a.ID, err = r.pickArtifact(ctx, of)
	}
	if err != nil {
		return ArtifactResult{}, err
	}
	part, err := artifact.Dir{Fs: env.Store.Fs, Session: of.file()}.Read(a.ID, a.Offset, cmp.Or(a.Limit, defaultArtifactLimit))
	if err != nil {
		return ArtifactResult{}, err
	}
	result := ArtifactResult{ID: part.ID, Name: part.Name, Text: part.Text, Bytes: part.Bytes, Offset: part.Offset, Binary: part.Binary}
	if part.Next > 0 {
		result.NextOffset = &part.Next
	}
	return result, nil
}

// pickArtifact asks for one of a session's outputs and returns its name.
func (r resolver) pickArtifact(ctx context.Context, of located) (name string, err error) {
	var names []string
	err = r.open(of, func(sub subject) error {
		found, err := sub.artifacts()
		names = titlesOf(found, func(a describedArtifact) string { return a.Name })
		return err
	})
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "", fault.New(fault.NotFound, "The session has no saved tool outputs.")
	}
	return choose(ctx, r.ask, need{
		question: "Select a tool output", nothing: "No tool output selected", input: InputText, field: "id", choices: names,
	}, names, func(name string) string { return name })
}
