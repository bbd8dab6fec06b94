package teamtest_test

import (
	"testing"
	"time"

	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

// memory is a world in memory.
type memory struct{ *teamtest.Server }

func (m memory) Member(_ testing.TB, user, team string, level int) {
	m.Server.Member(user, team, level)
}
func (m memory) Leave(_ testing.TB, user string)                  { m.Server.Leave(user) }
func (m memory) Advance(_ testing.TB, d time.Duration)            { m.Server.Advance(d) }
func (m memory) Connect(_ testing.TB, user string) teamtest.Login { return m.Server.Connect(user) }

func TestMemoryKeepsTheContract(t *testing.T) {
	t.Parallel()
	teamtest.Contract(t, memory{teamtest.NewServer()})
}
