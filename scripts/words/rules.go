package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// limit is a pattern that may occur fewer than max times in 10,000 words.
type limit struct {
	name    string
	max     float64
	pattern *regexp.Regexp
}

// area is a set of files that are counted together.
type area struct {
	name     string
	enforce  bool // exceeding a limit fails the check
	included []*regexp.Regexp
	excluded []*regexp.Regexp
}

// ban is a phrase that is not used, with the words to use instead.
type ban struct {
	phrase, advice string
	pattern        *regexp.Regexp
}

// rules is the content of rules.txt.
type rules struct {
	limits []limit
	areas  []area
	bans   []ban
	names  map[string]string // banned words of identifiers, with the words to use instead

	enforceStrings bool // a banned phrase in a string fails the check
}

// exception allows a banned phrase in one file.
type exception struct {
	path, phrase, reason string
	used                 bool
}

// dataLines returns the lines of a file that are neither empty nor comments, by their numbers.
func dataLines(path string) (map[int]string, int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	found, n := map[int]string{}, 0
	for line := range strings.Lines(string(text)) {
		n++
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			found[n] = line
		}
	}
	return found, n, nil
}

// readRules reads rules.txt.
func readRules(path string) (rules, error) {
	var r rules
	lines, n, err := dataLines(path)
	if err != nil {
		return r, err
	}
	for i := 1; i <= n; i++ {
		line, present := lines[i]
		if !present {
			continue
		}
		if err := r.add(line); err != nil {
			return r, fmt.Errorf("%s:%d: %w", path, i, err)
		}
	}
	return r, nil
}

// add parses one line.
func (r *rules) add(line string) error {
	kind, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	fields := strings.Fields(rest)
	switch {
	case kind == "limit" && len(fields) >= 3:
		highest, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			return err
		}
		expression := strings.Join(fields[2:], " ")
		pattern, err := regexp.Compile("(?i)" + strings.ReplaceAll(expression, " ", `\s+`))
		if err != nil {
			return err
		}
		r.limits = append(r.limits, limit{fields[0], highest, pattern})
	case kind == "area" && len(fields) >= 3 && (fields[1] == "enforce" || fields[1] == "report"):
		a := area{name: fields[0], enforce: fields[1] == "enforce"}
		for _, f := range fields[2:] {
			if glob, excluded := strings.CutPrefix(f, "!"); excluded {
				a.excluded = append(a.excluded, globPattern(glob))
			} else {
				a.included = append(a.included, globPattern(f))
			}
		}
		r.areas = append(r.areas, a)
	case kind == "ban" && strings.Contains(rest, " => "):
		phrase, advice, _ := strings.Cut(rest, " => ")
		r.bans = append(r.bans, ban{phrase, advice, phrasePattern(phrase)})
	case kind == "name" && strings.Contains(rest, " => "):
		word, advice, _ := strings.Cut(rest, " => ")
		if r.names == nil {
			r.names = map[string]string{}
		}
		r.names[word] = advice
	case line == "strings enforce", line == "strings report":
		r.enforceStrings = line == "strings enforce"
	default:
		return fmt.Errorf("not a limit, area, ban, name or mode of strings: %s", line)
	}
	return nil
}

// phrasePattern matches a phrase as whole words, with any case and line breaks.
func phrasePattern(phrase string) *regexp.Regexp {
	words := strings.Fields(phrase)
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return regexp.MustCompile(`(?i)\b` + strings.Join(words, `\s+`) + `\b`)
}

// globPattern translates a path pattern: "*" stays within a directory, "**/" does not.
func globPattern(glob string) *regexp.Regexp {
	expression := regexp.QuoteMeta(glob)
	expression = strings.ReplaceAll(expression, `\*\*/`, `(?:.*/)?`)
	expression = strings.ReplaceAll(expression, `\*\*`, `.*`)
	expression = strings.ReplaceAll(expression, `\*`, `[^/]*`)
	return regexp.MustCompile("^" + expression + "$")
}

// area returns the index of the first area that has a file, or -1.
func (r *rules) area(path string) int {
	for i, a := range r.areas {
		if matches(a.included, path) && !matches(a.excluded, path) {
			return i
		}
	}
	return -1
}

func matches(patterns []*regexp.Regexp, path string) bool {
	for _, p := range patterns {
		if p.MatchString(path) {
			return true
		}
	}
	return false
}

// readExceptions reads exceptions.txt, lines of "path: phrase: reason".
func readExceptions(path string) ([]*exception, error) {
	lines, n, err := dataLines(path)
	if err != nil {
		return nil, err
	}
	var all []*exception
	for i := 1; i <= n; i++ {
		line, present := lines[i]
		if !present {
			continue
		}
		parts := strings.SplitN(line, ": ", 3)
		if len(parts) != 3 || strings.TrimSpace(parts[2]) == "" {
			return nil, fmt.Errorf("%s:%d: want \"path: phrase: reason\"", path, i)
		}
		all = append(all, &exception{path: parts[0], phrase: parts[1], reason: parts[2]})
	}
	return all, nil
}
