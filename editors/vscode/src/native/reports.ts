import * as vscode from 'vscode';

import type { Host } from '../host';

/** The scheme of documents that show the result of a command. */
export const reportScheme = 'xcshls-report';

/** The number of reports that are kept, so that hidden tabs can be shown again. */
const maxReports = 20;

/** The texts of report documents, by the path of their URI. */
const texts = new Map<string, string>();
let serial = 0;

export function registerReports(): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(reportScheme, {
    provideTextDocumentContent: (uri) => texts.get(uri.query) ?? '',
  });
}

/** Shows a rendered Markdown text, which can be closed without a prompt to save. */
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
    // The built-in Markdown extension can be disabled.
    host.output.info(`no preview: ${String(error)}`);
    await vscode.window.showTextDocument(uri, { preview: true });
  }
}
