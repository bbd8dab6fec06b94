package tool

// Kept is a text that is too long for a result.
type Kept struct {
	Shown string // its beginning, with a note
	Path  string // of the file with the whole text, "" if there is none
}

// KeepText returns the beginning of a readable text within the limits of a result, and keeps the whole text in a file beside the
// session if anything was cut.
func KeepText(env Env, tool, text string) Kept {
	shown, note := Head(text)
	if note == "" {
		return Kept{Shown: text}
	}
	path := KeepBytes(env, tool, []byte(text))
	where := "The full output could not be saved."
	if path != "" {
		where = "Full output: " + path
	}
	return Kept{Shown: shown + "\n\n" + note[:len(note)-1] + " " + where + "]", Path: path}
}

// KeepBytes keeps an output in a file beside the session, and returns its path. It returns "" if the session has no place for it,
// or it is too large.
func KeepBytes(env Env, tool string, content []byte) (path string) {
	if env.Keep == nil || len(content) > maxSpill {
		return ""
	}
	kept, err := env.Keep(tool)
	if err != nil {
		return ""
	}
	_, err = kept.File.Write(content)
	if closed := kept.File.Close(); err != nil || closed != nil {
		return "" // a full disk must not fail the call
	}
	return kept.Path
}

// SizeText returns a number of bytes for people, such as "1.2KB".
func SizeText(n int64) string { return sizeText(n) }
