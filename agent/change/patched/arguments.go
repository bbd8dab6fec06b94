package patched

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Collect adds the edits and writes of an assistant message to args, by the ids of their calls. A call for several files has a part for
// each. The parts have a tool, a path as the arguments name it, and their changes.
func Collect(message json.RawMessage, args map[string][]Call) {
	rawjson.Elements(rawjson.Get(message, "content"), func(block []byte) bool {
		if kind, _ := rawjson.GetString(block, "type"); kind != "toolCall" {
			return true
		}
		name, _ := rawjson.GetString(block, "name")
		id, _ := rawjson.GetString(block, "id")
		arguments := rawjson.Get(block, "arguments")
		var parts []Call
		switch name {
		case "write":
			parts = writeOf(arguments)
		case "edit":
			parts = editsOf(arguments)
		}
		for i := range parts {
			parts[i].Tool = name
		}
		if len(parts) > 0 {
			args[id] = parts
		}
		return true
	})
}

// pathOfCall returns the file that arguments name, "" if it is none of this machine.
func pathOfCall(v []byte) string {
	for _, name := range []string{"path", "file_path", "filePath"} {
		if path, ok := rawjson.GetString(v, name); ok && !strings.Contains(path, "://") && !strings.ContainsRune(path, 0) {
			return path
		}
	}
	return ""
}

func writeOf(args []byte) []Call {
	path := pathOfCall(args)
	content, ok := rawjson.GetString(args, "content")
	if path == "" || !ok {
		return nil
	}
	return []Call{{Path: path, Wrote: &content}}
}

// editsOf returns the files of an edit, in each form that names them: replacements in a list, which may be a JSON text, with a path for
// all or for each, or one replacement beside the path. A form that is not known is opaque.
func editsOf(args []byte) (parts []Call) {
	whole := pathOfCall(args)
	add := func(v []byte, path string) {
		if path == "" {
			return
		}
		i := slices.IndexFunc(parts, func(c Call) bool { return c.Path == path })
		if i < 0 {
			i = len(parts)
			parts = append(parts, Call{Path: path})
		}
		edit, ok := replacementOf(v)
		if ok {
			parts[i].Edits = append(parts[i].Edits, edit)
		}
		parts[i].Opaque = parts[i].Opaque || !ok || doesMore(v)
	}
	list := rawjson.Get(args, "edits")
	if text, isText := rawjson.String(list); isText {
		if list = []byte(text); !json.Valid(list) {
			list = nil
		}
	}
	rawjson.Elements(list, func(v []byte) bool {
		path := pathOfCall(v)
		if path == "" {
			path = whole
		}
		add(v, path)
		return true
	})
	if _, ok := replacementOf(args); ok {
		add(args, whole)
	}
	if len(parts) == 0 && whole != "" {
		parts = []Call{{Path: whole, Opaque: doesMore(args)}}
	}
	return parts
}

// replacementOf returns the replacement of an edit, by the names that programs have for its texts.
func replacementOf(v []byte) (e Edit, ok bool) {
	for _, names := range [][2]string{{"oldText", "newText"}, {"old_text", "new_text"}, {"old_string", "new_string"}, {"old_str", "new_str"}} {
		was, isOld := rawjson.GetString(v, names[0])
		text, isNew := rawjson.GetString(v, names[1])
		if isOld && isNew {
			return Edit{Old: was, New: text}, true
		}
	}
	return e, false
}

// doesMore reports whether an edit also makes, moves or removes its file.
func doesMore(v []byte) bool {
	for _, name := range []string{"move", "rename", "delete"} {
		if rawjson.Truthy(rawjson.Get(v, name)) {
			return true
		}
	}
	op, _ := rawjson.GetString(v, "op")
	return op == "create" || op == "delete" || op == "rename" || op == "move"
}
