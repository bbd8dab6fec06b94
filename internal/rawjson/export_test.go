package rawjson

// Classify returns the results of both ways to find special characters in 64 bytes.
func Classify(text *[64]byte) (fast, words [3]uint64, controls [2]bool) {
	fast[0], fast[1], fast[2], controls[0] = classify(text)
	words[0], words[1], words[2], controls[1] = classifyWords(text)
	return fast, words, controls
}

// NestingBytes returns the memory that the open brackets of s take.
func NestingBytes(s *Stream) int { return 8 * cap(s.open.outer) }
