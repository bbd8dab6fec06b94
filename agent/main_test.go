package agent_test

import (
	"os"
	"testing"

	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/indexed"
)

func TestMain(m *testing.M) { os.Exit(indexed.Main(m)) }
