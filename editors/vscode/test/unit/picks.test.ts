import assert from 'node:assert/strict';
import { test } from 'node:test';
import type * as vscode from 'vscode';

import { pickSession } from '../../src/palette/sessionPick';
import type { ListArgs, SessionInfo } from '../../src/wire.gen';
import type { Window } from '../../src/window';
// @ts-expect-error a script without types
import recorder from './recorder.cjs';

const { values } = recorder as { values: Record<string, unknown> };

type Listener = (given?: unknown) => void;

/** A list that the test operates. */
class FakePick {
  items: readonly (vscode.QuickPickItem & { info?: SessionInfo })[] = [];
  activeItems: readonly vscode.QuickPickItem[] = [];
  selectedItems: readonly vscode.QuickPickItem[] = [];
  value = '';
  buttons: readonly unknown[] = [];
  busy = false;
  readonly listeners: Record<string, Listener> = {};
  readonly on =
    (name: string) =>
    (listener: Listener): { dispose(): void } => {
      this.listeners[name] = listener;
      return { dispose: () => {} };
    };
  onDidChangeValue = this.on('value');
  onDidTriggerButton = this.on('button');
  onDidTriggerItemButton = this.on('itemButton');
  onDidAccept = this.on('accept');
  onDidHide = this.on('hide');
  show(): void {}
  hide(): void {
    this.listeners['hide']?.();
  }
  dispose(): void {}

  accept(label: string): void {
    this.selectedItems = this.items.filter((item) => item.label.includes(label));
    assert.equal(this.selectedItems.length, 1, label);
    this.listeners['accept']?.();
  }

  get names(): string[] {
    return this.items.flatMap(({ info }) => info?.name ?? []);
  }
}

class FakeSource {
  token = { isCancellationRequested: false };
  cancel(): void {
    this.token.isCancellationRequested = true;
  }
  dispose(): void {}
}

values['CancellationTokenSource'] = FakeSource;

function session(i: number): SessionInfo {
  const name = `s${i}`;
  return {
    id: name,
    path: `/s/${name}.jsonl`,
    cwd: '/w',
    name,
    firstMessage: '',
    messageCount: 1,
    created: '',
    modified: '',
    timeAgo: '',
    size: 1,
    entries: 1,
    branches: 1,
    damagedLines: 0,
    live: false,
    origin: 'xcsh',
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The list of a folder with this many sessions. */
async function listed(count: number) {
  const pick = new FakePick();
  values['window.createQuickPick'] = () => pick;
  const asked: ListArgs[] = [];
  let changed: Listener = () => {};
  const window = {
    request: (_command: string, args: ListArgs) => {
      asked.push(args);
      const from = Number(args.cursor ?? 0);
      const to = from + (args.limit ?? count);
      const sessions = Array.from({ length: count }, (_, i) => session(i)).filter(({ name }) =>
        name.includes(args.query ?? ''),
      );
      const next = to < sessions.length ? { nextCursor: String(to) } : {};
      return Promise.resolve({ sessions: sessions.slice(from, to), problems: [], ...next });
    },
    onNotification: (_method: string, listener: Listener) => {
      changed = listener;
      return { dispose: () => {} };
    },
    showError: (error: unknown) => Promise.reject(error as Error),
  };
  const chosen = pickSession(window as unknown as Window, { cwd: '/w', title: '', placeholder: '' });
  await settled();
  return { pick, asked, chosen, change: () => changed() };
}

test('a list of 10,000 sessions requests a page, and the next one on demand', async () => {
  const { pick, asked, chosen, change } = await listed(10_000);
  assert.deepEqual(asked.slice(0), [{ cwd: '/w', scope: 'folder', query: '', limit: 100 }]);
  assert.equal(pick.names.length, 100);
  pick.accept('More…');
  await settled();
  assert.deepEqual(asked.at(-1), { cwd: '/w', scope: 'folder', query: '', limit: 100, cursor: '100' });
  assert.equal(pick.names.length, 200);
  assert.equal((pick.activeItems[0] as { info?: SessionInfo } | undefined)?.info?.name, 's100');
  // A session that was written meanwhile reloads the list, which stays as long as it is.
  change();
  await settled();
  assert.deepEqual(asked.at(-1), { cwd: '/w', scope: 'folder', query: '', limit: 200 });
  assert.equal(pick.names.length, 200);
  pick.accept(') s150');
  assert.equal((await chosen)?.name, 's150');
});

test('the server searches for the typed text', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { pick, asked } = await listed(1000);
  pick.accept('More…');
  await settled();
  pick.value = 's77';
  pick.listeners['value']?.();
  pick.value = 's777';
  pick.listeners['value']?.();
  t.mock.timers.tick(200);
  await settled();
  assert.deepEqual(asked.slice(2), [{ cwd: '/w', scope: 'folder', query: 's777', limit: 100 }]);
  assert.deepEqual(pick.names, ['s777']);
  assert.equal(
    pick.items.some(({ label }) => label.includes('More…')),
    false,
  );
});
