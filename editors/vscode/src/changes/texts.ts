import * as path from 'node:path';
import * as vscode from 'vscode';

import type { Host } from '../host';
import type { CommandMap } from '../wire.gen';

/**
 * The scheme of the read-only texts of files without their changes, or before and after one. The server's scheme xcsh-change
 * can't be used: its URIs contain the hash of the content, but the gutter needs stable URIs.
 */
export const sideScheme = 'xcshls-side';

export type Side = 'base' | 'before' | 'after';

/** One side of a change. Its URI stays the same when the text changes. */
interface Place {
  readonly cwd: string;
  readonly path: string;
  readonly side: Side;
  readonly record?: string | undefined;
}

/** Returns the URI of one side of a file. */
export function sideUri({ cwd, path: file, side, record }: Place): vscode.Uri {
  const query = new URLSearchParams({ cwd, side, ...(record === undefined ? {} : { record }) }).toString();
  return vscode.Uri.file(file).with({ scheme: sideScheme, query });
}

/** Returns the URI of an empty text, for new and deleted files. */
export const nothingUri = (file: string): vscode.Uri =>
  vscode.Uri.from({ scheme: sideScheme, path: '/' + path.basename(file), query: 'side=none' });

function placeOf(uri: vscode.Uri): Place | undefined {
  const query = new URLSearchParams(uri.query);
  const [cwd, side, record] = [query.get('cwd'), query.get('side'), query.get('record')];
  if (cwd === null || (side !== 'base' && side !== 'before' && side !== 'after')) {
    return undefined;
  }
  return { cwd, path: uri.with({ scheme: 'file', query: '' }).fsPath, side, record: record ?? undefined };
}

/** Reads the texts from the server. */
export class SideTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #registered: vscode.Disposable;

  readonly onDidChange = this.#changed.event;

  constructor(private readonly host: Host) {
    // Register after onDidChange is set, because the editor subscribes to it here.
    this.#registered = vscode.workspace.registerTextDocumentContentProvider(sideScheme, this);
  }

  /** Rejects if the server returns an error: an empty text would look like a new file. */
  async provideTextDocumentContent(uri: vscode.Uri, token: vscode.CancellationToken): Promise<string> {
    const place = placeOf(uri);
    if (!place) {
      return '';
    }
    const args: CommandMap['xcsh.change']['args'] = { cwd: place.cwd, path: place.path, side: place.side };
    if (place.record !== undefined) {
      args.record = place.record;
    }
    const { text } = await this.host.request('xcsh.change', args, token);
    return text ?? '';
  }

  /** Reloads the open texts of a folder that depend on the present files. */
  refresh(cwd: string): void {
    for (const { uri } of vscode.workspace.textDocuments) {
      const place = uri.scheme === sideScheme ? placeOf(uri) : undefined;
      if (place?.cwd === cwd && place.side === 'base') {
        this.#changed.fire(uri);
      }
    }
  }

  dispose(): void {
    this.#registered.dispose();
    this.#changed.dispose();
  }
}
