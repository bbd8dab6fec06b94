import * as vscode from 'vscode';

import { activateChanges } from './changes';
import { activateChat } from './chat';
import { Attention } from './native/attention';
import { showInstallHelp } from './native/install';
import { removeKey } from './keys/enter';
import { LiveStates } from './native/live';
import { showMenu } from './native/menu';
import { registerOffers } from './native/offers';
import { registerReports } from './native/reports';
import { Status } from './native/status';
import { continueLive, Terminals } from './native/terminal';
import { registerTerminalLinks } from './native/terminalLinks';
import { registerUriHandler } from './native/uri';
import { registerServerCommands } from './palette/runner';
import { Server } from './server/server';
import { registerSessionActions, resumeOr } from './sessions/actions';
import { SessionsView } from './sessions/view';
import { ownSettings } from './settings';
import { registerTeamActions } from './team/actions';
import { registerTeamBadges } from './team/items';
import { TeamStatusBar } from './team/light';
import { settings, Window } from './window';

let server: Server | undefined;

/** Connects the parts of the extension. Nothing here starts the server; the first operation that needs it does. */
export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel('xcsh', { log: true });
  const running = (server = new Server(context.extensionPath, output, settings));
  // The first listener: the requests of the others must reach the server after the notification.
  const trusted = vscode.workspace.onDidGrantWorkspaceTrust(
    () => void running.settingsChanged().then(() => running.keysChanged()),
  );
  const window = new Window(context, output, running);
  const states = new LiveStates(window);
  const terminals = new Terminals(window);
  const attention = new Attention(window, states);
  const view = new SessionsView(window, attention, terminals);
  context.subscriptions.push(
    output,
    trusted,
    window,
    states,
    terminals,
    attention,
    view,
    new Status(window, states),
    registerReports(),
    registerOffers(window),
    registerServerCommands(window),
    registerSessionActions(window, view, terminals),
    registerTeamActions(window, () => view.refresh()),
    registerTeamBadges(),
    new TeamStatusBar(window),
    registerTerminalLinks(window),
    registerUriHandler(window),
    activateChanges(window, () => ownSettings(settings).changeLenses),
    activateChat(window, context, {
      resume: (cwd, path) => resumeOr(window, cwd, path),
      terminals,
      opened: (id) => attention.read(id),
    }),
    ...ownCommands(window, running, states, terminals),
    vscode.workspace.onDidChangeConfiguration((event) => void settingsChanged(running, event)),
  );
}

/** Stops the server with the window. */
export async function deactivate(): Promise<void> {
  await server?.shutdown();
}

function ownCommands(window: Window, running: Server, states: LiveStates, terminals: Terminals): vscode.Disposable[] {
  const register = (name: string, run: () => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(`xcshLs.${name}`, run);
  return [
    register('menu', () => showMenu(window, states, terminals)),
    register('terminal.continue', () => continueLive(window, terminals)),
    register('server.restart', () => running.restart().catch((error) => window.showError(error))),
    register('server.stop', () => running.stop()),
    register('server.install', () => showInstallHelp(window, running)),
    register('output.show', () => window.output.show()),
    register('keys.remove', () => forgetKey(window)),
    register('walkthrough.open', () =>
      vscode.commands.executeCommand('workbench.action.openWalkthrough', `${window.context.extension.id}#xcshLs.start`),
    ),
  ];
}

/** Lets the user remove an API key. */
async function forgetKey(window: Window): Promise<void> {
  try {
    const folder = await window.chooseFolder();
    if (folder) {
      await removeKey(window, folder.cwd);
    }
  } catch (error) {
    await window.showError(error);
  }
}

/** A different program requires a restart; any other change is sent to the server. */
async function settingsChanged(running: Server, event: vscode.ConfigurationChangeEvent): Promise<void> {
  if (!event.affectsConfiguration('xcshLs')) {
    return;
  }
  const { kind } = running.status;
  if (event.affectsConfiguration('xcshLs.server') && kind !== 'stopped') {
    await running.restart().catch(() => undefined);
  } else {
    await running.settingsChanged();
  }
}
