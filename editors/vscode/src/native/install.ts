import * as vscode from 'vscode';

import type { Server } from '../server/server';
import { showReport } from './reports';
import type { Host } from '../host';

const t = vscode.l10n.t;

const command = 'go install github.com/xcsh-ls/xcsh-ls/cmd/xcsh-ls@latest';

/** Shows how to get the server, and what was found so far. */
export async function showInstallHelp(host: Host, server: Server): Promise<void> {
  const located = server.locate();
  const found =
    located.kind === 'found'
      ? t('The extension uses `{0}`.', located.path)
      : located.kind === 'wrongSetting'
        ? t('The setting `xcshLs.server.path` names `{0}`, which cannot be run.', located.path)
        : t('There is none in the extension and none on `PATH`.');
  const text = [
    `# ${t('The server xcsh-ls')}`,
    '',
    t('Sessions are read and written by a program of its own, `xcsh-ls`, that runs beside the editor.'),
    '',
    found,
    '',
    `## ${t('Install it')}`,
    '',
    t('With Go 1.26 or newer:'),
    '',
    '```sh',
    command,
    '```',
    '',
    t('or, in a clone of the project, `make build`, which writes `bin/xcsh-ls`.'),
    '',
    t(
      'Where `go install` puts programs is looked at, too. For any other place set `xcshLs.server.path` to the absolute path of the program.',
    ),
    '',
    t('Then run the command *xcsh: Restart Server*.'),
    '',
  ].join('\n');
  await showReport(host, t('Install xcsh-ls'), text);
}
