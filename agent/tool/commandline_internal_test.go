package tool

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// split takes a command line apart as the runtime of MSYS2 does (next_arg in its dcrt0.cc). expands reports whether it would
// look for patterns in an argument, or for the name of a file.
func split(line string) (args []string, expands bool) {
	for at := 0; at < len(line); {
		arg, quoted, inside, backslashes := []byte{}, false, false, 0
		for ; at < len(line) && (inside || line[at] != ' '); at++ {
			c := line[at]
			if c == '\\' {
				backslashes++
				continue
			}
			n := backslashes
			if c == '"' {
				n /= 2
			}
			for range n {
				arg = append(arg, '\\')
			}
			switch {
			case c != '"' || backslashes%2 == 1:
				arg = append(arg, c)
				expands = expands || !inside
			case inside && at+1 < len(line) && line[at+1] == '"':
				arg = append(arg, '"')
				at++
			default:
				inside, quoted = !inside, true
			}
			backslashes = 0
		}
		at++
		expands = expands || !quoted
		args = append(args, string(arg))
	}
	return args, expands
}

// A command reaches bash as it is.
func TestACommandLineKeepsItsArguments(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"", "ls", "ls *.go", "./*.sh", "@file", "~", "echo 'a b'", `echo "a b"`, `echo "" ''`, `printf 'a\\nb'`, `printf "a\\\"b"`, `a\`, `a\\`, `"`, `""`, `"""`, `\"`, `\\"`, `\\\" x`,
		"a\nb", "{a,b}", `C:\Users\u`, `cat <<'X'` + "\n\\\"\\\\\"\nX\n", "grüße $HOME",
	} {
		argv := []string{`C:\Program Files\Git\bin\bash.exe`, "-c", command}
		args, expands := split(commandLine(argv))
		require.Equal(t, argv, args)
		require.False(t, expands, command)
	}
}
