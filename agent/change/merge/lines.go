package merge

import "bytes"

// Lines splits a text after each line feed. The lines share its memory.
func Lines(text []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(text, []byte{'\n'})+1)
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n') + 1
		if n == 0 {
			n = len(text)
		}
		lines = append(lines, text[:n:n])
		text = text[n:]
	}
	return lines
}

func join(lines [][]byte) []byte { return bytes.Join(lines, nil) }

// ends is the kind of the line ends of a text.
type ends int

const (
	noEnds ends = iota // at most one line, without an end
	lf
	crlf
	mixedEnds
)

func endsOf(lines [][]byte) ends {
	e := noEnds
	for _, l := range lines {
		var here ends
		switch {
		case bytes.HasSuffix(l, []byte("\r\n")):
			here = crlf
		case bytes.HasSuffix(l, []byte("\n")):
			here = lf
		default:
			continue
		}
		if e != noEnds && e != here {
			return mixedEnds
		}
		e = here
	}
	return e
}

// withEnds returns lines with uniform ends of the kind e.
func withEnds(lines [][]byte, e ends) [][]byte {
	out := make([][]byte, len(lines))
	for i, l := range lines {
		body, ended := bytes.CutSuffix(l, []byte("\n"))
		if !ended {
			out[i] = l
			continue
		}
		body = bytes.TrimSuffix(body, []byte("\r"))
		end := "\n"
		if e == crlf {
			end = "\r\n"
		}
		out[i] = append(bytes.Clone(body), end...)
	}
	return out
}

// alignEnds makes the line ends of three texts equal if one side changed all of its line ends.
func alignEnds(base, ours, theirs [][]byte) (b, o, t [][]byte) {
	eb, eo, et := endsOf(base), endsOf(ours), endsOf(theirs)
	uniform := func(e ends) bool { return e == lf || e == crlf }
	if !uniform(eb) {
		return base, ours, theirs
	}
	switch {
	case uniform(eo) && eo != eb && et != mixedEnds:
		return withEnds(base, eo), ours, withEnds(theirs, eo)
	case uniform(et) && et != eb && eo != mixedEnds:
		return withEnds(base, et), withEnds(ours, et), theirs
	}
	return base, ours, theirs
}
