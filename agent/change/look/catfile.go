package look

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// contents calls f with the contents of entries in order, read by one process. Missing contents are skipped. With checkedOut, contents
// are converted as in a checkout; no filter is run.
func (g git) contents(ctx context.Context, entries []staged, checkedOut bool, f func(staged, []byte)) error {
	var batch []staged
	for _, e := range entries {
		if e.mode == modeLink || !checkedOut || !strings.ContainsRune(e.rel, '\n') && strings.TrimLeft(e.rel, " \t") == e.rel {
			batch = append(batch, e)
			continue
		}
		// The input of a batch can't contain this name.
		content, err := g.read(ctx, "cat-file", "--filters", "--path="+e.rel, e.hash)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			f(e, content)
		}
	}
	if len(batch) == 0 {
		return ctx.Err()
	}
	return g.batch(ctx, batch, checkedOut, f)
}

// batch reads contents from one process. git prints the size before the conversion, which does not give the length of the output. So
// batch requests a random name after each content: git's answer that this name is missing marks the end of the content.
func (g git) batch(ctx context.Context, entries []staged, checkedOut bool, f func(staged, []byte)) error {
	end := "end-" + rand.Text()
	var ask bytes.Buffer
	for _, e := range entries {
		path := e.rel
		if e.mode == modeLink || !checkedOut {
			path = "x"
		}
		fmt.Fprintf(&ask, "%s %s\n%s x\n", e.hash, path, end)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	args := []string{"cat-file", "--batch=%(objectname) %(objecttype) %(objectsize) %(rest)"}
	if checkedOut {
		args = []string{"cat-file", "--batch", "--filters"}
	}
	cmd := g.command(ctx, args...)
	cmd.Stdin = &ask
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	in := bufio.NewReaderSize(out, 1<<16)
	for _, e := range entries {
		content, ok, err := answer(in, []byte(end+" missing\n"))
		if err != nil {
			cancel()
			return errors.Join(err, cmd.Wait())
		}
		if ok {
			f(e, content)
		}
	}
	_, err = io.Copy(io.Discard, in)
	return errors.Join(err, cmd.Wait())
}

// answer reads "hash type size\n", the content and a line feed, and the end marker. ok is false if the content is missing.
func answer(in *bufio.Reader, end []byte) (content []byte, ok bool, err error) {
	head, err := in.ReadString('\n')
	if err != nil {
		return nil, false, err
	}
	fields := strings.Fields(head)
	ok = len(fields) >= 3 && fields[1] == "blob"
	var whole bytes.Buffer
	if ok {
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil || size < 0 || size > maxList {
			return nil, false, errors.New("git printed an unexpected size")
		}
		whole.Grow(int(size) + len(end) + 1)
	}
	for {
		part, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil
		}
		if err != nil {
			return nil, false, err
		}
		if whole.Len()+len(part) > maxList {
			return nil, false, errors.New("git printed too much")
		}
		whole.Write(part)
		if bytes.HasSuffix(whole.Bytes(), end) {
			break
		}
	}
	content = bytes.TrimSuffix(whole.Bytes(), end)
	return bytes.TrimSuffix(content, []byte("\n")), ok, nil
}
