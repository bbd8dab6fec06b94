package acp

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
)

// TestDocsNameEverything requires that docs/acp.md is complete.
func TestDocsNameEverything(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/acp.md")
	require.NoError(t, err)
	for method := range handlers {
		assert.Contains(t, string(text), "`"+method+"`")
	}
	for _, name := range []string{
		methodInitialize, methodCancel, methodCancelCall, methodPermission, methodReadFile, methodWriteFile,
		updateUserChunk, updateAgentChunk, updateThoughtChunk, updateToolCall, updateToolProgress, updatePlan, updateCommands, updateMode,
		updateOptions, updateInfo, updateUsage, updateNotice, updateCompaction,
		optionMode, optionModel, optionThinking, stopEnd, stopLength, stopLimit, stopRefusal, stopCancelled,
	} {
		assert.Contains(t, string(text), "`"+name+"`")
	}
	for _, s := range commands.Slashes() {
		assert.Contains(t, string(text), "`/"+s.Name)
	}
}
