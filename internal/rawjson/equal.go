package rawjson

import "bytes"

// Equal reports whether two values are the same text of JSON, apart from white space, the way in which strings are
// escaped and numbers written, and nothing else: members must be in the same order, as they are when a program writes the same
// object twice. It needs no memory beyond that of strings whose escapes differ.
func Equal(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	for i, j := 0, 0; ; {
		i, j = skipSpace(a, i), skipSpace(b, j)
		if i >= len(a) || j >= len(b) {
			return i >= len(a) && j >= len(b)
		}
		if isMark(a[i]) || isMark(b[j]) {
			if a[i] != b[j] {
				return false
			}
			i, j = i+1, j+1
			continue
		}
		endA, endB := skipValue(a, i), skipValue(b, j)
		if endA <= i || endB <= j || !equalScalars(a[i:endA], b[j:endB]) {
			return false
		}
		i, j = endA, endB
	}
}

func isMark(c byte) bool {
	switch c {
	case '{', '}', '[', ']', ',', ':':
		return true
	}
	return false
}

func equalScalars(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if x, ok := String(a); ok {
		y, ok := String(b)
		return ok && x == y
	}
	x, okX := Float(a)
	y, okY := Float(b)
	return okX && okY && x == y
}
