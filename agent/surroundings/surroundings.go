package surroundings

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxOutput  = 8 << 10 // of git, in bytes
	maxChanges = 10      // that are listed
	maxName    = 120     // of a branch or a file, in bytes
)

// Probe looks at the surroundings. It is safe for concurrent use.
type Probe struct {
	Now func() time.Time

	// Read runs a command line in dir that may only read, for a short time, and returns its standard
	// output. ok is false if it failed. nil: git is not used.
	Read func(ctx context.Context, dir, line string) (output string, ok bool)
}

// Text returns the description for a model that works in dir, one fact per line. The changes of the
// repository are in it only if the conversation begins: a later one knows them from its tools, and the
// text should not change between the requests of a conversation.
func (p Probe) Text(ctx context.Context, dir string, begins bool) string {
	text := "Date: " + p.Now().Format("Monday, 2 January 2006") + "\n"
	if p.Read == nil {
		return text
	}
	output, ok := p.Read(ctx, dir, command)
	if !ok {
		return text // no repository, no git, or one that takes too long
	}
	s, ok := parse(output)
	if !ok {
		return text
	}
	text += "Git branch: " + s.branch + "\n"
	if begins {
		text += s.changes()
	}
	return text
}

// command prints the branch and the changes of the working directory. Renames are not looked for, because
// that takes long. For a status git starts programs that its settings name, so those are overridden, and
// a repository that names filters of its own has no status: their names are not known in advance. Missing
// objects are not fetched, for which settings name programs, too.
var command = `export GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1
filters=$(git config --show-scope --name-only --get-regexp '^filter\.' 2>/dev/null)
case $? in 0|1) ;; *) exit 1 ;; esac
printf '%s\n' "$filters" | grep -Eq '^(local|worktree)' && exit 1
git --no-pager --no-optional-locks -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.quotePath=true -c color.ui=false ` +
	`status --porcelain=v1 --branch --no-renames --no-ahead-behind --untracked-files=normal --ignore-submodules=all -- . 2>/dev/null | head -c ` +
	strconv.Itoa(maxOutput+1) // one byte more than is used shows that there is more

// status is the output of the command.
type status struct {
	branch string
	files  []string // as git prints them
	more   bool     // there are more than files
}

func parse(output string) (s status, ok bool) {
	if len(output) > maxOutput {
		output, s.more = output[:strings.LastIndexByte(output[:maxOutput], '\n')+1], true
	}
	head, rest, _ := strings.Cut(output, "\n")
	head, ok = strings.CutPrefix(head, "## ")
	if !ok {
		return s, false
	}
	s.branch = branch(head)
	for line := range strings.Lines(rest) {
		if line = strings.TrimRight(line, "\n"); len(line) > len("XY ") {
			s.files = append(s.files, line)
		}
	}
	return s, true
}

// branch reads git's first line: "main...origin/main [gone]", "No commits yet on main" or "HEAD (no
// branch)".
func branch(head string) string {
	if head == "HEAD (no branch)" {
		return "none (detached HEAD)"
	}
	name, unborn := strings.CutPrefix(head, "No commits yet on ")
	name, _, _ = strings.Cut(name, "...")
	if !unborn {
		name, _, _ = strings.Cut(name, " ")
	}
	return quoted(name)
}

// changes is the list of the changed files.
func (s status) changes() string {
	if len(s.files) == 0 && !s.more {
		return "Git status at the beginning: clean\n"
	}
	var b strings.Builder
	b.WriteString("Git status at the beginning:\n")
	for _, line := range s.files[:min(len(s.files), maxChanges)] {
		b.WriteString(quotedState(line[:2]) + " " + quoted(line[3:]) + "\n")
	}
	switch left := len(s.files) - maxChanges; {
	case s.more:
		b.WriteString("and many more\n")
	case left > 0:
		fmt.Fprintf(&b, "and %d more\n", left)
	}
	return b.String()
}

// quotedState is the state of a file, two characters such as " M" or "??".
func quotedState(state string) string {
	if strings.Trim(state, " MTADRCU?!") != "" {
		return "??"
	}
	return state
}

// quoted shows a name from the repository: on one line, without invisible characters, and not too long.
func quoted(name string) string {
	if own, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		name = own // git quotes unusual names
	}
	if len(name) > maxName {
		cut := maxName
		for cut > 0 && !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut] + "…"
	}
	return strconv.Quote(name)
}
