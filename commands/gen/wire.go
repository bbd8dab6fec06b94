package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/asking"
	"github.com/xcsh-ls/xcsh-ls/agent/background"
	shape "github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/senses"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

// method is a custom method and the types of its parameters and its result. result is nil for a notification.
type method struct {
	name           string
	params, result reflect.Type
}

// serverMethods are the methods beyond LSP that the server may send to a client.
var serverMethods = []method{
	{lsp.MethodEvent, reflect.TypeFor[lsp.EventParams](), nil},
	{lsp.MethodSessionChanged, reflect.TypeFor[lsp.SessionChangedParams](), nil},
	{lsp.MethodSessionState, reflect.TypeFor[lsp.SessionStateParams](), nil},
	{lsp.MethodSessionsChanged, reflect.TypeFor[lsp.SessionsChangedParams](), nil},
	{lsp.MethodModelsChanged, reflect.TypeFor[lsp.ModelsChangedParams](), nil},
	{lsp.MethodBeforeSwitch, reflect.TypeFor[lsp.BeforeSwitchParams](), reflect.TypeFor[lsp.BeforeResult]()},
	{lsp.MethodBeforeFork, reflect.TypeFor[lsp.BeforeForkParams](), reflect.TypeFor[lsp.BeforeResult]()},
	{lsp.MethodBeforeTree, reflect.TypeFor[lsp.BeforeTreeParams](), reflect.TypeFor[lsp.BeforeResult]()},
	{lsp.MethodBeforeCompact, reflect.TypeFor[lsp.BeforeCompactParams](), reflect.TypeFor[lsp.BeforeResult]()},
	{lsp.MethodBeforeRewind, reflect.TypeFor[lsp.BeforeRewindParams](), reflect.TypeFor[lsp.BeforeResult]()},
	{lsp.MethodSave, reflect.TypeFor[lsp.SaveParams](), reflect.TypeFor[lsp.SaveResult]()},
	{lsp.MethodContext, reflect.TypeFor[lsp.ContextParams](), reflect.TypeFor[commands.ContextPiece]()},
	{lsp.MethodEditor + senses.Diagnostics, reflect.TypeFor[senses.DiagnosticsParams](), reflect.TypeFor[senses.DiagnosticsResult]()},
	{lsp.MethodEditor + senses.Definition, reflect.TypeFor[senses.PlaceParams](), reflect.TypeFor[[]senses.Location]()},
	{lsp.MethodEditor + senses.TypeDefinition, reflect.TypeFor[senses.PlaceParams](), reflect.TypeFor[[]senses.Location]()},
	{lsp.MethodEditor + senses.Implementation, reflect.TypeFor[senses.PlaceParams](), reflect.TypeFor[[]senses.Location]()},
	{lsp.MethodEditor + senses.References, reflect.TypeFor[senses.PlaceParams](), reflect.TypeFor[[]senses.Location]()},
	{lsp.MethodEditor + senses.Hover, reflect.TypeFor[senses.PlaceParams](), reflect.TypeFor[senses.HoverResult]()},
	{lsp.MethodEditor + senses.Symbols, reflect.TypeFor[senses.SymbolsParams](), reflect.TypeFor[[]senses.Symbol]()},
	{lsp.MethodEditor + senses.Rename, reflect.TypeFor[senses.RenameParams](), reflect.TypeFor[senses.WorkspaceEdit]()},
	{lsp.MethodEditor + senses.CodeActions, reflect.TypeFor[senses.CodeActionsParams](), reflect.TypeFor[[]senses.CodeAction]()},
	{lsp.MethodEditor + senses.Editors, reflect.TypeFor[senses.FolderParams](), reflect.TypeFor[[]senses.OpenEditor]()},
	{lsp.MethodEditor + senses.Selection, reflect.TypeFor[senses.FolderParams](), reflect.TypeFor[senses.Location]()},
	{lsp.MethodApprove, reflect.TypeFor[lsp.ApproveParams](), reflect.TypeFor[lsp.ApproveResult]()},
	{lsp.MethodAsk, reflect.TypeFor[lsp.AskParams](), reflect.TypeFor[lsp.AskResult]()},
	{lsp.MethodKey, reflect.TypeFor[lsp.KeyParams](), reflect.TypeFor[lsp.KeyResult]()},
}

