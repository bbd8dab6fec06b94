//go:build peers && unix

package differential

import (
	"testing"

	"github.com/xcsh-ls/xcsh-ls/internal/mcptest"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	pgtest.Main(m)
}
