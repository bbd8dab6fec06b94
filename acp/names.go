package acp

import (
	"bufio"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
)

// ProtocolVersion is the supported version of the protocol.
const ProtocolVersion = wire.ProtocolVersion

// The methods, updates, states and reasons of the protocol.
const (
	methodInitialize   = wire.MethodInitialize
	methodAuthenticate = wire.MethodAuthenticate
	methodNew          = wire.MethodNew
	methodLoad         = wire.MethodLoad
	methodResume       = wire.MethodResume
	methodFork         = wire.MethodFork
	methodList         = wire.MethodList
	methodDelete       = wire.MethodDelete
	methodClose        = wire.MethodClose
	methodPrompt       = wire.MethodPrompt
	methodSetMode      = wire.MethodSetMode
	methodSetOption    = wire.MethodSetOption
	methodCancel       = wire.MethodCancel
	methodCancelCall   = wire.MethodCancelCall
	methodUpdate       = wire.MethodUpdate
	methodPermission   = wire.MethodPermission
	methodReadFile     = wire.MethodReadFile
	methodWriteFile    = wire.MethodWriteFile

	stopEnd       = wire.StopEnd
	stopLength    = wire.StopLength
	stopLimit     = wire.StopLimit
	stopRefusal   = wire.StopRefusal
	stopCancelled = wire.StopCancelled

	updateUserChunk    = wire.UpdateUserChunk
	updateAgentChunk   = wire.UpdateAgentChunk
	updateThoughtChunk = wire.UpdateThoughtChunk
	updateToolCall     = wire.UpdateToolCall
	updateToolProgress = wire.UpdateToolProgress
	updatePlan         = wire.UpdatePlan
	updateCommands     = wire.UpdateCommands
	updateMode         = wire.UpdateMode
	updateOptions      = wire.UpdateOptions
	updateInfo         = wire.UpdateInfo
	updateUsage        = wire.UpdateUsage
	updateNotice       = wire.UpdateNotice
	updateCompaction   = wire.UpdateCompaction

	statusPending   = wire.StatusPending
	statusRunning   = wire.StatusRunning
	statusCompleted = wire.StatusCompleted
	statusFailed    = wire.StatusFailed

	codeParse          = wire.CodeParse
	codeInvalidRequest = wire.CodeInvalidRequest
	codeNoMethod       = wire.CodeNoMethod
	codeInvalidParams  = wire.CodeInvalidParams
	codeInternal       = wire.CodeInternal
	codeCancelled      = wire.CodeCancelled
	codeAuthRequired   = wire.CodeAuthRequired
	codeNotFound       = wire.CodeNotFound

	maxLine = wire.MaxLine
)

// errTooLong means that a line was skipped because it was too long.
var errTooLong = wire.ErrTooLong

// The messages of the protocol.
type (
	envelope  = wire.Envelope
	outgoing  = wire.Outgoing
	wireError = wire.Error

	initializeParams   = wire.InitializeParams
	implementation     = wire.Implementation
	promptCapabilities = wire.PromptCapabilities
	mcpCapabilities    = wire.MCPCapabilities
	openParams         = wire.OpenParams
	modeState          = wire.ModeState
	mode               = wire.Mode
	configOption       = wire.ConfigOption
	configChoice       = wire.ConfigChoice
	sessionParams      = wire.SessionParams
	setModeParams      = wire.SetModeParams
	setOptionParams    = wire.SetOptionParams
	promptParams       = wire.PromptParams
	promptResult       = wire.PromptResult
	contentBlock       = wire.ContentBlock
	resource           = wire.Resource
	toolUpdate         = wire.ToolUpdate
	toolContent        = wire.ToolContent
	location           = wire.Location
	planEntry          = wire.PlanEntry
	availableCommand   = wire.AvailableCommand
	commandInput       = wire.CommandInput
	permissionParams   = wire.PermissionParams
	permissionOption   = wire.PermissionOption
	permissionResult   = wire.PermissionResult
	readFileParams     = wire.ReadFileParams
	readFileResult     = wire.ReadFileResult
	writeFileParams    = wire.WriteFileParams
)

func textBlock(s string) contentBlock { return wire.TextBlock(s) }

func readLine(r *bufio.Reader, limit int) ([]byte, error) { return wire.ReadLine(r, limit) }

func parse(line []byte) (m envelope, id json.RawMessage, err *wireError) { return wire.Parse(line) }

func isID(v json.RawMessage) bool { return wire.IsID(v) }

func encode(m any) ([]byte, error) { return wire.Encode(m) }

// refusal returns a protocol error.
func refusal(code int, kind, format string, args ...any) *wireError {
	return wire.Refusal(code, kind, format, args...)
}
