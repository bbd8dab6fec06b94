// The content of an empty conversation.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { visible } from '../../../src/chat/visible';
import { t } from '../l10n';
import { own } from '../state/engine';
import { Icon } from './controls';
import { useWays } from './ways';
import { useChat, usePage, useUi } from './use';

const mac = typeof navigator !== 'undefined' && /Mac/.test(navigator.platform);
const alt = mac ? '⌥' : 'Alt+';

/** Keys with their descriptions. */
const hints = (): [string, string][] => [
  ['@', t('attach a file')],
  ['!', t('run a shell command')],
  ['↑', t('recall an earlier prompt')],
  [alt + '↑', t('move between messages')],
];

/** The newest sessions of the folder, each of which one click resumes. */
function Recent(): JSX.Element | null {
  const page = usePage();
  const session = useChat((s) => s.view.session?.sessionId ?? '');
  const init = useUi((u) => u.init);
  const recent = useUi((u) => u.recent);
  useEffect(() => void page.readRecent(), [page, session, init]);
  if (recent.length === 0) return null;
  return (
    <section class="recent">
      <h3>{t('Recent sessions')}</h3>
      <ul>
        {recent.map((s) => (
          <li key={s.path}>
            <button
              type="button"
              title={visible(s.fullName)}
              onClick={() => page.store.send({ kind: 'resume', path: s.path })}
            >
              <span class="name" dir="auto">
                {visible(s.name)}
              </span>
              <span class="when">{visible(s.timeAgo)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Welcome(): JSX.Element | null {
  const page = usePage();
  const ready = useChat((s) => s.sync.live);
  // Another engine chooses a model when it starts.
  const modelless = useChat((s) => s.view.engine.name === own && !s.view.session?.model);
  const ways = useWays();
  const trusted = useUi((u) => u.init?.trusted ?? true);
  const noFolder = useUi((u) => u.init !== null && u.init.cwd === null);
  if (noFolder)
    return (
      <div class="welcome">
        <Icon name="folder" />
        <h2>{t('No folder is open')}</h2>
        <p>{t('Open a folder to start a conversation.')}</p>
      </div>
    );
  if (!ready) return null;
  if (!trusted)
    return (
      <div class="welcome">
        <Icon name="shield" />
        <h2>{t('Restricted Mode')}</h2>
        <p>{t('You can read sessions. To run the agent, trust this folder.')}</p>
      </div>
    );
  return (
    <div class="welcome">
      <Icon name="comment-discussion" />
      <h2>{t('What do you want to do?')}</h2>
      {modelless && !ways && (
        <p>
          <button type="button" class="button" onClick={() => page.store.send({ kind: 'window', command: 'model' })}>
            {t('Choose a Model')}
          </button>
        </p>
      )}
      <Recent />
      {!ways && (
        <dl class="hints">
          {hints().map(([key, what]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      )}
      <button type="button" class="link" onClick={() => page.store.send({ kind: 'window', command: 'resume' })}>
        {t('Resume an earlier session')}
      </button>
    </div>
  );
}
