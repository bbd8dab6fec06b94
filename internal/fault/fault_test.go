package fault_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Proves: F-37
func TestMessagesAreOneLineOfText(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		`plain "quoted" 'é😀'`: `plain "quoted" 'é😀'`,
		"two\nlines\r\t":      `two\nlines\r\t`,
		"\x1b[31mred\x7f":     `\u001b[31mred\u007f`,
		"\u0085\u009b":        `\u0085\u009b`,
		"no \xff\xfe text":    `no \xff\xfe text`,
		"\uFFFD itself":       "\uFFFD itself",
	} {
		require.Equal(t, want, fault.OneLine(name))
		require.Equal(t, "Not found: "+want, fault.New(fault.NotFound, "Not found: %s", name).Error())
	}
}
