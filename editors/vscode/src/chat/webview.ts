import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

import { applyCode, insertCode } from './applyCode';
import { openChange } from './changes';
import { openFile } from './files';
import { pageHtml } from './html';
import { mentionedFiles } from './mentioned';
import type { FromPage } from './messages';

/** Loads the page into a webview. */
export function loadPage(webview: vscode.Webview, extensionUri: vscode.Uri): void {
  const media = vscode.Uri.joinPath(extensionUri, 'media');
  webview.options = { enableScripts: true, localResourceRoots: [media] };
  webview.html = pageHtml({
    script: webview.asWebviewUri(vscode.Uri.joinPath(media, 'chat.js')).toString(),
    style: webview.asWebviewUri(vscode.Uri.joinPath(media, 'chat.css')).toString(),
    source: webview.cspSource,
    nonce: randomBytes(18).toString('base64'),
    language: vscode.env.language,
  });
}

/** The actions of a page that need only a directory. */
export type Opening = Extract<
  FromPage,
  { kind: 'openFile' | 'openLink' | 'openDiff' | 'copy' | 'insertCode' | 'applyCode' }
>;

/** Opens the link, file or change that the user clicked in a message, or takes a text or code from it. */
export async function openedOf(m: Opening, cwd: string): Promise<void> {
  switch (m.kind) {
    case 'openFile':
      return openFile(cwd, m.path, m);
    case 'openLink': {
      const url = vscode.Uri.parse(m.url, true);
      if (url.scheme === 'https' || url.scheme === 'http') {
        await vscode.env.openExternal(url);
      }
      return;
    }
    case 'openDiff':
      return openChange(cwd, m.path, m.patch);
    case 'copy':
      return vscode.env.clipboard.writeText(m.text);
    case 'insertCode':
      return insertCode(m.code);
    case 'applyCode':
      return applyCode(cwd, m);
  }
}

/** Returns which of the paths that a text mentions are files of the workspace. */
export function mentioned(cwd: string, paths: readonly string[]): Promise<boolean[]> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const roots = folders.filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath);
  return mentionedFiles(cwd, roots, paths);
}
