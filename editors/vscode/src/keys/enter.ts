import * as vscode from 'vscode';

import { visible } from '../chat/visible';
import { pickModel } from '../palette/choices';
import { ServerError } from '../server/errors';
import type { ProviderItem, ProvidersResult } from '../wire.gen';
import type { Window } from '../window';
import { keyProblem } from './store';

const t = vscode.l10n.t;

/**
 * Asks for an API key and saves it where the user wants it. If the folder's session has no usable model, it gets the
 * default model of the provider. Returns false if the user cancels.
 */
export async function addKey(window: Window, cwd: string, provider?: string): Promise<boolean> {
  requireTrust();
  const known = await window.request('xcsh.providers', { cwd });
  const chosen = provider === undefined ? await pickProvider(known) : itemOf(known, provider);
  const key = chosen && (await askKey(chosen));
  if (!chosen || key === undefined) {
    return false;
  }
  switch (await askPlace(known.authFile)) {
    case undefined:
      return false;
    case 'secrets':
      await window.keys.set(chosen.id, key);
      break;
    case 'authFile':
      await window.request('xcsh.setKey', { cwd, provider: chosen.id, key });
  }
  await useProvider(window, cwd, chosen.id);
  return true;
}

/** Lets the user remove a key that was saved in VS Code or in auth.json. */
export async function removeKey(window: Window, cwd: string): Promise<void> {
  requireTrust();
  const { providers } = await window.request('xcsh.providers', { cwd });
  const saved = (providers ?? []).filter((p) => p.keySource === 'client' || p.keySource === 'authFile');
  if (saved.length === 0) {
    void vscode.window.showInformationMessage(t('No API key is saved in VS Code or in auth.json.'));
    return;
  }
  const picked = await vscode.window.showQuickPick(
    saved.map((provider) => ({
      label: plain(provider.name),
      description: provider.keySource === 'client' ? t('saved in VS Code') : t('saved in auth.json'),
      provider,
    })),
    { placeHolder: t('Select the API key to remove') },
  );
  if (!picked) {
    return;
  }
  const { id, keySource, name } = picked.provider;
  if (keySource === 'client') {
    await window.keys.remove(id);
  } else {
    await window.request('xcsh.setKey', { cwd, provider: id, remove: true });
  }
  vscode.window.setStatusBarMessage(`$(check) ${t('API key of {0} removed', plain(name))}`, 5000);
}

/** Gives the session the default model of a provider, unless it has a usable model. */
export async function useProvider(window: Window, cwd: string, provider: string): Promise<void> {
  const state = await window.request('xcsh.state', { cwd });
  if (state.model !== null && state.ready?.ok !== false) {
    return;
  }
  const known = await window.request('xcsh.providers', { cwd });
  const model = itemOf(known, provider)?.default || (await pickModel(window, cwd, provider));
  if (model) {
    await window.request('xcsh.setModel', { cwd, model });
  }
}

function requireTrust(): void {
  if (!vscode.workspace.isTrusted) {
    throw new ServerError(t('Restricted Mode: trust this folder to add or remove API keys.'), 'untrusted');
  }
}

const itemOf = ({ providers }: ProvidersResult, id: string): ProviderItem | undefined =>
  (providers ?? []).find((p) => p.id === id);

/** Lets the user select a service. Those that need a key come first. */
async function pickProvider({ providers }: ProvidersResult): Promise<ProviderItem | undefined> {
  const services = (providers ?? []).filter((p) => p.kind === 'service');
  const row = (provider: ProviderItem): vscode.QuickPickItem & { provider?: ProviderItem } => ({
    label: plain(provider.name),
    description: [provider.variable, provider.ready ? t('has a key') : ''].filter(Boolean).join(' · '),
    provider,
  });
  const rows = [...services.filter((p) => !p.ready), ...services.filter((p) => p.ready)].map(row);
  const picked = await vscode.window.showQuickPick(rows, {
    placeHolder: t('Select a service'),
    matchOnDescription: true,
  });
  return picked?.provider;
}

/** Asks for a key in a box that hides it. */
function askKey({ name, variable, keyPage }: ProviderItem): Promise<string | undefined> {
  const box = vscode.window.createInputBox();
  box.title = t('API Key for {0}', plain(name));
  box.prompt = variable
    ? t('The key stays hidden. Terminal programs read it from {0}.', variable)
    : t('The key stays hidden.');
  box.placeholder = t('Paste the key');
  box.password = true;
  box.ignoreFocusOut = true;
  const page = vscode.Uri.parse(keyPage);
  if (page.scheme === 'https') {
    box.buttons = [{ iconPath: new vscode.ThemeIcon('link-external'), tooltip: t('Get a key at {0}', page.authority) }];
  }
  return new Promise((resolve) => {
    box.onDidTriggerButton(() => void vscode.env.openExternal(page));
    box.onDidChangeValue(() => (box.validationMessage = ''));
    box.onDidAccept(() => {
      const key = box.value.trim();
      box.validationMessage = keyProblem(key, t);
      if (box.validationMessage === '') {
        resolve(key);
        box.hide();
      }
    });
    box.onDidHide(() => {
      resolve(undefined);
      box.dispose();
    });
    box.show();
  });
}

/** Asks where to save a key. */
async function askPlace(authFile: string): Promise<'secrets' | 'authFile' | undefined> {
  const places: (vscode.QuickPickItem & { place: 'secrets' | 'authFile' })[] = [
    {
      label: `$(lock) ${t('Save in VS Code')}`,
      detail: t('In the secret storage of the editor, only for this extension'),
      place: 'secrets',
    },
    {
      label: `$(terminal) ${t('Save in auth.json (shared with the terminal)')}`,
      detail: plain(authFile),
      place: 'authFile',
    },
  ];
  const picked = await vscode.window.showQuickPick(places, {
    placeHolder: t('Select where to save the key'),
    ignoreFocusOut: true,
  });
  return picked?.place;
}

/** Returns a name without characters that deceive; VS Code replaces $(name) by an icon in labels. */
const plain = (text: string): string => visible(text).replaceAll('$(', '$ (');
