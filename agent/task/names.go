package task

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxName = 32 // bytes of a name, without its number

// reserved are names that Windows keeps for devices, whatever their ending.
var reserved = []string{
	"con", "prn", "aux", "nul", "com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
}

// clean returns the name of a task in camel case, as it names its files: ASCII letters and digits only, with a letter first.
func clean(name, agent string) string {
	for _, from := range []string{name, agent, "Task"} {
		if s := camel(from); s != "" {
			if slices.Contains(reserved, strings.ToLower(s)) {
				s += "Task"
			}
			return s
		}
	}
	return "Task"
}

func camel(s string) string {
	var b strings.Builder
	upper := true
	for _, r := range s {
		letter := r < utf8.RuneSelf && unicode.IsLetter(r)
		switch {
		case !letter && (r >= utf8.RuneSelf || !unicode.IsDigit(r)):
			upper = true
			continue
		case !letter && b.Len() == 0:
			b.WriteString("Task") // an artifact begins with a digit
		case upper:
			r = unicode.ToUpper(r)
		}
		if b.Len() >= maxName {
			break
		}
		b.WriteRune(r)
		upper = false
	}
	return b.String()
}

// names gives out names.
type names struct{ used map[string]bool }

// next returns a free name. Names that differ in case only are the same file on some machines.
func (n *names) next(name string) string {
	if n.used == nil {
		n.used = map[string]bool{}
	}
	free := name
	for i := 2; n.used[strings.ToLower(free)]; i++ {
		free = name + "-" + strconv.Itoa(i)
	}
	n.used[strings.ToLower(free)] = true
	return free
}
