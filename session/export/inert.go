package export

import "bytes"

// needsCare reports whether HTML would change v.
func needsCare(v []byte) bool {
	return bytes.IndexByte(v, '<') >= 0 || bytes.IndexByte(v, '\n') >= 0 || bytes.IndexByte(v, '\r') >= 0 || bytes.IndexByte(v, 0) >= 0
}

// inertJSON appends v as one line in which nothing can end a script element or begin a comment. In JSON, < occurs only
// in strings, where \u003c is equivalent, and line breaks occur only outside of strings, where a space is equivalent.
// If v is not valid JSON, its bytes change, and the viewer reports a damaged line.
func inertJSON(dst, v []byte) []byte {
	for {
		i := bytes.IndexByte(v, '<')
		if i < 0 {
			break
		}
		dst = append(appendLine(dst, v[:i]), `\u003c`...)
		v = v[i+1:]
	}
	return appendLine(dst, v)
}

func appendLine(dst, v []byte) []byte {
	at := len(dst)
	dst = append(dst, v...)
	for _, c := range []byte("\n\r\x00") {
		for i := at; ; i++ {
			n := bytes.IndexByte(dst[i:], c)
			if n < 0 {
				break
			}
			i += n
			dst[i] = ' '
		}
	}
	return dst
}
