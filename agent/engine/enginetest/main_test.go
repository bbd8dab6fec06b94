package enginetest_test

import (
	"os"
	"testing"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
)

func TestMain(m *testing.M) {
	enginetest.Main()
	os.Exit(m.Run())
}
