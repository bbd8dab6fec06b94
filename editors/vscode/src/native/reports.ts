import * as vscode from 'vscode';

import type { Host } from '../host';

/** The scheme of documents that show the result of a command. */
export const reportScheme = 'xcshls-report';

/** How many reports are kept, so that their tabs survive being hidden. */
const maxReports = 20;

/** The texts of report documents, by the path of their address. */
const texts = new Map<string, string>();
let serial = 0;

export function registerReports(): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(reportScheme, {
    provideTextDocumentContent: (uri) => texts.get(uri.query) ?? '',
  });
}

/** Shows a Markdown text, rendered; nothing has to be saved when it is closed. */
export async function showReport(host: Pick<Host, 'output'>, title: string, markdown: string): Promise<void> {
  const key = String(++serial);
  texts.set(key, markdown);
  for (const old of texts.keys()) {
    if (texts.size <= maxReports) {
      break;
    }
    texts.delete(old);
  }
  const uri = vscode.Uri.from({ scheme: reportScheme, path: `/${title.replace(/[/\\]/g, ' ')}.md`, query: key });
  try {
    await vscode.commands.executeCommand('markdown.showPreview', uri);
  } catch (error) {
    // The built-in Markdown extension can be switched off.
    host.output.info(`no preview: ${String(error)}`);
    await vscode.window.showTextDocument(uri, { preview: true });
  }
}
