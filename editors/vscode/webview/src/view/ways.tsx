// The ways to an answer while no model is ready, and the prompt that waits for one.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { visible } from '../../../src/chat/visible';
import { looksOf } from '../../../src/chat/ways';
import type { Way, WayLooks } from '../../../src/chat/ways';
import { canAnswer } from '../engine';
import { t } from '../l10n';
import type { Action } from '../state/engine';
import { Icon, IconButton } from './controls';
import { useChat, usePage, useUi } from './use';

const maxWaiting = 400; // characters of the waiting prompt

/** The action of a way. */
function actionOf(way: Way): Action {
  const action = (command: string, args: Action['args']): Action => ({ title: '', command, args });
  switch (way.kind) {
    case 'engine':
      return action('xcsh.setEngine', { engine: way.engine });
    case 'local':
    case 'ready':
      return action('xcsh.setModel', way.model ? { model: way.model } : { among: way.provider });
    case 'key':
      return action('xcsh.setKey', { provider: way.provider });
    case 'demo':
      return action('xcsh.setModel', { model: way.model });
  }
}

function Row({ icon, label, about, action }: WayLooks & { action: Action }): JSX.Element {
  const page = usePage();
  return (
    <li>
      <button type="button" class="way" onClick={() => page.act(action)}>
        <Icon name={icon} />
        <span class="way-words">
          <span class="way-label" dir="auto">
            {label}
          </span>{' '}
          <span class="way-about" dir="auto">
            {about}
          </span>
        </span>
      </button>
    </li>
  );
}

/** The prompt that is sent once a model is ready. */
function WaitingPrompt(): JSX.Element | null {
  const page = usePage();
  const waiting = useUi((u) => u.kept.waiting);
  if (!waiting) return null;
  return (
    <div class="waiting" role="group" aria-label={t('Waiting message')}>
      <p>
        <Icon name="clock" />
        <span class="quiet">{t('Sent as soon as a model is ready:')}</span>
      </p>
      <blockquote dir="auto">{visible(waiting.text).slice(0, maxWaiting)}</blockquote>
      <button type="button" class="link" onClick={() => page.prompts.waiting.edit()}>
        {t('Edit')}
      </button>
      <button type="button" class="link" onClick={() => page.prompts.waiting.cancel()}>
        {t('Cancel')}
      </button>
    </div>
  );
}

/** Reports whether the card is shown. While a prompt is being sent, the server may be asking something else. */
export function useWays(): boolean {
  const needed = useChat((s) => s.sync.live && !canAnswer(s.view) && !s.view.running);
  const trusted = useUi((u) => u.init?.trusted ?? true);
  const session = useChat((s) => s.sync.sessionId);
  const open = useUi((u) => !u.sending && (u.kept.waiting !== null || u.waysHidden !== session));
  return needed && trusted && open;
}

export function Ways(): JSX.Element | null {
  const page = usePage();
  const shown = useWays();
  const ways = useUi((u) => u.ways);
  const waiting = useUi((u) => u.kept.waiting !== null);
  const init = useUi((u) => u.init);
  const message = useChat((s) => s.view.ready.message);
  const provider = useChat((s) => s.view.ready.provider);
  useEffect(() => {
    if (shown) void page.prompts.waiting.readWays();
  }, [page, shown, init, provider]);
  if (!shown) return null;
  const demo = ways.filter((way) => way.kind === 'demo');
  const window = (icon: string, label: string, command: string) => (
    <Row icon={icon} label={label} about="" action={{ title: '', command, args: {} }} />
  );
  return (
    <section class="ways" aria-label={t('Ways to get an answer')}>
      <header>
        <h2>{visible(message) || t('Choose a model to start.')}</h2>
        {!waiting && <IconButton icon="close" label={t('Close')} onClick={() => page.prompts.waiting.hideWays()} />}
      </header>
      <WaitingPrompt />
      <ul>
        {ways
          .filter((way) => way.kind !== 'demo')
          .map((way, i) => (
            <Row key={i} {...looksOf(way, t)} action={actionOf(way)} />
          ))}
        {window('key', t('Other services…'), 'window.addKey')}
        {window('list-unordered', t('Choose another model…'), 'window.model')}
        {demo.map((way, i) => (
          <Row key={`demo ${i}`} {...looksOf(way, t)} action={actionOf(way)} />
        ))}
      </ul>
    </section>
  );
}