// clientMethods are the notifications beyond LSP that a client may send and that have no command.
var clientMethods = []method{
	{lsp.MethodKeysChanged, reflect.TypeFor[lsp.KeysChangedParams](), nil},
}

// wireNames maps the types whose Go name is unclear outside its package to their names on the wire.
var wireNames = map[reflect.Type]string{
	reflect.TypeFor[senses.Position]():            "EditorPosition",
	reflect.TypeFor[senses.Range]():               "EditorRange",
	reflect.TypeFor[senses.Location]():            "EditorLocation",
	reflect.TypeFor[senses.Diagnostic]():          "EditorDiagnostic",
	reflect.TypeFor[senses.DiagnosticsParams]():   "EditorDiagnosticsParams",
	reflect.TypeFor[senses.DiagnosticsResult]():   "EditorDiagnosticsResult",
	reflect.TypeFor[senses.DocumentDiagnostics](): "EditorDocumentDiagnostics",
	reflect.TypeFor[senses.PlaceParams]():         "EditorPlaceParams",
	reflect.TypeFor[senses.HoverResult]():         "EditorHover",
	reflect.TypeFor[senses.SymbolsParams]():       "EditorSymbolsParams",
	reflect.TypeFor[senses.Symbol]():              "EditorSymbol",
	reflect.TypeFor[senses.RenameParams]():        "EditorRenameParams",
	reflect.TypeFor[senses.TextEdit]():            "EditorTextEdit",
	reflect.TypeFor[senses.DocumentEdit]():        "EditorDocumentEdit",
	reflect.TypeFor[senses.DocumentID]():          "EditorDocumentId",
	reflect.TypeFor[senses.WorkspaceEdit]():       "EditorWorkspaceEdit",
	reflect.TypeFor[senses.CodeActionsParams]():   "EditorCodeActionsParams",
	reflect.TypeFor[senses.CodeAction]():          "EditorCodeAction",
	reflect.TypeFor[senses.FolderParams]():        "EditorFolderParams",
	reflect.TypeFor[senses.OpenEditor]():          "OpenEditor",
	reflect.TypeFor[setup.Server]():               "SetupServer",
	reflect.TypeFor[setup.Skill]():                "SetupSkill",
	reflect.TypeFor[setup.Template]():             "SetupTemplate",
	reflect.TypeFor[setup.File]():                 "SetupFile",
	reflect.TypeFor[setup.Rule]():                 "SetupRule",
	reflect.TypeFor[setup.Setting]():              "SetupSetting",
	reflect.TypeFor[setup.LeftOut]():              "SetupLeftOut",
	reflect.TypeFor[setup.Problem]():              "SetupProblem",
	reflect.TypeFor[setup.Extension]():            "SetupExtension",
	reflect.TypeFor[setup.Trust]():                "SetupTrust",
	reflect.TypeFor[setup.Resolved]():             "ResolvedSetup",
	reflect.TypeFor[library.Info]():               "SessionInfo",
	reflect.TypeFor[session.Context]():            "SessionContext",
	reflect.TypeFor[session.Usage]():              "SessionUsage",
	reflect.TypeFor[paging.Message]():             "SnapshotMessage",
	reflect.TypeFor[paging.More]():                "MoreMessages",
	reflect.TypeFor[paging.Hit]():                 "MessageHit",
	reflect.TypeFor[agent.State]():                "SessionState",
	reflect.TypeFor[agent.Stats]():                "SessionStats",
	reflect.TypeFor[provider.Ref]():               "ModelRef",
	reflect.TypeFor[provider.Cost]():              "ModelCost",
	reflect.TypeFor[provider.Usage]():             "TurnUsage",
	reflect.TypeFor[provider.Source]():            "ProviderItem",
	reflect.TypeFor[approval.Prompt]():            "ApprovalPrompt",
	reflect.TypeFor[engine.Status]():              "EngineStatus",
	reflect.TypeFor[engine.Can]():                 "EngineCan",
	reflect.TypeFor[engine.Command]():             "EngineCommand",
	reflect.TypeFor[background.Info]():            "BackgroundCommand",
	reflect.TypeFor[approval.Rule]():              "ApprovalRule",
	reflect.TypeFor[tool.Preview]():               "ToolPreview",
	reflect.TypeFor[provider.Block]():             "ContentBlock",
	reflect.TypeFor[event.Update]():               "AnswerUpdate",
	reflect.TypeFor[commands.Image]():             "PromptImage",
	reflect.TypeFor[commands.Folder]():            "FolderArgs",
	reflect.TypeFor[commands.Subject]():           "SubjectArgs",
	reflect.TypeFor[commands.Range]():             "AttachmentRange",
	reflect.TypeFor[commands.Position]():          "AttachmentPosition",
	reflect.TypeFor[commands.Summary]():           "ResumeSummary",
	reflect.TypeFor[lsp.ApproveResult]():          "ApproveAnswer",
	reflect.TypeFor[lsp.SaveResult]():             "SaveAnswer",
	reflect.TypeFor[setup.Command]():              "SetupCommand",
	reflect.TypeFor[setup.Brought]():              "SetupBrought",
	reflect.TypeFor[lsp.AskResult]():              "AskAnswers",
	reflect.TypeFor[asking.Answer]():              "AskAnswer",
	reflect.TypeFor[shape.File]():                 "ChangedFile",
	reflect.TypeFor[shape.Hunk]():                 "ChangedHunk",
	reflect.TypeFor[shape.Limit]():                "ChangesLimit",
	reflect.TypeFor[shape.Totals]():               "ChangesTotals",
	reflect.TypeFor[shape.Rewind]():               "PastRewind",
	reflect.TypeFor[shape.Range]():                "ChangedLines",
	reflect.TypeFor[shape.PlanPath]():             "RewindPath",
	reflect.TypeFor[shape.Head]():                 "RewindHead",
	reflect.TypeFor[shape.Changes]():              "ChangesResult",
	reflect.TypeFor[shape.Side]():                 "ChangeResult",
	reflect.TypeFor[shape.Kept]():                 "KeepResult",
}

