package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// Logged text can neither control a terminal nor add lines to the log.
func TestLogEscapesControlCharacters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	log, err := openLog(flags{logFile: path, logLevel: "info"})
	require.NoError(t, err)
	const hostile = "\x1b]52;c;x\a \u009b2J \u202e \U000e0041 \x7f\n2026-01-01 forged"
	log.Named(hostile).With(zap.String("with", hostile)).Info(hostile, zap.String("field", hostile), zap.Error(errors.New(hostile)))
	require.NoError(t, log.Sync())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, visible.Text(string(text)), string(text))
	require.Equal(t, 1, strings.Count(string(text), "\n"), "%s", text)
	require.Contains(t, string(text), `\u001b]52;c;x`)
	require.Contains(t, string(text), `\u202e`)
}
