package approval

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is an argument as far as it can be known without running the shell.
type word struct {
	text string // unquoted
	form form
}

type form int

const (
	plain   form = iota // stands for itself
	glob                // a pattern of file names, with * or ?
	replace             // has something that the shell replaces by harmless text: $?, the output of a command
)

// builder collects the parts of a word.
type builder struct {
	text    strings.Builder
	form    form
	opaque  bool
	special bool // it has unquoted braces
}

func (b *builder) raise(f form) { b.form = max(b.form, f) }

// word reads an argument. Commands in it are noted in l. One that can become anything makes the
// line opaque.
func (l *line) word(w *syntax.Word, fed bool) word {
	var b builder
	for i, part := range w.Parts {
		l.part(&b, part, i == 0, fed)
	}
	text := b.text.String()
	if b.special && (strings.Contains(text, ",") || strings.Contains(text, "..")) { // {a,b}
		b.opaque = true
	}
	if b.opaque {
		l.opaque = true
	}
	return word{text, b.form}
}

func (l *line) part(b *builder, part syntax.WordPart, first, fed bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		b.literal(p.Value, first)
	case *syntax.SglQuoted:
		b.opaque = b.opaque || p.Dollar
		b.text.WriteString(p.Value)
	case *syntax.DblQuoted:
		b.opaque = b.opaque || p.Dollar
		for _, inner := range p.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				b.quoted(lit.Value)
			} else {
				l.expansion(b, inner, fed)
			}
		}
	default:
		l.expansion(b, part, fed)
	}
}

// expansion records the expansions of the shell.
func (l *line) expansion(b *builder, part syntax.WordPart, fed bool) {
	b.raise(replace)
	switch p := part.(type) {
	case *syntax.CmdSubst:
		if p.TempFile || p.ReplyVar {
			b.opaque = true
		}
		l.stmts(p.Stmts, fed)
	case *syntax.ParamExp:
		b.opaque = b.opaque || !status(p)
	default: // arithmetic, process substitution, patterns of bash
		b.opaque = true
	}
}

// status reports whether an expansion is the exit status of the previous command: $?, ${?} or
// ${PIPESTATUS[0]}. Any other expansion can have any value, and some forms assign or evaluate.
func status(p *syntax.ParamExp) bool {
	if p.Param == nil || p.Flags != nil || p.Excl || p.Length || p.Width || p.IsSet || p.Split != 0 || p.GlobSubst != 0 || p.RcExpand != 0 ||
		p.NestedParam != nil || len(p.Modifiers) > 0 || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil {
		return false
	}
	if p.Index == nil {
		return p.Param.Value == "?"
	}
	index, ok := p.Index.(*syntax.Word)
	return ok && p.Param.Value == "PIPESTATUS" && len(index.Lit()) == 1 && strings.Contains("0123456789@*", index.Lit())
}

// literal adds unquoted text.
func (b *builder) literal(s string, first bool) {
	if first && (s == "[" || s == "]") { // the command
		b.text.WriteString(s)
		return
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i == len(s) || s[i] == '\n' {
				b.opaque = true
				return
			}
			b.text.WriteByte(s[i])
			continue
		case '*', '?':
			b.raise(glob)
		case '{':
			b.special = true
		case '[', '$', '`':
			b.opaque = true
		case '~':
			// A home directory at the beginning, and after "=" and ":" as in an assignment.
			if i == 0 && b.text.Len() == 0 || i == 0 || s[i-1] == '=' || s[i-1] == ':' {
				b.opaque = true
			}
		}
		b.text.WriteByte(s[i])
	}
}

// quoted adds text in double quotes.
func (b *builder) quoted(s string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			if i++; s[i] == '\n' {
				b.opaque = true
				return
			}
		}
		b.text.WriteByte(s[i])
	}
}
