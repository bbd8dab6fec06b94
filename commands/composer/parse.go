package composer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxReferences is the number of references of one prompt; further ones stay text.
const MaxReferences = 50

// maxName is the longest name of a reference, in bytes. No file system has longer paths.
const maxName = 4096

// The kinds of things in the editor, as in the parameters of xcsh/context.
const (
	Problems  = "problems"
	Buffer    = "buffer"
	Selection = "selection"
	Terminal  = "terminal"
	Symbol    = "symbol"
)

// EditorKinds are the kinds of things in the editor.
var EditorKinds = []string{Problems, Buffer, Selection, Terminal, Symbol}

// Word is a reference as it was typed.
type Word struct {
	Text   string // without "@" and quotes, but with the lines
	Quoted bool
}

// Kind returns the kind of the thing in the editor that the word names, with the name of a symbol. ok is false if it
// names none.
func (w Word) Kind() (kind, query string, ok bool) {
	if w.Quoted {
		return "", "", false
	}
	switch text := plain(w.Text); text {
	case Problems, "diagnostics":
		return Problems, "", true
	case Buffer, Selection, Terminal:
		return text, "", true
	default:
		query, ok = strings.CutPrefix(text, Symbol+":")
		return Symbol, query, ok && query != ""
	}
}

// Lines are lines of a file, from 1. The zero value is the whole file.
type Lines struct{ From, To int }

// path is a path that a word may stand for, and the lines of it.
type path struct {
	name  string
	lines Lines
}

// paths returns what the word may stand for, the likeliest first. A file may be called "a:10", and a sentence may go on
// right behind a word.
func (w Word) paths() (all []path) {
	add := func(text string) {
		all = append(all, path{name: text})
		if m := suffix.FindStringSubmatch(text); m != nil {
			from, _ := strconv.Atoi(m[2] + m[4])
			to, _ := strconv.Atoi(m[3] + m[5])
			all = append(all, path{m[1], Lines{max(from, 1), max(from, to, 1)}})
		}
	}
	add(w.Text)
	if text := plain(w.Text); !w.Quoted && text != w.Text && text != "" {
		add(text)
	}
	return all
}

// suffix matches the lines behind a path.
var suffix = regexp.MustCompile(`^(.+?)(?::(\d{1,9})(?:-(\d{1,9}))?|#L(\d{1,9})(?:-L?(\d{1,9}))?)$`)

// plain returns a word without the marks of the sentence behind it.
func plain(text string) string { return strings.TrimRight(text, ".,;:!?)]}'\"") }

// Parse returns the references of a prompt in their order, each one once.
func Parse(text string) (words []Word) {
	seen := map[Word]bool{}
	for line := range outsideFences(text) {
		before := ' '
		for i := 0; i < len(line) && len(words) < MaxReferences; {
			r, size := utf8.DecodeRuneInString(line[i:])
			if (r == '@' || strings.HasPrefix(line[i:], "#"+Selection)) && (unicode.IsSpace(before) || before == '(') {
				w, n := wordAt(line[i+1:])
				if r == '#' && plain(w.Text) != Selection {
					w = Word{}
				}
				if w.Text != "" && len(w.Text) <= maxName && !seen[w] {
					seen[w] = true
					words = append(words, w)
				}
				i, before = i+1+n, 'x'
				continue
			}
			i, before = i+size, r
		}
	}
	return words
}

// Added returns a text with only those references of a prompt that another text does not have.
func Added(before, text string) string {
	known := Parse(before)
	var b strings.Builder
	for _, w := range Parse(text) {
		switch {
		case slices.Contains(known, w):
		case w.Quoted: // the lines behind it belong to it
			name, lines := w.Text, ""
			if m := suffix.FindStringSubmatchIndex(name); m != nil {
				name, lines = name[:m[3]], name[m[3]:]
			}
			b.WriteString(`@"` + name + `"` + lines + " ")
		default:
			b.WriteString("@" + w.Text + " ")
		}
	}
	return b.String()
}

// wordAt returns the word at the beginning of text, and its length.
func wordAt(text string) (w Word, n int) {
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		name, rest, closed := strings.Cut(inner, `"`)
		if !closed {
			return Word{}, 1
		}
		n = len(name) + 2
		if m := linesBehind.FindString(rest); m != "" && name != "" {
			return Word{name + m, true}, n + len(m)
		}
		return Word{name, true}, n
	}
	n = strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
	if n < 0 {
		n = len(text)
	}
	return Word{Text: text[:n]}, n
}

var linesBehind = regexp.MustCompile(`^(?::\d{1,9}(?:-\d{1,9})?|#L\d{1,9}(?:-L?\d{1,9})?)`)

// outsideFences returns the lines of a text that are not in fenced code.
func outsideFences(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		fence := ""
		for line := range strings.Lines(text) {
			mark := fenceOf(line)
			switch {
			case fence == "" && mark != "":
				fence = mark
			case fence != "" && strings.HasPrefix(mark, fence):
				fence = ""
			case fence == "" && !yield(line):
				return
			}
		}
	}
}

// fenceOf returns the mark of a line that begins or ends fenced code, "" for any other line.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		if mark := line[:len(line)-len(strings.TrimLeft(line, c))]; len(mark) >= 3 {
			return mark
		}
	}
	return ""
}
