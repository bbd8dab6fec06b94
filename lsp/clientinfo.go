package lsp

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/lsp/sessiondoc"
)

// clientInfo holds the properties of the client that the server uses, from initialize.
type clientInfo struct {
	name         string
	encodings    []string // general.positionEncodings
	showDocument bool     // window.showDocument.support
	progress     bool     // window.workDoneProgress: the server may begin progress

	configuration         bool // workspace.configuration: it may be asked for its settings
	registerConfiguration bool // workspace.didChangeConfiguration.dynamicRegistration

	applyEdit         bool // workspace.applyEdit
	documentChanges   bool // workspace.workspaceEdit.documentChanges
	changeAnnotations bool // workspace.workspaceEdit.changeAnnotationSupport

	sessionDocs         sessiondoc.Client
	codeActionLiterals  bool // textDocument.codeAction.codeActionLiteralSupport
	textDocumentContent bool // workspace.textDocumentContent
	refreshLenses       bool // workspace.codeLens.refreshSupport
}

// readClient reads the capabilities. Clients send null and (from Lua) [] instead of an object, so
// every value is looked up separately, and a value of the wrong type counts as absent.
func readClient(params map[string]json.RawMessage) clientInfo {
	caps := params["capabilities"]
	c := clientInfo{
		name:         valueAt[string](params["clientInfo"], "name"),
		showDocument: valueAt[bool](caps, "window", "showDocument", "support"),
		progress:     valueAt[bool](caps, "window", "workDoneProgress"),

		configuration:         valueAt[bool](caps, "workspace", "configuration"),
		registerConfiguration: valueAt[bool](caps, "workspace", "didChangeConfiguration", "dynamicRegistration"),

		applyEdit:         valueAt[bool](caps, "workspace", "applyEdit"),
		documentChanges:   valueAt[bool](caps, "workspace", "workspaceEdit", "documentChanges"),
		changeAnnotations: valueAt[map[string]json.RawMessage](caps, "workspace", "workspaceEdit", "changeAnnotationSupport") != nil,

		sessionDocs: sessiondoc.Client{
			HierarchicalSymbols: valueAt[bool](caps, "textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport"),
			FoldingLimit:        valueAt[int](caps, "textDocument", "foldingRange", "rangeLimit"),
			MarkdownHover:       slices.Contains(valueAt[[]string](caps, "textDocument", "hover", "contentFormat"), "markdown"),
		},
		codeActionLiterals:  valueAt[map[string]json.RawMessage](caps, "textDocument", "codeAction", "codeActionLiteralSupport") != nil,
		refreshLenses:       valueAt[bool](caps, "workspace", "codeLens", "refreshSupport"),
		textDocumentContent: valueAt[map[string]json.RawMessage](caps, "workspace", "textDocumentContent") != nil,
	}
	for _, raw := range valueAt[[]json.RawMessage](caps, "general", "positionEncodings") {
		c.encodings = append(c.encodings, valueAt[string](raw))
	}
	return c
}

// valueAt decodes the value at a path of object keys. It returns the zero value if there is no value
// of that type.
func valueAt[T any](raw json.RawMessage, path ...string) T {
	var zero T
	for _, key := range path {
		var object map[string]json.RawMessage
		if len(raw) == 0 || json.Unmarshal(raw, &object) != nil {
			return zero
		}
		raw = object[key]
	}
	var v T
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return zero
	}
	return v
}
