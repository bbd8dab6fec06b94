package approval

import (
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// line holds the effects of a command line, as far as they are known without running it.
type line struct {
	text   string
	calls  []call   // every program, also those in substitutions, but for cd
	writes []string // files that output is redirected to
	dirs   []string // directories that it changes to
	opaque bool     // it may have unknown effects

	background bool // it continues after its call
}

// call is one program with its arguments.
type call struct {
	words []word
	fed   bool // its input comes from another program or the line
}

// maxLine is the longest line that is examined, in bytes. It also bounds how deep a line can
// nest.
const maxLine = 16 << 10

const nowhere = "/dev/null"

// parse reads a command line. One that is not understood is opaque.
func parse(text string) line {
	l := line{text: text}
	if len(text) > maxLine || !printable(text) {
		l.opaque = true
		return l
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) == 0 {
		l.opaque = true
		return l
	}
	l.stmts(file.Stmts, false)
	return l
}

// printable reports whether a user sees all of a text.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsGraphic(r) && r != '\n' && r != '\t'
	})
}

// stmts records the effects of statements. fed means that their input is not empty. Everything
// unknown here makes the line opaque: background jobs, loops, functions, assignments, arithmetic,
// tests that evaluate, and the syntax of later versions of the parser.
func (l *line) stmts(all []*syntax.Stmt, fed bool) {
	for _, s := range all {
		l.stmt(s, fed)
	}
}

func (l *line) stmt(s *syntax.Stmt, fed bool) {
	if s.Background || s.Coprocess || s.Disown {
		l.opaque = true
	}
	for _, r := range s.Redirs {
		if l.redirect(r, fed) {
			fed = true
		}
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		l.call(cmd, fed)
	case *syntax.BinaryCmd:
		piped := cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll
		if !piped && cmd.Op != syntax.AndStmt && cmd.Op != syntax.OrStmt {
			l.opaque = true
		}
		l.stmt(cmd.X, fed)
		l.stmt(cmd.Y, fed || piped)
	case *syntax.Block:
		l.stmts(cmd.Stmts, fed)
	case *syntax.Subshell:
		l.stmts(cmd.Stmts, fed)
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			l.stmt(cmd.Stmt, fed)
		}
	case *syntax.IfClause:
		for ; cmd != nil; cmd = cmd.Else {
			l.stmts(cmd.Cond, fed)
			l.stmts(cmd.Then, fed)
		}
	default:
		l.opaque = true
	}
}

func (l *line) call(n *syntax.CallExpr, fed bool) {
	if len(n.Assigns) > 0 || len(n.Args) == 0 {
		l.opaque = true // variables control programs, not only PATH
		return
	}
	c := call{fed: fed}
	for _, arg := range n.Args {
		c.words = append(c.words, l.word(arg, fed))
	}
	if c.words[0].form != plain || c.words[0].text == "" {
		l.opaque = true
		return
	}
	if c.words[0].text != "cd" {
		l.calls = append(l.calls, c)
		return
	}
	// Once, and to a known directory: the following paths are relative to it.
	if len(c.words) != 2 || c.words[1].form != plain || isFlag(c.words[1].text) || c.words[1].text == "" || len(l.dirs) > 0 {
		l.opaque = true
		return
	}
	l.dirs = append(l.dirs, c.words[1].text)
}

// redirect records the destination of output, and reports whether input comes from the line itself.
// Input from anywhere else makes the line opaque.
func (l *line) redirect(r *syntax.Redirect, fed bool) (feeds bool) {
	if r.N != nil && r.N.Value != "1" && r.N.Value != "2" {
		l.opaque = true
	}
	to := l.word(r.Word, fed)
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		if to.form != plain || to.text == "" {
			l.opaque = true
		}
		if to.text != nowhere {
			l.writes = append(l.writes, to.text)
		}
	case syntax.DplOut:
		if to.form != plain || to.text != "1" && to.text != "2" {
			l.opaque = true
		}
	case syntax.WordHdoc:
		return true
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc != nil {
			l.heredoc(r.Hdoc, fed)
		}
		return true
	default:
		l.opaque = true
	}
	return false
}

// heredoc reads the text of a here-document, in which only substitutions matter.
func (l *line) heredoc(text *syntax.Word, fed bool) {
	for _, part := range text.Parts {
		if _, ok := part.(*syntax.Lit); !ok {
			var b builder
			l.expansion(&b, part, fed)
			l.opaque = l.opaque || b.opaque
		}
	}
}

// plain returns the words of a call that stand for themselves; false where one does not.
func (c call) plain() ([]string, bool) {
	words := make([]string, len(c.words))
	for i, w := range c.words {
		words[i] = w.text
		if w.form != plain {
			return nil, false
		}
	}
	return words, true
}

// texts are the words of a call up to the first that does not stand for itself.
func (c call) texts() []string {
	end := slices.IndexFunc(c.words, func(w word) bool { return w.form != plain })
	if end < 0 {
		end = len(c.words)
	}
	words := make([]string, end)
	for i := range words {
		words[i] = c.words[i].text
	}
	return words
}

func isFlag(word string) bool { return strings.HasPrefix(word, "-") }
