package artifact

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Source describes the origin of an artifact.
type Source struct {
	EntryID  string // of the result that names the artifact
	Tool     string
	Argument string // the first text among the arguments, "" when there is none
	Count    int    // of arguments
}

// Sources finds the tool calls, and the commands run by the user, whose results name
// an artifact: by its id, or by its path at that time. The key is the id, or the name of the
// file. If several results name an artifact, the first one created it.
func Sources(d *session.Document) (map[string]Source, error) {
	found := map[string]Source{}
	calls := map[string][]string{} // keys by the id of the call with the arguments
	i := -1
	for line, err := range d.Lines(nil) {
		if err != nil {
			return nil, err
		}
		i++
		role := d.Role(i)
		if role != "toolResult" && role != "bashExecution" || !namesArtifact(line) {
			continue
		}
		message := rawjson.Get(line, "message")
		source, call := sourceOf(role, message)
		source.EntryID = strings.Clone(d.ID(i))
		for _, key := range artifactKeys(message) {
			if _, known := found[key]; known {
				continue
			}
			found[key] = source
			if call != "" {
				calls[call] = append(calls[call], key)
			}
		}
	}
	return found, addArguments(d, found, calls)
}

// The members that name an artifact.
var (
	artifactID   = []byte(`"artifactId"`)
	artifactPath = []byte(`"fullOutputPath"`)
)

func namesArtifact(line []byte) bool {
	return bytes.Contains(line, artifactID) || bytes.Contains(line, artifactPath)
}

// sourceOf returns the source as far as the result contains it, and the id of the call
// with the rest.
func sourceOf(role string, message []byte) (source Source, call string) {
	if role == "bashExecution" {
		source.Argument, _ = rawjson.GetString(message, "command")
		source.Tool, source.Count = "bash", 1
		return source, ""
	}
	source.Tool, _ = rawjson.GetString(message, "toolName")
	call, _ = rawjson.GetString(message, "toolCallId")
	return source, call
}

// artifactKeys are the names by which a result refers to its artifacts.
func artifactKeys(message []byte) (keys []string) {
	for _, at := range [][]byte{message, rawjson.Get(message, "details")} {
		if path, _ := rawjson.GetString(at, "fullOutputPath"); path != "" {
			keys = append(keys, filepath.Base(strings.ReplaceAll(path, `\`, "/")))
		}
		meta := rawjson.Get(at, "meta")
		for _, v := range [][]byte{
			rawjson.Get(at, "artifactId"), rawjson.Get(meta, "truncation", "artifactId"),
			rawjson.Get(meta, "limits", "columnTruncated", "artifactId"),
		} {
			if id, ok := rawjson.String(v); ok && id != "" {
				keys = append(keys, id)
			} else if rawjson.Kind(v) == '0' {
				keys = append(keys, string(v))
			}
		}
	}
	return keys
}

// addArguments completes the sources whose calls are in answers. Arguments are read in
// their order in the file.
func addArguments(d *session.Document, found map[string]Source, calls map[string][]string) error {
	i := -1
	for line, err := range d.Lines(nil) {
		if err != nil || len(calls) == 0 {
			return err
		}
		i++
		if d.Role(i) != "assistant" {
			continue
		}
		rawjson.Elements(rawjson.Get(line, "message", "content"), func(block []byte) bool {
			if typ, _ := rawjson.GetString(block, "type"); typ != "toolCall" {
				return true
			}
			id, _ := rawjson.GetString(block, "id")
			for _, key := range calls[id] {
				source := found[key]
				source.Argument, source.Count = firstArgument(rawjson.Get(block, "arguments"))
				found[key] = source
			}
			delete(calls, id)
			return true
		})
	}
	return nil
}

// firstArgument is the first text of an object, and the number of its members.
func firstArgument(arguments []byte) (text string, count int) {
	rawjson.Members(arguments, func(_, v []byte) bool {
		count++
		if s, ok := rawjson.String(v); ok && text == "" {
			text = s
		}
		return true
	})
	return text, count
}
