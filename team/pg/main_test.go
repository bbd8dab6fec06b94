package pg_test

import (
	"testing"
	"time"

	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	waitTime = 30 * time.Second
	pollTime = 10 * time.Millisecond
)
