package main_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxSessionFiles bounds the package that every other session package imports. In a larger one, readers
// no longer find the format. Two of the files are about sessions that another program writes: lent ones, and forks in
// its form. One finds the messages before a context, and needs the rules of contexts.
const maxSessionFiles = 73

// maxExports bounds the exported identifiers of the packages that session was divided into. Undivided
// it had 325, so that more would mean that the boundaries are in the wrong places: an
// identifier that only one other package uses is often a sign that code belongs there. Since then, lending a session to
// the program that writes it has added thirteen, such as [session.Lent] with its methods, and pages of the messages before
// a context two. Records of an invoked skill and of activated tools have a draft each, and the transcripts
// and outputs of sub-agents have seven identifiers. An entry at another leaf has one; records of changes
// that wait while a file is lent, and the contents that a fork shares, have seven. Lists of
// a team's store have five: their columns, and how the text, the title and the cost of a line become them. The start of
// a process, by which the prompt history recognizes its own ones, has one. The reasons why a session is lost, which the
// shell words, are three.
const maxExports = 372

// divided are the packages that session was divided into.
var divided = []string{
	"session", "session/artifact", "session/importer", "session/internal/disk", "session/library", "session/lock", "session/upkeep",
}

func TestSessionStaysSmallAndItsPackagesFormNoCycle(t *testing.T) {
	t.Parallel()
	packages := goList(t, "./session/...")
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "package\tfiles\tlines\texports\t")
	total, found := 0, 0
	for _, p := range packages {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		files, lines, exports := measure(t, filepath.Join("../..", name))
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t\n", name, files, lines, exports)
		if name == "session" {
			assert.LessOrEqual(t, files, maxSessionFiles, "move what has a topic of its own into a package beside it")
		}
		if slices.Contains(divided, name) {
			found++
			total += exports
		}
	}
	fmt.Fprintf(w, "the divided ones\t\t\t%d\t\n", total)
	require.NoError(t, w.Flush())
	t.Logf("\n%s", table.String())
	assert.Empty(t, cycle(packages))
	assert.Len(t, divided, found, "a package was renamed")
	assert.LessOrEqual(t, total, maxExports, "unexport what no other package uses; tests reach it through export_test.go")
}

// measure counts the source files of a directory without its tests, their lines, and the
// exported identifiers: declarations, and methods of exported types. One that several systems
// declare counts once.
func measure(t *testing.T, dir string) (files, lines, exports int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	names := map[string]bool{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		files++
		lines += bytes.Count(text, []byte{'\n'})
		for _, d := range f.Decls {
			for _, name := range exportsOf(d) {
				names[name] = true
			}
		}
	}
	return files, lines, len(names)
}

func exportsOf(d ast.Decl) (names []string) {
	add := func(of string, idents ...*ast.Ident) {
		for _, i := range idents {
			if i.IsExported() {
				names = append(names, of+i.Name)
			}
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add("", d.Name)
		} else if of := strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*"); ast.IsExported(of) {
			add(of+".", d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				add("", s.Name)
			case *ast.ValueSpec:
				add("", s.Names...)
			}
		}
	}
	return names
}

// cycle returns the packages that cannot be ordered so that each follows its imports.
func cycle(packages []listed) []string {
	rest := map[string][]string{}
	for _, p := range packages {
		rest[p.ImportPath] = p.Imports
	}
	for {
		before := len(rest)
		for path, imports := range rest {
			if !slices.ContainsFunc(imports, func(i string) bool { _, ok := rest[i]; return ok }) {
				delete(rest, path)
			}
		}
		if len(rest) == before {
			break
		}
	}
	var left []string
	for path := range rest {
		left = append(left, path)
	}
	slices.Sort(left)
	return left
}
