package main

import (
	"go/ast"
	"slices"
	"strconv"
)

// outsideDirs are the packages whose Go tests may drive the whole program from outside. The servers of
// other packages' tests are parts with replaced neighbors.
var outsideDirs = []string{"attack", "cmd/xcsh-ls"}

// drivers are the calls that put a test outside of the program: a client of the whole server over its
// protocol, or a script of command lines.
var drivers = []string{"lsptest.Start", "lsptest.StartOver", "lsptest.StartProcess", "lsptest.RunConversation", "testscript.Run"}

// outsideTests returns the functions of a package's tests that drive the program from outside, directly or
// through other functions of the package. A method counts by its name, whatever its type.
func outsideTests(dir string, files []*ast.File) map[string]bool {
	found := map[string]bool{}
	if !slices.Contains(outsideDirs, dir) {
		return found
	}
	calls := map[string][]string{} // by function; a method is ".name"
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil {
				name = "." + name
			}
			calls[name] = append(calls[name], callsOf(f.Body)...)
		}
	}
	for changed := true; changed; {
		changed = false
		for name, called := range calls {
			if !found[name] && slices.ContainsFunc(called, func(c string) bool { return c == "" || found[c] }) {
				found[name], changed = true, true
			}
		}
	}
	return found
}

// callsOf returns the names that a body calls; an empty one is a driver.
func callsOf(body ast.Node) (names []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch fun := call.Fun.(type) {
		case *ast.Ident:
			names = append(names, fun.Name)
		case *ast.SelectorExpr:
			name := "." + fun.Sel.Name
			if x, ok := fun.X.(*ast.Ident); ok {
				full := x.Name + name
				if slices.Contains(drivers, full) || startsProgram(full, call.Args) {
					name = ""
				}
			}
			names = append(names, name)
		}
		return true
	})
	return names
}

// startsProgram reports whether a call makes a command of the built program.
func startsProgram(name string, args []ast.Expr) bool {
	if name != "exec.CommandContext" && name != "exec.Command" {
		return false
	}
	return slices.ContainsFunc(args, func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.Ident:
			return e.Name == "program"
		case *ast.BasicLit:
			s, err := strconv.Unquote(e.Value)
			return err == nil && s == "xcsh-ls"
		}
		return false
	})
}
