package tool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/afero"
)

// ripgrep is the searcher that runs ripgrep on the files. It gets the list of files, so that its
// own rules for ignored files do not matter.
type ripgrep struct {
	program string
	regex   string
	env     []string
	scanner // for the files and patterns that ripgrep does not take
}

// newSearcher prefers ripgrep where there is one and the files are the machine's.
func newSearcher(o Options, p pattern) searcher {
	own := scanner{o.Fs, o.Private.Resolve(o.Fs), p}
	if _, disk := o.Fs.(*afero.OsFs); !disk {
		return own
	}
	program, err := exec.LookPath(o.Ripgrep)
	if err != nil {
		return own
	}
	return ripgrep{program, rustRegex(p), modelEnv(os.Environ()), own}
}

// rustRegex writes the pattern for ripgrep. Go's printed form names every character class by its
// characters; the exceptions are word boundaries, which are ASCII-only in Go, and the ends of the
// text, which is a line here.
func rustRegex(p pattern) string {
	var b strings.Builder
	printed := p.parsed.String()
	for i := 0; i < len(printed); i++ {
		if printed[i] != '\\' || i+1 == len(printed) {
			b.WriteByte(printed[i])
			continue
		}
		i++
		switch printed[i] {
		case 'b', 'B':
			b.WriteString(`(?-u:\` + string(printed[i]) + ")")
		case 'A':
			b.WriteString("(?m:^)")
		case 'z':
			b.WriteString("(?m:$)")
		default:
			b.WriteString(printed[i-1 : i+1])
		}
	}
	return b.String()
}

// ripgrepArgs is the maximum total length of the arguments of one call, in bytes.
const ripgrepArgs = 96 << 10

func (r ripgrep) search(ctx context.Context, files []string, around, most int) ([][]foundLine, error) {
	found := make([][]foundLine, 0, len(files))
	for len(files) > 0 {
		n, size := 0, 0
		for n < len(files) && (n == 0 || size+len(files[n]) < ripgrepArgs) {
			size += len(files[n]) + 1
			n++
		}
		part, err := r.run(ctx, files[:n], around, most)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			// An unreadable file, an unsupported pattern, an older version.
			part, err = r.scanner.search(ctx, files[:n], around, most)
		} else {
			part, err = r.verified(ctx, files[:n], part, around, most)
		}
		if err != nil {
			return nil, err
		}
		found, files = append(found, part...), files[n:]
	}
	return found, nil
}

// verified returns those of ripgrep's matches that are still true of files that a model may see.
// ripgrep opens files by their paths, which may lead elsewhere by then.
func (r ripgrep) verified(ctx context.Context, files []string, found [][]foundLine, around, most int) ([][]foundLine, error) {
	if r.private == nil {
		return found, nil
	}
	var again []string
	var at []int
	for i, lines := range found {
		if len(lines) > 0 {
			again, at = append(again, files[i]), append(at, i)
		}
	}
	lines, err := r.scanner.search(ctx, again, around, most)
	for k, i := range at {
		found[i] = lines[k]
	}
	return found, err
}

func (r ripgrep) run(ctx context.Context, files []string, around, most int) ([][]foundLine, error) {
	args := []string{
		"--no-config", "--json", "--no-ignore", "--hidden", "--encoding=none", "--crlf", "--line-number",
		"--context=" + strconv.Itoa(around), "--regexp=" + r.regex, "--",
	}
	cmd := exec.CommandContext(ctx, r.program, append(args, files...)...)
	cmd.Env = r.env
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	index := make(map[string]int, len(files))
	for i, f := range files {
		index[f] = i
	}
	found := make([][]foundLine, len(files))
	matches, last := make([]int, len(files)), make([]int, len(files))
	readErr := readRipgrep(out, func(e ripgrepEvent) {
		i, ok := index[e.Data.Path.text()]
		switch {
		case !ok:
		case e.Type == "end" && e.Data.BinaryOffset != nil:
			found[i] = nil
		case matches[i] == most && e.Data.LineNumber > last[i]+around: // after all requested lines
		case e.Type == "match", e.Type == "context":
			if e.Type == "match" && matches[i] < most {
				matches[i]++
				last[i] = e.Data.LineNumber
			}
			line := strings.TrimSuffix(strings.TrimSuffix(e.Data.Lines.text(), "\n"), "\r")
			found[i] = append(found[i], foundLine{e.Data.LineNumber, kept(line), e.Type == "match"})
		}
	})
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		err = nil // no match
	}
	return found, errors.Join(readErr, err)
}

// ripgrepEvent is a line of its JSON output.
type ripgrepEvent struct {
	Type string `json:"type"`
	Data struct {
		Path         ripgrepText `json:"path"`
		Lines        ripgrepText `json:"lines"`
		LineNumber   int         `json:"line_number"`
		BinaryOffset *int        `json:"binary_offset"`
	} `json:"data"`
}

// ripgrepText is a text, or its bytes when they are not UTF-8.
type ripgrepText struct {
	Text  string `json:"text"`
	Bytes []byte `json:"bytes"`
}

func (t ripgrepText) text() string {
	if t.Bytes != nil {
		return string(t.Bytes)
	}
	return t.Text
}

func readRipgrep(r io.Reader, event func(ripgrepEvent)) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var e ripgrepEvent
			if err := json.Unmarshal(line, &e); err != nil {
				_, _ = io.Copy(io.Discard, r) // it must be able to end
				return err
			}
			event(e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
