package tool

import (
	"bytes"
	"context"
	"regexp"
	"regexp/syntax"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/regular"
)

// pattern is a search pattern.
type pattern struct {
	re     *regexp.Regexp // for one line without its end
	parsed *syntax.Regexp
	needs  []byte // a text in every matching line; nil if none is known
}

// compile parses the pattern of a search. "^" and "$" match at the ends of lines, since only lines
// are searched.
func compile(a grepArgs) (pattern, error) {
	text := a.Pattern
	if a.Literal {
		text = regexp.QuoteMeta(text)
	}
	flags := syntax.Perl &^ syntax.OneLine
	if a.IgnoreCase {
		flags |= syntax.FoldCase
	}
	parsed, err := syntax.Parse(text, flags)
	if name, form, ok := unsupported(text, err); ok {
		return pattern{}, badArgument("pattern", "grep: the pattern has %s (%s), which RE2 does not support. "+
			"Search for a simpler pattern, or run `grep -P` or `rg -P` with bash.", name, form)
	}
	if err != nil {
		return pattern{}, badArgument("pattern", "grep: the pattern is not a regular expression: %v. Set literal to search for plain text.", err)
	}
	re, err := regexp.Compile(parsed.String())
	if err != nil {
		return pattern{}, badArgument("pattern", "grep: the pattern cannot be used: %v.", err)
	}
	return pattern{re: re, parsed: parsed, needs: []byte(required(parsed))}, nil
}

// required returns the longest text that every match has in it.
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 || strings.ContainsRune(string(re.Rune), utf8.RuneError) {
			return "" // the replacement character also stands for invalid bytes
		}
		return string(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(longest) {
				longest = s
			}
		}
		return longest
	default: // nothing is known for sure
	}
	return ""
}

// scanner is the searcher that needs no other program.
type scanner struct {
	fs      afero.Fs
	private *sensitive.View
	pattern
}

func (s scanner) search(ctx context.Context, files []string, around, most int) ([][]foundLine, error) {
	found := make([][]foundLine, len(files))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(files) {
					return
				}
				content, info, err := regular.Read(ctx, s.fs, files[i], maxSearched)
				if err != nil || bytes.IndexByte(content, 0) >= 0 {
					continue
				}
				// Most files have no match, and need no check of their identity.
				if lines := s.lines(ctx, content, around, most); len(lines) > 0 && (s.private == nil || !s.private.DeniesFile(files[i], info)) {
					found[i] = lines
				}
			}
		})
	}
	workers.Wait()
	return found, ctx.Err()
}

// keptLine is how much of a found line is kept in memory, in bytes: more than is ever shown of it.
const keptLine = 4 << 10

// kept returns the part of a line that is kept.
func kept[T string | []byte](line T) string { return string(line[:min(len(line), keptLine)]) }

// lines searches one file. It returns the lines found so far when ctx ends.
func (s scanner) lines(ctx context.Context, content []byte, around, most int) []foundLine {
	if s.nothingIn(content) {
		return nil
	}
	var found []foundLine
	var before [][]byte // the lines that may come before a match
	matches, after := 0, 0
	for number := 1; len(content) > 0 && ctx.Err() == nil; number++ {
		line, rest, _ := bytes.Cut(content, []byte("\n"))
		content = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		switch {
		case matches < most && s.matches(line):
			for i, b := range before {
				found = append(found, foundLine{number - len(before) + i, kept(b), false})
			}
			before = before[:0]
			found = append(found, foundLine{number, kept(line), true})
			matches, after = matches+1, around
			if around == 0 && s.nothingIn(content) {
				return found
			}
		case after > 0:
			found = append(found, foundLine{number, kept(line), false})
			after--
		case matches == most:
			return found
		case around > 0:
			if len(before) == around {
				before = append(before[:0], before[1:]...)
			}
			before = append(before, line)
		}
	}
	return found
}

func (s scanner) nothingIn(content []byte) bool {
	return len(s.needs) > 0 && !bytes.Contains(content, s.needs)
}

func (s scanner) matches(line []byte) bool {
	return (len(s.needs) == 0 || bytes.Contains(line, s.needs)) && s.re.Match(line)
}
