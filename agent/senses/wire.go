package senses

import "encoding/json"

// Position is a place in a text, as in LSP.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is a part of a text. End is exclusive.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Location is a part of a file.
type Location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

// Diagnostic is a problem that a language server reports.
type Diagnostic struct {
	Range    Range  `json:"range"`
	Severity int    `json:"severity,omitempty"` // 1 error, 2 warning, 3 information, 4 hint
	Code     any    `json:"code,omitempty"`     // a text or a number
	Source   string `json:"source,omitempty"`
	Message  string `json:"message"`
}

// DiagnosticsParams are the parameters of xcsh/editor/diagnostics.
type DiagnosticsParams struct {
	URIs     []string `json:"uris,omitempty"` // none: all known files
	SettleMs int      `json:"settleMs"`       // how long the editor waits for language servers that are still working
}

// DiagnosticsResult is the answer to xcsh/editor/diagnostics.
type DiagnosticsResult struct {
	Documents []DocumentDiagnostics `json:"documents"`
}

// DocumentDiagnostics are the problems of one file. A file that cannot be opened is absent from an answer.
type DocumentDiagnostics struct {
	URI     string       `json:"uri"`
	Version int          `json:"version,omitempty"`
	Stale   bool         `json:"stale,omitempty"` // no language server has reported about this version
	Items   []Diagnostic `json:"items"`
}

// PlaceParams are the parameters of xcsh/editor/definition, typeDefinition, implementation, references and hover.
type PlaceParams struct {
	URI      string   `json:"uri"`
	Position Position `json:"position"`
}

// HoverResult is the answer to xcsh/editor/hover, or null.
type HoverResult struct {
	Kind  string `json:"kind"` // markdown or plaintext
	Value string `json:"value"`
}

// SymbolsParams are the parameters of xcsh/editor/symbols: a file, or a part of a name in all files.
type SymbolsParams struct {
	URI   string `json:"uri,omitempty"`
	Query string `json:"query,omitempty"`
}

// Symbol is a symbol of an answer to xcsh/editor/symbols: a DocumentSymbol, or with Location a SymbolInformation.
type Symbol struct {
	Name      string          `json:"name"`
	Kind      int             `json:"kind"`
	Range     *Range          `json:"range,omitempty"`
	Selection *Range          `json:"selectionRange,omitempty"`
	Children  json.RawMessage `json:"children,omitempty"` // symbols, which are read when needed
	Container string          `json:"containerName,omitempty"`
	Location  *Location       `json:"location,omitempty"`
}

// RenameParams are the parameters of xcsh/editor/rename. The editor applies nothing.
type RenameParams struct {
	URI      string   `json:"uri"`
	Position Position `json:"position"`
	NewName  string   `json:"newName"`
}

// TextEdit replaces a part of a text.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// DocumentEdit are the edits of one file. A member kind, as of the creation of a file, is refused.
type DocumentEdit struct {
	TextDocument DocumentID `json:"textDocument"`
	Edits        []TextEdit `json:"edits"`
	Kind         string     `json:"kind,omitempty"`
}

// DocumentID names a file and the version that its edits are for; 0 is any.
type DocumentID struct {
	URI     string `json:"uri"`
	Version int    `json:"version,omitempty"`
}

// WorkspaceEdit is the answer to xcsh/editor/rename, or null.
type WorkspaceEdit struct {
	Changes         map[string][]TextEdit `json:"changes,omitempty"`
	DocumentChanges []DocumentEdit        `json:"documentChanges,omitempty"`
}

// CodeActionsParams are the parameters of xcsh/editor/codeActions.
type CodeActionsParams struct {
	URI   string   `json:"uri"`
	Range Range    `json:"range"`
	Only  []string `json:"only,omitempty"`
}

// CodeAction is an element of the answer to xcsh/editor/codeActions.
type CodeAction struct {
	Title    string         `json:"title"`
	Kind     string         `json:"kind,omitempty"`
	Edit     *WorkspaceEdit `json:"edit,omitempty"` // absent if the action only runs a command of the editor
	Disabled string         `json:"disabled,omitempty"`
}

// FolderParams are the parameters of xcsh/editor/editors and xcsh/editor/selection.
type FolderParams struct {
	Cwd string `json:"cwd"` // only files of this folder count
}

// OpenEditor is an element of the answer to xcsh/editor/editors.
type OpenEditor struct {
	URI        string `json:"uri"`
	LanguageID string `json:"languageId,omitempty"`
	Active     bool   `json:"active,omitempty"`  // the user's cursor is in it
	Visible    bool   `json:"visible,omitempty"` // it is on the screen
	Dirty      bool   `json:"dirty,omitempty"`   // it has unsaved changes
}
