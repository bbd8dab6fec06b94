import * as vscode from 'vscode';

import { ownName } from '../palette/enginePick';
import { engineLabel } from '../palette/engineRows';
import type { Window } from '../window';
import type { LiveStates } from './live';
import type { Terminals } from './terminal';

const t = vscode.l10n.t;

interface MenuItem extends vscode.QuickPickItem {
  readonly command?: string;
}

/** Shows the actions for the folder's session. The status bar opens this menu. */
export async function showMenu(window: Window, states: LiveStates, terminals: Terminals): Promise<void> {
  const folder = window.liveFolder;
  const state = folder && states.of(folder.cwd);
  const trusted = vscode.workspace.isTrusted;
  const item = (icon: string, label: string, command: string, description = ''): MenuItem => ({
    label: `$(${icon}) ${label}`,
    description,
    command,
  });
  const separator = (label: string): MenuItem => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const items: MenuItem[] = [];
  if (state?.isStreaming || state?.isCompacting) {
    items.push(item('debug-stop', t('Stop'), 'xcsh.abort'));
  }
  if (trusted) {
    items.push(item('debug-continue', t('Resume Session…'), 'xcsh.resume'), item('add', t('New Session'), 'xcsh.new'));
  }
  if (state && trusted) {
    items.push(
      separator(t('This session')),
      item('repo-forked', t('Fork'), 'xcsh.fork'),
      item('history', t('Go to Message…'), 'xcsh.branch'),
      item('edit', t('Rename…'), 'xcsh.rename', state.title),
      item(
        'hubot',
        t('Model…'),
        'xcsh.setModel',
        state.model ? `${state.model.provider}/${state.model.id}` : t('none'),
      ),
      item('server-environment', t('Engine…'), 'xcsh.setEngine', engineLabel(state.engine, ownName)),
      item('lightbulb', t('Thinking Level…'), 'xcsh.setThinking', state.thinkingLevel),
      item('shield', t('Permissions…'), 'xcsh.setApproval'),
    );
  }
  if (state) {
    items.push(
      separator(t('Export')),
      item('open-preview', t('Transcript'), 'xcsh.transcript'),
      item('export', t('Export…'), 'xcsh.export'),
      item('clippy', t('Dump as Text'), 'xcsh.dump'),
      item('graph', t('Statistics'), 'xcsh.stats'),
    );
    if (trusted && terminals.program()) {
      items.push(item('terminal', t('Continue in Terminal'), 'xcshLs.terminal.continue'));
    }
  }
  items.push(
    separator(t('Server')),
    item('output', t('Show Log'), 'xcshLs.output.show'),
    item(
      'refresh',
      t('Restart Server'),
      'xcshLs.server.restart',
      window.status.kind === 'running' ? window.status.version : '',
    ),
  );
  const picked = await vscode.window.showQuickPick(items, { placeHolder: state?.title ?? t('Session') });
  if (picked?.command) {
    const about = picked.command.startsWith('xcsh.') && folder ? [{ cwd: folder.cwd }] : [];
    await vscode.commands.executeCommand(picked.command, ...about);
  }
}
