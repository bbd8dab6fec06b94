package approval

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// line is what a command line would do, as far as that can be seen without running it.
type line struct {
	text   string
	calls  []call   // every program, also those in substitutions
	writes []string // files that output is redirected to
	dirs   []string // directories that it changes to
	loops  bool     // parts of it may run more than once
	opaque bool     // it may run what cannot be seen
}

// call is one program with its arguments.
type call struct {
	words []string // up to the first that is not plain
	plain bool     // all of them are
}

// harmless are builtins that change nothing but the shell itself. Where cd goes is another
// question, see [line.dirs].
var harmless = map[string]bool{"cd": true, "pwd": true, "true": true, "false": true, ":": true, "echo": true, "exit": true}

// interpreters run what their arguments or their input say. A rule about their first words
// would allow everything.
var interpreters = map[string]bool{
	"eval": true, "exec": true, "source": true, ".": true, "command": true, "builtin": true, "trap": true, "enable": true, "alias": true,
	"hash": true, "set": true, "shopt": true, "pushd": true, "popd": true, "read": true, "mapfile": true, "readarray": true, "printf": true, "test": true, "[": true,
	"unset": true, "wait": true, "getopts": true, "bind": true, "complete": true, "compgen": true, "fc": true, "history": true,
	"bash": true, "sh": true, "dash": true, "zsh": true, "fish": true, "ksh": true, "csh": true, "tcsh": true, "busybox": true, "pwsh": true,
	"python": true, "python2": true, "python3": true, "node": true, "nodejs": true, "perl": true, "ruby": true, "php": true, "lua": true,
	"Rscript": true, "osascript": true, "awk": true, "gawk": true, "mawk": true, "sed": true, "expect": true, "tclsh": true, "vim": true,
	"vi": true, "nvim": true, "emacs": true, "ed": true, "ex": true, "less": true, "more": true, "man": true,
	"sudo": true, "doas": true, "su": true, "runuser": true, "pkexec": true, "env": true, "nohup": true, "nice": true, "ionice": true,
	"time": true, "timeout": true, "stdbuf": true, "setsid": true, "chroot": true, "unshare": true, "nsenter": true, "script": true,
	"watch": true, "xargs": true, "parallel": true, "ssh": true, "scp": true, "rsync": true, "npx": true, "bunx": true, "uvx": true,
	"pipx": true, "strace": true, "ltrace": true, "gdb": true, "flock": true, "at": true, "batch": true, "crontab": true, "tar": true,
}

// findActions are the words with which find does more than find.
var findActions = []string{"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"}

// parse reads a command line. One that is not understood is opaque.
func parse(text string) line {
	l := line{text: text}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) == 0 {
		l.opaque = true
		return l
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		l.see(n)
		return true
	})
	// Each round of a loop goes further: the directory that is looked at is the first one's.
	l.opaque = l.opaque || l.loops && len(l.dirs) > 0
	return l
}

// see takes notice of one part of the line. Whatever is not known here is opaque.
func (l *line) see(n syntax.Node) {
	switch n := n.(type) {
	case nil, *syntax.File, *syntax.Comment, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.Stmt,
		*syntax.BinaryCmd, *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.CaseClause, *syntax.CaseItem,
		*syntax.CmdSubst, *syntax.ProcSubst, *syntax.ExtGlob, *syntax.BraceExp:
	case *syntax.WhileClause: // until, too
		l.loops = true
	case *syntax.CallExpr:
		l.seeCall(n)
	case *syntax.Redirect:
		l.seeRedirect(n)
	case *syntax.ParamExp:
		// Only the value itself: other forms assign, calculate or evaluate.
		value := syntax.ParamExp{Dollar: n.Dollar, Rbrace: n.Rbrace, Short: n.Short, Param: n.Param}
		l.opaque = l.opaque || !reflect.DeepEqual(value, *n)
	default:
		// Assignments, functions, loops over names, arithmetic and tests, which evaluate
		// variables, and what later versions of the parser will know.
		l.opaque = true
	}
}

func (l *line) seeCall(n *syntax.CallExpr) {
	if len(n.Assigns) > 0 || len(n.Args) == 0 {
		l.opaque = true // variables decide what programs do, not only PATH
		return
	}
	c := call{plain: true}
	for _, arg := range n.Args {
		word, ok := plainWord(arg)
		if !ok {
			c.plain = false
			break
		}
		c.words = append(c.words, word)
	}
	if len(c.words) == 0 || interpreters[filepath.Base(c.words[0])] || versioned(filepath.Base(c.words[0])) {
		l.opaque = true
		return
	}
	if filepath.Base(c.words[0]) == "find" && (!c.plain || slices.ContainsFunc(c.words, func(w string) bool { return slices.Contains(findActions, w) })) {
		l.opaque = true
		return
	}
	if c.words[0] == "cd" {
		// Once, and to where it says: what comes behind is relative to it.
		if !c.plain || len(c.words) != 2 || isFlag(c.words[1]) || len(l.dirs) > 0 {
			l.opaque = true
			return
		}
		l.dirs = append(l.dirs, c.words[1])
	}
	l.calls = append(l.calls, c)
}

// versioned reports whether the name is that of an interpreter with a number: python3.12.
func versioned(name string) bool {
	base := strings.TrimRight(name, "0123456789.-")
	return base != name && interpreters[base]
}

// seeRedirect notes what is written. Reading is left to whoever reads.
func (l *line) seeRedirect(n *syntax.Redirect) {
	if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
		l.opaque = true // assigns a variable
		return
	}
	switch n.Op {
	case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn:
		return
	case syntax.DplOut:
		if word, ok := plainWord(n.Word); ok && strings.Trim(word, "0123456789-") == "" {
			return // another name for an output
		}
	default: // writes
	}
	word, ok := plainWord(n.Word)
	if !ok {
		l.opaque = true
		return
	}
	l.writes = append(l.writes, word)
}

// plainWord returns a word that stands for itself: nothing in it is replaced by the shell.
func plainWord(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "\\*?[]{}~$`!") {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || p.Dollar || strings.Contains(lit.Value, `\`) {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// exactly reports whether a rule allows this very line.
func (l line) exactly(rules []Rule) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.Line != "" && r.Line == l.text })
}

// covered reports whether rules allow every program of the line. Where output goes is not
// looked at.
func (l line) covered(rules []Rule) bool {
	if l.opaque {
		return false
	}
	for _, c := range l.calls {
		if !harmless[c.words[0]] && !slices.ContainsFunc(rules, func(r Rule) bool { return r.allows(c) }) {
			return false
		}
	}
	return true
}

// suggest returns rules that would allow the line, and lines like it where that can be
// said in a few words.
func (l line) suggest(p policy) []Rule {
	this := []Rule{{Line: l.text}}
	var rules []Rule
	for _, c := range l.calls {
		if harmless[c.words[0]] {
			continue
		}
		r, ok := ruleFor(c)
		if !ok {
			return this
		}
		if !slices.ContainsFunc(rules, r.equal) {
			rules = append(rules, r)
		}
	}
	// What rules about words do not allow, such as writing elsewhere, needs the line.
	p.rules = slices.Concat(p.rules, rules)
	if len(rules) == 0 || !p.allows(l) {
		return this
	}
	return rules
}
