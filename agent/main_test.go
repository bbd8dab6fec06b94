package agent_test

import (
	"os"
	"testing"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/indexed"
)

func TestMain(m *testing.M) {
	enginetest.Main()
	os.Exit(indexed.Main(m))
}