// wireEnums are the string types with a fixed set of values.
var wireEnums = []struct {
	name   string
	of     reflect.Type
	values []string
}{
	{"ThinkingLevel", reflect.TypeFor[provider.Level](), texts(provider.Levels)},
	{"ApprovalMode", reflect.TypeFor[approval.Mode](), texts([]approval.Mode{approval.ReadOnly, approval.Ask, approval.AutoEdit, approval.Yolo})},
	{"ApprovalDecision", reflect.TypeFor[approval.Decision](), texts([]approval.Decision{approval.Once, approval.Session, approval.Workspace, approval.Deny, approval.SessionWider, approval.WorkspaceWider})},
	{"BranchChoice", reflect.TypeFor[agent.BranchChoice](), texts(agent.BranchChoices)},
	{"ErrorKind", reflect.TypeFor[fault.Kind](), texts([]fault.Kind{
		fault.InvalidArgument, fault.ArgumentNeeded, fault.NotFound, fault.Ambiguous, fault.OtherProject, fault.Damaged, fault.NewerVersion,
		fault.NotPersistent, fault.Busy, fault.Stale, fault.Conflict, fault.Denied, fault.IO, fault.NoSpace, fault.ReadOnly, fault.FileExists,
		fault.NameInUse, fault.OutsideRoot, fault.Provider, fault.Limit, fault.Cancelled, fault.TooLarge, fault.Offline, fault.Refused, fault.Internal,
	})},
	{"ProviderKind", reflect.TypeFor[provider.SourceKind](), texts([]provider.SourceKind{provider.LocalSource, provider.ServiceSource, provider.DemoSource})},
	{"KeySource", reflect.TypeFor[provider.KeySource](), texts([]provider.KeySource{
		provider.NoKey, provider.ClientKey, provider.AuthFileKey, provider.ModelsFileKey, provider.DatabaseKey, provider.EnvironmentKey,
	})},
	{"NotReadyReason", reflect.TypeFor[provider.Need](), texts([]provider.Need{provider.NeedsModel, provider.NeedsKey, provider.NeedsOtherModel})},
	{"InputKind", reflect.TypeFor[commands.Input](), texts([]commands.Input{
		commands.InputNone, commands.InputSession, commands.InputPath, commands.InputText, commands.InputEntry, commands.InputModel, commands.InputEngine,
		commands.InputProvider, commands.InputSecret,
	})},
}

