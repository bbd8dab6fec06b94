package approval

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// everywhere takes all files for files of the folder.
type everywhere struct{}

func (everywhere) file(string) bool { return true }
func (everywhere) glob(string) bool { return true }
func (everywhere) none(string) bool { return true }
func (everywhere) text(string) bool { return true }

func callOf(words ...string) call {
	var c call
	for _, w := range words {
		c.words = append(c.words, word{text: w})
	}
	return c
}

// Every entry can be reached, describes its own words, and none of the known harmful uses of the
// programs.
func TestTheTable(t *testing.T) {
	t.Parallel()
	entries := 0
	for program, all := range known().entries {
		require.NotContains(t, program, "/")
		for _, e := range all {
			entries++
			require.Same(t, e, known().find(e.words), "two lines about %v", e.words)
			require.Same(t, e, like(callOf(e.words...), everywhere{}), "%v", e.words)
			require.NotEmpty(t, e.String())
			require.Equal(t, e, named(e.words))
			if e.raw {
				continue
			}
			for _, unknown := range []string{"--no-such-flag", "-é", "--no-such-flag=x"} {
				require.Nil(t, like(callOf(append(slices.Clone(e.words), unknown)...), everywhere{}), "%v %s", e.words, unknown)
			}
			for flag, v := range e.flags {
				require.NotEmpty(t, flag)
				require.False(t, v.kind == "match" && v.pattern == nil, flag)
			}
		}
	}
	require.Greater(t, entries, 250)
	for name := range known().sets {
		require.Contains(t, programs, "@"+name)
	}
	for name := range known().patterns {
		require.Contains(t, programs, "/"+name+"/")
	}
}

// No entry that only reads has a flag that writes, runs or reads a list of files.
func TestReadersHaveNoOtherFlags(t *testing.T) {
	t.Parallel()
	bad := []string{
		"--output", "--exec", "--pre", "--hostname-bin", "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprintf", "-fprint0", "-fls", "--files0-from",
		"-files0-from", "--compress-program", "--ext-diff", "--textconv", "--open-files-in-pager", "--file", "--from-file", "--rawfile", "--slurpfile", "--set", "--in-place",
		"--follow", "--delete", "--force", "--config", "--git-dir", "--work-tree", "--no-index", "--upload-pack", "--receive-pack", "--to-command", "--checkpoint-action", "--ignore-file",
		"--dereference-recursive", "--no-preserve-root", "--contents", "--ignore-revs-file", "--exclude-from", "--pathspec-from-file", "-toolexec", "-overlay", "-w ",
	}
	allowed := map[string]bool{"tr --delete": true, "git rev-parse --git-dir": true, "git check-ignore --no-index": true, "git log --follow": true, "git show --follow": true, "git reflog --follow": true, "git reflog show --follow": true, "git shortlog --follow": true, "git whatchanged --follow": true, "git stash list --follow": true, "git rev-list --follow": true}
	for _, all := range known().entries {
		for _, e := range all {
			for flag := range e.flags {
				if !allowed[strings.Join(e.words, " ")+" "+flag] {
					require.NotContains(t, bad, flag, "%v", e.words)
				}
			}
		}
	}
	for program, flags := range map[string]string{"sort": "-o -T -S", "grep": "-f -R", "rg": "-f -z -L", "uniq": "-o", "tree": "-o -l -R", "date": "-s -f -r", "sed": "-i -f", "file": "-f -m -C", "xxd": "-r", "find": "-L -follow", "awk": "-f -v -i", "tail": "-f -F"} {
		for _, e := range known().entries[program] {
			for flag := range strings.FieldsSeq(flags) {
				require.NotContains(t, slices.Collect(maps.Keys(e.flags)), flag, program)
			}
		}
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"lines 1,20p": "yes", "lines 5p": "yes", "lines $p": "no", "lines 1,$p": "yes", "lines 1p;5,9p": "yes", "lines 1w x": "no", "lines 1e": "no", "lines /x/p": "yes", "lines /x/,/y/p": "yes",
		"lines /x/w y": "no", "lines /x/e": "no", "lines s/x/y/e": "no", "lines 1p\ne": "no", "lines 1p;e": "no", "lines /x/p;w y": "no",
		"columns {print $1}": "yes", "columns { print $1, $NF }": "yes", "columns {print}": "yes", "columns {system($1)}": "no", "columns {print $1 > \"x\"}": "no", "columns {print | \"x\"}": "no",
		"columns {print $1}{system(1)}": "no", "columns {print $system(1)}": "no", "columns BEGIN{x}": "no", `columns {print $1 " " $2}`: "yes", `columns {print $1 "x" | $2}`: "no",
		"filter .a": "yes", "filter .a[] | select(.b==1)": "yes", "filter env": "no", "filter $ENV.x": "no", `filter import "x" as $x; 1`: "no", `filter include "x"; 1`: "no",
		"date +%s": "yes", "date 0101": "no", "seconds 5": "yes", "seconds 50": "no", "duration 5m": "yes", "duration -5": "no", "word a.b-c": "yes", "word --x": "no", "number 5": "yes", "number 5;x": "no",
	} {
		name, text, _ := strings.Cut(text, " ")
		require.Equal(t, want == "yes", known().patterns[name].matches(text), "%s %q", name, text)
	}
}

func TestATableThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"read x", "read x | nonsense |", "read x | none | @none", "read x | none | -x=/none/", "walk x | none |", "pattern x (", "read x | /none/ |"} {
		_, err := parseTable(text)
		require.Error(t, err, text)
	}
}

func TestReadable(t *testing.T) {
	t.Parallel()
	root, elsewhere := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "-x"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "a"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(root, "sub"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "sub", "a"), nil, 0o600))
	require.NoError(t, os.Symlink(filepath.Join(elsewhere, "x"), filepath.Join(root, "sub", "link")))
	p := policy{root: root, sandbox: true}
	s, ok := p.scene(parse("ls"))
	require.True(t, ok)
	for pattern, want := range map[string]bool{
		"a*": true, "sub/a*": true, "*": false, "sub/*": false, "*/a": true, "../*": false, elsewhere + "/*": false, "none*": true, "./a*": true, "sub/../a*": false, `\*`: false,
	} {
		require.Equal(t, want, s.glob(pattern), pattern)
	}
	require.True(t, s.none("--include=*.go"))
	require.False(t, s.none("?x"))
	require.True(t, s.file("/usr/include/x.h"))
	require.True(t, s.file("/dev/null"))
	require.False(t, s.file("/dev/zero"))
	require.False(t, s.file("/etc/passwd"))
	s.system = false
	require.False(t, s.file("/usr/include/x.h"))
}
