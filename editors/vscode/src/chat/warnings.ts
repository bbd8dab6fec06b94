import * as vscode from 'vscode';

import type { ApprovalRule } from '../wire.gen';

/** Optional members that the server can add to a permission request. */
export interface Extras {
  readonly outside?: readonly string[] | null;
  readonly protected?: readonly string[] | null;
  readonly unsandboxed?: boolean;
  readonly changed?: boolean;
  readonly tool?: string;
  readonly blocked?: readonly string[] | null;
  readonly rules?: readonly (ApprovalRule & { readonly text?: string })[] | null;
  readonly wider?: readonly (ApprovalRule & { readonly text?: string })[] | null;
}

const joined = (texts: readonly string[]): string => texts.join(', ');

/** Returns the warnings about a tool call, each as a sentence. */
export function warningsOf(request: Extras): string[] {
  const { outside, protected: paths, blocked } = request;
  const all: string[] = [];
  if (request.unsandboxed) {
    all.push(
      blocked?.length
        ? vscode.l10n.t('Runs once outside the sandbox. Blocked: {0}.', blocked.join(' | '))
        : vscode.l10n.t('Runs once outside the sandbox.'),
    );
  } else if (blocked?.length) {
    all.push(vscode.l10n.t('Runs again with write and network access. Blocked: {0}.', blocked.join(' | ')));
  }
  if (paths?.length) {
    const files = joined(paths);
    if (request.changed) {
      all.push(vscode.l10n.t('Changed protected files: {0}.', files));
    } else if (request.tool === 'bash') {
      all.push(vscode.l10n.t('Refers to protected files: {0}.', files));
    } else {
      all.push(vscode.l10n.t('Changes protected files: {0}.', files));
    }
  }
  if (outside?.length) {
    all.push(vscode.l10n.t('Outside the workspace folder: {0}.', joined(outside)));
  }
  return all;
}

/** Returns the scope of "Allow for This Session", "" if it covers only this call. */
export const scopeOf = (request: Extras): string => describe(request.rules);

/** Returns the calls that the wider answers allow, "" if there are no such answers. */
export const widerScopeOf = (request: Extras): string => describe(request.wider);

function describe(rules: Extras['rules']): string {
  return (rules ?? [])
    .map((r) => {
      if (r.text) return r.text;
      if (r.edit) return vscode.l10n.t('edits to files in this folder, except protected files');
      if (r.words?.length) return r.words.join(' ') + (r.exact ? '' : ' …');
      if (r.line) return r.line;
      return r.tool ? vscode.l10n.t('the {0} tool', r.tool) : '';
    })
    .filter(Boolean)
    .join('; ');
}
