package tool_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/xcsh-ls/xcsh-ls/agent/pdftext"
	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

// The test program is also the programs that the tools start.
const (
	pdfArg   = "tool-test-pdf"
	leashArg = "tool-test-leash"
)

func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != pdfArg && os.Args[1] != leashArg {
		os.Exit(m.Run())
	}
	code, err := 0, error(nil)
	if os.Args[1] == leashArg {
		code, err = procgroup.Leash(os.Args[2:], os.Stdin)
	} else {
		first, _ := strconv.Atoi(os.Args[2])
		count, _ := strconv.Atoi(os.Args[3])
		err = pdftext.Main(os.Stdin, os.Stdout, first, count)
	}
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		code = 70
	}
	os.Exit(code)
}
