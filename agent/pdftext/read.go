package pdftext

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

const (
	// maxTime is how long the process may run.
	maxTime = 20 * time.Second

	// maxAnswer is how much of its output is read, in bytes. It never writes so much.
	maxAnswer = 2 << 20
)

// Text is the text of some pages of a file.
type Text struct {
	Total int // pages of the file
	Pages []string
}

// Process is how a process is started that calls [Main].
type Process struct {
	Argv []string // the two numbers of [Main] are added
	Env  []string
	Dir  string
	Time time.Duration // 0 means 20 s
}

var errFailed = errors.New("its text could not be extracted within the limits of time and memory")

// Read returns the text of the pages from first on, at most count. The error describes the problem of the file, to
// complete a sentence.
func Read(ctx context.Context, p Process, content []byte, first, count int) (t Text, err error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(p.Time, maxTime))
	defer cancel()
	argv := append(slices.Clip(p.Argv), fmt.Sprint(first), fmt.Sprint(count))
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdin = p.Env, p.Dir, bytes.NewReader(content)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return t, err
	}
	group, err := procgroup.Start(cmd)
	if err != nil {
		return t, err
	}
	defer group.Close()
	t, err = decode(io.LimitReader(out, maxAnswer))
	_, _ = io.Copy(io.Discard, out) // it must be able to end
	if waitErr := cmd.Wait(); err == nil && waitErr != nil {
		err = errFailed
	}
	return t, err
}

// decode reads the output of [Main].
func decode(r io.Reader) (t Text, err error) {
	lines := json.NewDecoder(r)
	for {
		var l line
		switch err := lines.Decode(&l); {
		case errors.Is(err, io.EOF) && t.Total > 0:
			return t, nil
		case err != nil:
			return t, errFailed
		}
		switch {
		case l.Error != "":
			return t, errors.New(l.Error)
		case l.Pages > 0:
			t.Total = l.Pages
		default:
			t.Pages = append(t.Pages, l.Text)
		}
	}
}
