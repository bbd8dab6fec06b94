package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// fileWords are the errors of programs when the kernel refuses a file, a device or a call.
var fileWords = []string{"permission denied", "operation not permitted", "read-only file system", "eacces", "eperm", "erofs", "function not implemented"}

// networkWords are the errors of programs without a network.
var networkWords = []string{
	"could not resolve", "couldn't resolve", "temporary failure in name resolution", "name or service not known", "network is unreachable",
	"getaddrinfo", "no such host", "could not connect to", "couldn't connect to", "failed to connect", "connection refused", "unable to access",
	"enotfound", "eai_again",
}

const (
	mostBlocked  = 5   // lines
	blockedWidth = 200 // bytes
)

// Blocked returns the lines of a failed command's output that describe an access denied by the
// sandbox. It is a guess: the kernel notifies only the program, and each program words the error in
// its own way. A line about files counts unless every path that it names is open to the command.
func Blocked(p Policy, cwd, output string) []string {
	var found []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		lower := strings.ToLower(line)
		says := func(word string) bool { return strings.Contains(lower, word) }
		file := slices.ContainsFunc(fileWords, says) && !p.permits(cwd, line)
		network := !p.Network && slices.ContainsFunc(networkWords, says)
		if (file || network) && !slices.Contains(found, clip(line)) {
			found = append(found, clip(line))
		}
		if len(found) == mostBlocked {
			break
		}
	}
	return found
}

// permits reports whether a line names paths and the policy opens all of them.
func (p Policy) permits(cwd, line string) bool {
	named := false
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" \t'\"`:;,()[]<>=", r) || r == '‘' || r == '’' }) {
		if !strings.ContainsRune(word, '/') {
			continue
		}
		if !filepath.IsAbs(word) {
			word = filepath.Join(cwd, word)
		}
		named = true
		if !p.Writable(resolved(filepath.Clean(word))) {
			return false
		}
	}
	return named
}

// clip shortens a line, never within a character.
func clip(s string) string {
	if len(s) <= blockedWidth {
		return s
	}
	end := blockedWidth
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
