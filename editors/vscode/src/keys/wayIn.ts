import * as vscode from 'vscode';

import { looksOf, reasonOf, waysOf, type Way } from '../chat/ways';
import { pickModel } from '../palette/choices';
import type { ServerError } from '../server/errors';
import type { Window } from '../window';
import { addKey, useProvider } from './enter';

const t = vscode.l10n.t;

type WayItem = vscode.QuickPickItem & { way?: Way | 'moreKeys' | 'models' };

/**
 * Offers the ways to get an answer after a prompt was refused for want of a model. Returns false if it was refused
 * for another reason, or the user cancels.
 */
export async function offerWays(window: Window, cwd: string, error: ServerError): Promise<boolean> {
  if (reasonOf(error) === undefined || !vscode.workspace.isTrusted) {
    return false;
  }
  const picked = await vscode.window.showQuickPick(wayItems(window, cwd, error.text('provider') ?? ''), {
    title: error.message,
    placeHolder: t('Select what answers your prompt'),
    ignoreFocusOut: true,
  });
  return picked?.way !== undefined && take(window, cwd, picked.way);
}

async function wayItems(window: Window, cwd: string, wanted: string): Promise<WayItem[]> {
  const [providers, engines] = await Promise.all([
    window.request('xcsh.providers', { cwd }),
    window.request('xcsh.engines', { cwd }).catch(() => undefined),
  ]);
  const ways = waysOf(providers, engines, wanted);
  const demo = ways.filter((way) => way.kind === 'demo');
  return [
    ...ways.filter((way) => way.kind !== 'demo').map(item),
    { label: `$(key) ${t('Other services…')}`, way: 'moreKeys' },
    { label: `$(list-unordered) ${t('Choose another model…')}`, way: 'models' },
    ...demo.map(item),
  ];
}

function item(way: Way): WayItem {
  const { icon, label, about } = looksOf(way, t);
  return { label: `$(${icon}) ${name(label)}`, description: about, way };
}

/** VS Code replaces $(name) by an icon in labels. */
const name = (text: string): string => text.replaceAll('$(', '$ (');

/** Takes a way. Returns whether a model or an engine can answer now. */
async function take(window: Window, cwd: string, way: Way | 'moreKeys' | 'models'): Promise<boolean> {
  if (way === 'moreKeys') {
    return addKey(window, cwd);
  }
  if (way === 'models') {
    return setModel(window, cwd, await pickModel(window, cwd));
  }
  switch (way.kind) {
    case 'engine':
      await window.request('xcsh.setEngine', { cwd, engine: way.engine });
      return true;
    case 'key':
      return addKey(window, cwd, way.provider);
    case 'demo':
      return setModel(window, cwd, way.model);
    case 'local':
    case 'ready':
      await useProvider(window, cwd, way.provider);
      return (await window.request('xcsh.state', { cwd })).ready?.ok !== false;
  }
}

async function setModel(window: Window, cwd: string, model: string | undefined): Promise<boolean> {
  if (model !== undefined) {
    await window.request('xcsh.setModel', { cwd, model });
  }
  return model !== undefined;
}
