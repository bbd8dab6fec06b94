import * as os from 'node:os';
import * as vscode from 'vscode';

import { shortPath } from '../folders';
import type { Host } from '../host';
import type { PastPrompt } from '../wire.gen';
import { oneLine } from './items';
import { pickSearched } from './searchedPick';

const t = vscode.l10n.t;

/** How many prompts are shown; typing narrows the list. */
const maxShown = 200;

interface PromptItem extends vscode.QuickPickItem {
  readonly prompt?: PastPrompt;
}

/** Lets the user select an earlier prompt, from the editor or a terminal program. */
export function pickPrompt(host: Host, cwd: string): Promise<string | undefined> {
  let here = false;
  return pickSearched<PromptItem, string>({
    title: t('Prompt History'),
    placeholder: t('Select an earlier prompt. Type to search by the start of each word.'),
    find: async (query, token) => {
      const args = { cwd, scope: here ? 'folder' : 'all', query, limit: maxShown };
      const { prompts, problem } = await host.request('xcsh.history', args, token);
      return { items: itemsOf(prompts ?? [], problem, cwd) };
    },
    chosen: (item) => item.prompt?.prompt,
    button: () =>
      here
        ? { iconPath: new vscode.ThemeIcon('globe'), tooltip: t('Show Prompts from All Folders') }
        : { iconPath: new vscode.ThemeIcon('folder'), tooltip: t('Show Prompts from This Folder Only') },
    pressed: () => (here = !here),
    failed: (error) => host.showError(error),
  });
}

function itemsOf(prompts: readonly PastPrompt[], problem: string | undefined, cwd: string): PromptItem[] {
  const items: PromptItem[] = prompts.map((prompt) => ({
    label: oneLine(prompt.prompt),
    description: [
      ...(prompt.unanswered ? [t('unanswered')] : []),
      ...(prompt.cwd && prompt.cwd !== cwd ? [shortPath(prompt.cwd, os.homedir())] : []),
    ].join(' · '),
    // The words can be anywhere in a multi-line prompt.
    alwaysShow: true,
    prompt,
  }));
  if (problem) {
    items.push({ label: `$(warning) ${problem}`, alwaysShow: true });
  } else if (items.length === 0) {
    items.push({ label: t('No matching results'), alwaysShow: true });
  }
  return items;
}
