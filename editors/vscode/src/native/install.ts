import * as vscode from 'vscode';

import type { Server } from '../server/server';
import { showReport } from './reports';
import type { Host } from '../host';

const t = vscode.l10n.t;

const command = 'go install github.com/xcsh-ls/xcsh-ls/cmd/xcsh-ls@latest';

/** Shows how to install the server, and the result of the search so far. */
export async function showInstallHelp(host: Host, server: Server): Promise<void> {
  const located = server.locate();
  const found =
    located.kind === 'found'
      ? t('The extension uses `{0}`.', located.path)
      : located.kind === 'wrongSetting'
        ? t('The setting `xcshLs.server.path` is `{0}`, which is not an executable file.', located.path)
        : t('The extension does not include a server for this platform, and there is none on `PATH`.');
  const text = [
    `# ${t('The xcsh-ls server')}`,
    '',
    t('The server, `xcsh-ls`, is a separate program that reads and writes sessions.'),
    '',
    found,
    '',
    `## ${t('Install the server')}`,
    '',
    t('With Go 1.26 or later:'),
    '',
    '```sh',
    command,
    '```',
    '',
    t('Or, in a clone of the repository, run `make build`, which writes `bin/xcsh-ls`.'),
    '',
    t(
      'The extension also looks in the directory that `go install` uses. For any other location, set `xcshLs.server.path` to the absolute path of the program.',
    ),
    '',
    t('Then run the command *xcsh: Restart Server*.'),
    '',
  ].join('\n');
  await showReport(host, t('Install xcsh-ls'), text);
}
