package own

// Reorders reports whether r is a bidirectional formatting character, which changes the displayed order
// of text. Titles and descriptions are stored without them.
func Reorders(r rune) bool { return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 }
