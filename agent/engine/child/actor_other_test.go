//go:build !unix

package child_test

func actOnSystem(name, arg string) { panic("unknown: " + name + " " + arg) }
