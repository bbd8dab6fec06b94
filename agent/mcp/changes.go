package mcp

import (
	"bytes"
	"io"
)

// changeMethod ends the methods of notifications that a list has changed.
const changeMethod = "/list_changed"

// isChange reports whether a message announces that the tools or the prompts of a server have changed.
func isChange(method string) bool {
	return method == "notifications/tools"+changeMethod || method == "notifications/prompts"+changeMethod
}

// watchedBody calls a function when a notification that a list has changed is read. A text that only mentions one costs a request
// for the lists.
type watchedBody struct {
	io.ReadCloser

	changed func()
	tail    []byte // the end of what was read, which may be the beginning of the method
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watch(p[:n])
	}
	return n, err
}

func (b *watchedBody) watch(read []byte) {
	const most = len(changeMethod) - 1
	start := append(b.tail, read[:min(len(read), most)]...)
	if bytes.Contains(start, []byte(changeMethod)) || bytes.Contains(read, []byte(changeMethod)) {
		b.changed()
	}
	if len(read) < most {
		read = start
	}
	b.tail = append([]byte(nil), read[max(0, len(read)-most):]...)
}
