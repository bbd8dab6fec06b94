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

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

var artifacts = New(Spec{
	Name: "xcsh.artifacts", Title: "Tool Outputs", Flags: ReadOnly, Arg: "query",
	Doc: "The outputs that were too long for a conversation and are kept beside it, with what made them; also those of the terminal programs.",
}, runArtifacts)

var artifact = New(Spec{
	Name: "xcsh.artifact", Title: "Read Tool Output", Flags: ReadOnly, Arg: "id",
	Doc: "A piece of one of the outputs that xcsh.artifacts lists.",
}, runArtifact)

// ArtifactsArgs are the arguments of xcsh.artifacts.
type ArtifactsArgs struct {
	Subject
	Query string `json:"query,omitempty" jsonschema:"What an output is about. With words that fit the tool or its argument only those outputs are listed, the best first."`
}

// ArtifactsResult lists artifacts.
type ArtifactsResult struct {
	Artifacts []ArtifactInfo `json:"artifacts" jsonschema:"In the order of their numbers, then by name; with a query the best first."`
}

// ArtifactInfo describes an artifact.
type ArtifactInfo struct {
	ID          string `json:"id" jsonschema:"What xcsh.artifact takes: the number at the beginning of the name, else the name."`
	Name        string `json:"name"`
	Tool        string `json:"tool,omitempty" jsonschema:"Which tool wrote it, when that is known."`
	Description string `json:"description,omitempty" jsonschema:"The tool and its first argument, when the session tells."`
	EntryID     string `json:"entryId,omitempty" jsonschema:"The result in the session that names it."`
	Bytes       int64  `json:"bytes"`
	Modified    string `json:"modified"`
	Score       int    `json:"score,omitempty" jsonschema:"How many words of the query fit."`
}

func runArtifacts(ctx context.Context, env *Env, a ArtifactsArgs) (r ArtifactsResult, err error) {
	r.Artifacts = []ArtifactInfo{}
	err = env.withSource(ctx, a.Subject, func(_ string, sub subject) error {
		list, err := env.Store.Artifacts(sub.path)
		if err != nil || len(list) == 0 {
			return err
		}
		sources, err := sub.doc.ArtifactSources()
		if err != nil {
			return err
		}
		described := make([]describedArtifact, len(list))
		for i, one := range list {
			described[i] = describeArtifact(one, sources)
		}
		r.Artifacts = rank(described, a.Query)
		return nil
	})
	return r, err
}

// describedArtifact is an artifact and the text in which a query is looked for.
type describedArtifact struct {
	ArtifactInfo
	about string
}

func describeArtifact(a session.Artifact, sources map[string]session.ArtifactSource) describedArtifact {
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

// maxArgument is how much of an argument describes an output, in UTF-16 units.
const maxArgument = 50

// sourceText is one line about a tool call.
func sourceText(s session.ArtifactSource) string {
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

// rank leaves those artifacts that have most words of the query, the best first. A query that
// fits nothing, or has no words, leaves all.
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

// keywords are the words of a text that say something: those of more than two characters.
func keywords(text string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if utf8.RuneCountInString(word) > 2 {
			words[word] = true
		}
	}
	return words
}

// How much of an artifact is read at once, in bytes.
const (
	defaultArtifactLimit = 64 << 10
	maxArtifactLimit     = 1 << 20
)

// ArtifactArgs are the arguments of xcsh.artifact.
type ArtifactArgs struct {
	Subject
	ID     string `json:"id" jsonschema:"An id or name of xcsh.artifacts, or an address artifact://…."`
	Offset int64  `json:"offset,omitempty" jsonschema:"Where to begin, in bytes. Absent: 0."`
	Limit  int64  `json:"limit,omitempty" jsonschema:"How many bytes at most, 1 to 1048576. Absent: 65536. A character is never cut, and a line only if it is longer."`
}

// ArtifactResult is a piece of an artifact.
type ArtifactResult struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Text       string `json:"text"`
	Bytes      int64  `json:"bytes" jsonschema:"The size of all of it."`
	Offset     int64  `json:"offset" jsonschema:"Where the text begins, in bytes."`
	NextOffset *int64 `json:"nextOffset,omitempty" jsonschema:"Where to read on; absent at the end."`
	Binary     bool   `json:"binary,omitempty" jsonschema:"The file holds bytes here that are no text; the text has U+FFFD in their place."`
}

func runArtifact(ctx context.Context, env *Env, a ArtifactArgs) (ArtifactResult, error) {
	switch {
	case a.Offset < 0:
		return ArtifactResult{}, fault.New(fault.InvalidArgument, "offset must not be negative.").With("field", "offset")
	case a.Limit < 0 || a.Limit > maxArtifactLimit:
		return ArtifactResult{}, fault.New(fault.InvalidArgument, "limit must be 1 to %d.", maxArtifactLimit).With("field", "limit")
	}
	path, err := env.sourceFile(ctx, a.Subject)
	if err == nil && a.ID == "" {
		a.ID, err = env.pickArtifact(ctx, a.Subject)
	}
	if err != nil {
		return ArtifactResult{}, err
	}
	part, err := env.Store.ReadArtifact(path, a.ID, a.Offset, cmp.Or(a.Limit, defaultArtifactLimit))
	if err != nil {
		return ArtifactResult{}, err
	}
	r := ArtifactResult{ID: part.ID, Name: part.Name, Text: part.Text, Bytes: part.Bytes, Offset: part.Offset, Binary: part.Binary}
	if part.Next > 0 {
		r.NextOffset = &part.Next
	}
	return r, nil
}

// pickArtifact asks for one of the outputs of a session.
func (env *Env) pickArtifact(ctx context.Context, s Subject) (id string, err error) {
	all, err := runArtifacts(ctx, env, ArtifactsArgs{Subject: s})
	if err != nil {
		return "", err
	}
	if len(all.Artifacts) == 0 {
		return "", fault.New(fault.NotFound, "The session has no outputs that were kept")
	}
	picked, err := choose(ctx, env, need{
		question: "Read which output?", nothing: "No output selected", input: InputText, field: "id",
		choices: titlesOf(all.Artifacts, func(a ArtifactInfo) string { return a.Name }),
	}, all.Artifacts, func(a ArtifactInfo) string { return a.Name })
	return picked.Name, err
}

// sourceFile is the file of the session that s names, "" for one in memory. It is not read.
func (env *Env) sourceFile(ctx context.Context, s Subject) (string, error) {
	cwd, err := env.cwd(ctx, s.Folder)
	if err != nil {
		return "", err
	}
	if s.Source != "" {
		return env.find(ctx, cwd, s.Source)
	}
	live, err := env.Sessions.Session(ctx, cwd)
	if err != nil {
		return "", err
	}
	return live.File(), nil
}
