package setup

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxExpanded bounds a template with its arguments, in bytes.
const maxExpanded = 1 << 20

// placeholders of pi: ${1:-default}, ${@:-default}, ${@:2}, ${@:1:2}, $1, $@, $ARGUMENTS.
var placeholders = regexp.MustCompile(`\$\{(\d+|@|ARGUMENTS):-([^}]*)\}|\$\{@:(\d+)(?::(\d+))?\}|\$(ARGUMENTS|@|\d+)`)

// substitutePi returns a template of pi with its arguments. Substituted text is not substituted again, and
// arguments without a placeholder are dropped.
func substitutePi(body, typed string) string {
	args := wordsPi(typed)
	all := strings.Join(args, " ")
	size := len(body)
	return placeholders.ReplaceAllStringFunc(body, func(found string) string {
		if size > maxExpanded {
			return found // it is too long already
		}
		m := placeholders.FindStringSubmatch(found)
		text := ""
		switch {
		case m[1] != "":
			if text = argument(args, all, m[1]); text == "" {
				text = m[2]
			}
		case m[3] != "":
			text = slice(args, m[3], m[4])
		default:
			text = argument(args, all, m[5])
		}
		size += len(text)
		return text
	})
}

// argument returns the argument with a number, or all of them.
func argument(args []string, all, name string) string {
	if name == "@" || name == "ARGUMENTS" {
		return all
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 || n > len(args) {
		return ""
	}
	return args[n-1]
}

// slice returns the arguments from a number on, or so many of them.
func slice(args []string, from, count string) string {
	start, err := strconv.Atoi(from)
	if err != nil || start > len(args) {
		return ""
	}
	args = args[max(start-1, 0):]
	if n, err := strconv.Atoi(count); err == nil && n < len(args) {
		args = args[:n]
	}
	return strings.Join(args, " ")
}

// wordsPi splits arguments as pi does: quotes open at the start of a word only, \" stands for a quote in
// them, and quotes that are not closed are ordinary characters.
func wordsPi(s string) (words []string) {
	for s = strings.TrimLeftFunc(s, unicode.IsSpace); s != ""; s = strings.TrimLeftFunc(s, unicode.IsSpace) {
		word, rest, quoted := quotedWord(s)
		if quoted {
			s = rest
		} else {
			word = ""
		}
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 {
			end = len(s)
		}
		words, s = append(words, word+s[:end]), s[end:]
	}
	return words
}

// quotedWord returns the content of the quotes that s begins with, and what follows them.
func quotedWord(s string) (word, rest string, ok bool) {
	mark := s[0]
	if mark != '"' && mark != '\'' {
		return "", s, false
	}
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == mark:
			i++
			out.WriteByte(mark)
		case s[i] == mark:
			return out.String(), s[i+1:], true
		default:
			out.WriteByte(s[i])
		}
	}
	return "", s, false
}

var (
	positional = regexp.MustCompile(`\$(\d+)`)
	slicesOf   = regexp.MustCompile(`\$@\[(\d+)(?::(\d*))?\]`)
	anyArg     = regexp.MustCompile(`\$(?:\d+|@|ARGUMENTS)`)
)

// substituteOmp returns a template of oh-my-pi or xcsh with its arguments: $1 first, so that $2 in an argument
// stays, then $@[2] and $@[1:2], then all of them. Without a placeholder they are added at the end, without their quotes.
func substituteOmp(body, typed string) string {
	args := wordsOmp(typed)
	all := strings.Join(args, " ")
	if !anyArg.MatchString(body) {
		if body == "" || all == "" {
			return body + all
		}
		return body + "\n\n" + all
	}
	body = bounded(positional, body, func(m []string) string { return argument(args, all, m[1]) })
	body = bounded(slicesOf, body, func(m []string) string { return slice(args, m[1], m[2]) })
	body = bounded(allArguments, body, func([]string) string { return all })
	return bounded(allAt, body, func([]string) string { return all })
}

var (
	allArguments = regexp.MustCompile(`\$ARGUMENTS`)
	allAt        = regexp.MustCompile(`\$@`)
)

// bounded replaces matches until the result is longer than it may be.
func bounded(re *regexp.Regexp, s string, by func(match []string) string) string {
	size := len(s)
	return re.ReplaceAllStringFunc(s, func(found string) string {
		if size > maxExpanded {
			return found
		}
		text := by(re.FindStringSubmatch(found))
		size += len(text)
		return text
	})
}

// wordsOmp splits arguments as oh-my-pi does: quotes anywhere, without escapes; quotes that are not closed
// take the rest.
func wordsOmp(s string) (words []string) {
	var word strings.Builder
	var mark rune
	for len(s) > 0 {
		c, size := utf8.DecodeRuneInString(s)
		switch {
		case mark != 0 && c == mark:
			mark = 0
		case mark != 0:
			word.WriteString(s[:size])
		case c == '"' || c == '\'':
			mark = c
		case unicode.IsSpace(c):
			if word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
		default:
			word.WriteString(s[:size])
		}
		s = s[size:]
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}