func texts[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

// wireTypeScript renders the wire types as TypeScript types.
func wireTypeScript(t *commands.Table, _ []byte) ([]byte, error) {
	w := &wire{names: map[reflect.Type]string{}, taken: map[string]reflect.Type{}}
	for _, e := range wireEnums {
		w.names[e.of], w.taken[e.name] = e.name, e.of
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\n", notice)
	b.WriteString("/** The version of the custom methods that these types describe. */\n")
	fmt.Fprintf(&b, "export const wireVersion = %d;\n", lsp.WireVersion)
	for _, e := range wireEnums {
		fmt.Fprintf(&b, "\nexport type %s = %s;\n", e.name, union(e.values))
	}
	b.WriteString("\n" + storedMessage)
	b.WriteString("\n/** Every command: what it takes and what it answers. */\nexport interface CommandMap {\n")
	for _, s := range t.Specs() {
		fmt.Fprintf(&b, "  %s: { args: %s; result: %s };\n", singleQuoted(s.Name), w.name(s.Args), w.result(s.Result))
	}
	b.WriteString("}\n\nexport type CommandName = keyof CommandMap;\n")
	w.methods(&b)
	if err := w.events(&b); err != nil {
		return nil, err
	}
	w.name(reflect.TypeFor[provider.Message]())
	w.name(reflect.TypeFor[commands.ListPart]())
	if err := w.interfaces(&b); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

const storedMessage = `/**
 * A message as a session file has it, whichever program and version wrote it: of what
 * a Message has, everything but the role may be missing, and there may be more.
 */
export type StoredMessage = Partial<Omit<Message, 'role' | 'content'>> & {
  role: string;
  content?: string | ContentBlock[];
  [member: string]: unknown;
};
`

// methods writes the notifications and requests of the server as two maps.
func (w *wire) methods(b *strings.Builder) {
	b.WriteString("\n/** The server's notifications and their parameters. */\nexport interface NotificationMap {\n")
	for _, m := range serverMethods {
		if m.result == nil {
			fmt.Fprintf(b, "  %s: %s;\n", singleQuoted(m.name), w.name(m.params))
		}
	}
	b.WriteString("}\n\n/** The server's requests, which only a client gets that announces them. */\nexport interface RequestMap {\n")
	for _, m := range serverMethods {
		if m.result != nil {
			fmt.Fprintf(b, "  %s: { params: %s; result: %s | null };\n", singleQuoted(m.name), w.name(m.params), w.resultOf(m))
		}
	}
	b.WriteString("}\n\n/** The notifications of a client beside those that are commands, and their parameters. */\nexport interface ClientNotificationMap {\n")
	for _, m := range clientMethods {
		fmt.Fprintf(b, "  %s: %s;\n", singleQuoted(m.name), w.name(m.params))
	}
	b.WriteString("}\n")
}

// resultOf returns the TypeScript type of a method's result, which may be a list.
func (w *wire) resultOf(m method) string {
	if m.result.Kind() == reflect.Slice {
		return w.name(m.result.Elem()) + "[]"
	}
	return w.name(m.result)
}

// wire assigns names to the referenced types and writes each type once.
type wire struct {
	names map[reflect.Type]string
	taken map[string]reflect.Type
	order []reflect.Type // named types to write
}

// name returns the TypeScript name of a type and queues a structure to be written.
func (w *wire) name(t reflect.Type) string {
	if name, ok := w.names[t]; ok {
		return name
	}
	name := wireNames[t]
	if name == "" {
		name = t.Name()
	}
	if other, ok := w.taken[name]; ok {
		panic(fmt.Sprintf("gen: both %s and %s are called %s; give one a name in wireNames", other, t, name))
	}
	w.names[t], w.taken[name] = name, t
	w.order = append(w.order, t)
	return name
}

// result returns the TypeScript type of a command's result: a structure, or a list of structures.
func (w *wire) result(t reflect.Type) string {
	if t.Kind() == reflect.Slice {
		return w.name(t.Elem()) + "[]"
	}
	return w.name(t)
}

// interfaces writes every type that was named, and the types to which they refer.
func (w *wire) interfaces(b *strings.Builder) error {
	for i := 0; i < len(w.order); i++ {
		t := w.order[i]
		s, err := w.schema(t)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "\nexport interface %s {\n", w.names[t])
		for _, name := range s.PropertyOrder {
			p := s.Properties[name]
			optional := !slices.Contains(s.Required, name)
			if p.Description != "" {
				fmt.Fprintf(b, "  /** %s */\n", strings.ReplaceAll(p.Description, "*/", "* /"))
			}
			mark := ""
			if optional {
				mark = "?"
			}
			fmt.Fprintf(b, "  %s%s: %s;\n", name, mark, w.member(t, name, p, optional))
		}
		b.WriteString("}\n")
	}
	return nil
}

// wireMembers are the types of members whose Go type is only raw JSON.
var wireMembers = map[string]string{
	"EventParams.event":       "SessionEvent",
	"SnapshotMessage.message": "StoredMessage",
	"Snapshot.partial":        "StoredMessage",
	"PromptResult.message":    "StoredMessage",
	"SessionContext.messages": "StoredMessage[]",
	"Event.message":           "StoredMessage",
	"Event.toolResults":       "StoredMessage[]",
	"Event.approvals":         "ApprovalPrompt[]",
	"ContentBlock.arguments":  "Record<string, unknown>",
	"EditorSymbol.children":   "EditorSymbol[]",
}

// member returns the type of a member. An optional list may be absent, but not null.
func (w *wire) member(of reflect.Type, name string, s *jsonschema.Schema, optional bool) string {
	if fixed, ok := wireMembers[w.owner(of)+"."+name]; ok {
		return fixed
	}
	if optional && s.Items != nil {
		s.Types, s.Type = nil, "array"
	}
	return typeScriptNotation.typeOf(s)
}

// owner returns the name of a type in wireMembers. All events share one name, but for those whose message is a sentence.
func (w *wire) owner(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[event.EngineChanged](), reflect.TypeFor[event.QuestionAsked]():
		return t.Name()
	}
	if t.Implements(reflect.TypeFor[event.Event]()) {
		return "Event"
	}
	if name, ok := w.names[t]; ok {
		return name
	}
	return t.Name()
}

// schema returns the schema of a structure in which every other named type is a reference.
func (w *wire) schema(t reflect.Type) (*jsonschema.Schema, error) {
	refs := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage]():   {},
		reflect.TypeFor[commands.EntryRef](): {Types: []string{"string", "null"}},
	}
	w.references(t, refs)
	return jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: refs})
}

// references adds the types to which the fields of t refer. Embedded structures are part of t.
func (w *wire) references(t reflect.Type, refs map[reflect.Type]*jsonschema.Schema) {
	for f := range t.Fields() {
		of := f.Type
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice && of.Name() == "" || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case wireMembers[w.owner(t)+"."+key] != "":
			refs[of] = &jsonschema.Schema{}
		case key == "-" || !f.IsExported() && !f.Anonymous || refs[of] != nil:
		case f.Anonymous:
			w.references(of, refs)
		case w.names[of] != "" || of.Kind() == reflect.Struct && of.Name() != "" && of.PkgPath() != "time":
			refs[of] = &jsonschema.Schema{Ref: w.name(of)}
		}
	}
}

// union returns the type of these string literals.
func union(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = singleQuoted(v)
	}
	return strings.Join(quoted, " | ")
}
