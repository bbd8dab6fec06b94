//go:build peers && unix

package differential

import (
	"os"
	"testing"

	"github.com/xcsh-ls/xcsh-ls/internal/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	os.Exit(m.Run())
}
