// Words checks the English of comments and documentation. It counts the patterns that
// rules.txt limits per 10,000 words, finds the phrases that rules.txt bans, also in strings
// outside of tests, and the words that it bans in identifiers. It prints a table with a row
// per area. It fails if an area in enforcing mode exceeds a limit or contains a banned
// phrase or name that exceptions.txt does not allow there.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	verbose := flag.Bool("v", false, "print every match, also those in areas that are only reported")
	flag.Parse()
	ok, err := run(*root, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// run checks a repository and reports whether every enforcing area passes.
func run(root string, verbose bool) (bool, error) {
	dir := filepath.Join(root, "scripts", "words")
	rules, err := readRules(filepath.Join(dir, "rules.txt"))
	if err != nil {
		return false, err
	}
	exceptions, err := readExceptions(filepath.Join(dir, "exceptions.txt"))
	if err != nil {
		return false, err
	}
	counts, err := countFiles(root, rules, exceptions)
	if err != nil {
		return false, err
	}
	return report(os.Stdout, rules, counts, exceptions, verbose), nil
}
