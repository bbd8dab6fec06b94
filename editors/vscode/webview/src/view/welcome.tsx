// What an empty conversation says.

import type { JSX } from 'preact';
import { Icon } from './controls';
import { useChat, usePage, useUi } from './use';

const mac = typeof navigator !== 'undefined' && /Mac/.test(navigator.platform);
const alt = mac ? '⌥' : 'Alt+';

const hints: [string, string][] = [
  ['@', 'attach a file'],
  ['!', 'run a command yourself'],
  ['↑', 'bring back an earlier prompt'],
  [alt + '↑', 'go through the messages'],
];

export function Welcome(): JSX.Element | null {
  const page = usePage();
  const ready = useChat((s) => s.sync.live);
  const model = useChat((s) => s.view.session?.model ?? null);
  const trusted = useUi((u) => u.init?.trusted ?? true);
  const noFolder = useUi((u) => u.init !== null && u.init.cwd === null);
  if (noFolder)
    return (
      <div class="welcome">
        <Icon name="folder" />
        <h2>No folder is open</h2>
        <p>Open a folder to talk about it.</p>
      </div>
    );
  if (!ready) return null;
  return (
    <div class="welcome">
      <Icon name="comment-discussion" />
      <h2>Ask about this folder</h2>
      {!trusted && <p>The folder is not trusted, so nothing can be asked. Sessions can be read.</p>}
      {trusted && model === null && (
        <p>
          <button type="button" class="button" onClick={() => page.store.send({ kind: 'window', command: 'model' })}>
            Choose a Model
          </button>
        </p>
      )}
      <dl class="hints">
        {hints.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="link" onClick={() => page.store.send({ kind: 'window', command: 'resume' })}>
        Resume an earlier session
      </button>
    </div>
  );
}
