import * as vscode from 'vscode';

import type {
  EditorCodeAction,
  EditorDiagnostic,
  EditorLocation,
  EditorPosition,
  EditorRange,
  EditorSymbol,
  EditorTextEdit,
  EditorWorkspaceEdit,
} from '../wire.gen';

// The values of VS Code in the form of the protocol. Its kinds and severities count from 0, those of the protocol from 1.

const positionOf = ({ line, character }: vscode.Position): EditorPosition => ({ line, character });

export const rangeOf = ({ start, end }: vscode.Range): EditorRange => ({
  start: positionOf(start),
  end: positionOf(end),
});

export function diagnosticOf({ range, message, severity, source, code }: vscode.Diagnostic): EditorDiagnostic {
  const id = typeof code === 'object' ? code.value : code;
  return {
    range: rangeOf(range),
    severity: severity + 1,
    message,
    ...(source === undefined ? {} : { source }),
    ...(id === undefined ? {} : { code: id }),
  };
}

export function locationOf(found: vscode.Location | vscode.LocationLink): EditorLocation {
  return 'targetUri' in found
    ? { uri: found.targetUri.toString(), range: rangeOf(found.targetSelectionRange ?? found.targetRange) }
    : { uri: found.uri.toString(), range: rangeOf(found.range) };
}

export function symbolOf(found: vscode.DocumentSymbol | vscode.SymbolInformation): EditorSymbol {
  const kind = found.kind + 1;
  if ('children' in found) {
    return {
      name: found.name,
      kind,
      range: rangeOf(found.range),
      selectionRange: rangeOf(found.selectionRange),
      children: found.children.map(symbolOf),
    };
  }
  return {
    name: found.name,
    kind,
    location: locationOf(found.location),
    ...(found.containerName ? { containerName: found.containerName } : {}),
  };
}

const editOf = ({ range, newText }: vscode.TextEdit): EditorTextEdit => ({ range: rangeOf(range), newText });

/** Returns an edit. One that also makes, moves or removes files says so, because the server refuses it. */
export function workspaceEditOf(edit: vscode.WorkspaceEdit): EditorWorkspaceEdit {
  const entries = edit.entries();
  const changes = entries.map(([uri, edits]) => ({
    textDocument: { uri: uri.toString() },
    edits: edits.map(editOf),
  }));
  return {
    documentChanges:
      edit.size === entries.length ? changes : [...changes, { textDocument: { uri: '' }, edits: [], kind: 'file' }],
  };
}

export function codeActionOf(found: vscode.CodeAction | vscode.Command): EditorCodeAction {
  if (typeof found.command === 'string') {
    return { title: found.title };
  }
  const { title, kind, edit, disabled } = found as vscode.CodeAction;
  return {
    title,
    ...(kind ? { kind: kind.value } : {}),
    // The server cannot run the command that belongs to an edit, and applies none without it.
    ...(edit && edit.size > 0 && !found.command ? { edit: workspaceEditOf(edit) } : {}),
    ...(disabled ? { disabled: disabled.reason } : {}),
  };
}

/** Returns the text of hovers. */
export function hoverText(found: readonly vscode.Hover[]): string {
  const text = (part: vscode.MarkdownString | vscode.MarkedString): string =>
    typeof part === 'string' ? part : 'language' in part ? `\`\`\`${part.language}\n${part.value}\n\`\`\`` : part.value;
  return found
    .flatMap(({ contents }) => contents.map(text))
    .filter((part) => part.trim() !== '')
    .join('\n\n');
}
