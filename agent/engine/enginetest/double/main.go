// Command double behaves like pi in RPC mode, for tests of editors. See the package enginetest.
package main

import (
	"os"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
)

func main() { os.Exit(enginetest.RunPi(os.Args[1:])) }
