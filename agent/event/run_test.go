package event_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
)

func TestTheTextOfARetry(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]event.RetryStart{
		"Retrying in 3 s (1 of 6): it is overloaded": {Attempt: 1, MaxAttempts: 6, DelayMs: 2001, ErrorMessage: "it is overloaded"},
		"Retrying (2 of 3): it failed":               {Attempt: 2, MaxAttempts: 3, ErrorMessage: "it failed"},
		"Retrying in 1 s (1 of 1)":                   {Attempt: 1, MaxAttempts: 1, DelayMs: 1},
		`Retrying (1 of 1): \u001b[2J\r\n!`:          {Attempt: 1, MaxAttempts: 1, ErrorMessage: "\x1b[2J\r\n!"},
	} {
		require.Equal(t, want, e.Text())
	}
}
