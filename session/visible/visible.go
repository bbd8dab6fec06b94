package visible

// Text returns s with all characters escaped that are not ordinary text of several lines.
func Text(s string) string { return whole(s, textForm) }

// Line returns s as one line: like [Text], with line breaks and tabs as \n, \r and \t.
func Line(s string) string { return whole(s, lineForm) }

// JSON returns JSON that means the same as doc and has no raw character that [Text] would
// escape.
func JSON(doc []byte) []byte {
	s := newScanner(jsonForm)
	if out, _, changed := s.scan(nil, doc, true); changed {
		return out
	}
	return doc
}

func whole(text string, f *form) string {
	if isPlain(text, &f.special) {
		return text
	}
	s := newScanner(f)
	if out, _, changed := s.scan(nil, []byte(text), true); changed {
		return string(out)
	}
	return text
}

// isPlain reports whether s has no special byte: most text has none and is not copied.
func isPlain(s string, special *[256]uint8) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		c := s[i : i+8]
		if special[c[0]]|special[c[1]]|special[c[2]]|special[c[3]]|special[c[4]]|special[c[5]]|special[c[6]]|special[c[7]] != 0 {
			return false
		}
	}
	for ; i < len(s); i++ {
		if special[s[i]] != 0 {
			return false
		}
	}
	return true
}
