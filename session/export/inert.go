package export

import "bytes"

// needsCare reports whether HTML would read v otherwise than as it is.
func needsCare(v []byte) bool {
	return bytes.IndexByte(v, '<') >= 0 || bytes.IndexByte(v, '\n') >= 0 || bytes.IndexByte(v, '\r') >= 0 || bytes.IndexByte(v, 0) >= 0
}

// inertJSON appends v so that nothing in it can end a script element or begin a comment, and so that it is one line.
// JSON has < in strings only, where \u003c means the same; line breaks stand outside of strings, where a space does.
// In what is no JSON the bytes change, and a reader is told that the line is damaged.
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
