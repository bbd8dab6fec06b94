// The head of the panel: the program that answers, and its model. The server's own engine has none.

import type { JSX } from 'preact';
import { visible } from '../../../src/chat/visible';
import { engineLabel } from '../engine';
import { t } from '../l10n';
import { own } from '../state/engine';
import type { EngineState } from '../state/engine';
import { Icon } from './controls';
import { useChat, usePage } from './use';

/** The words for a state, "" for one that needs none. */
function stateText(state: EngineState): string {
  switch (state) {
    case 'starting':
      return t('starting…');
    case 'running':
      return t('working');
    case 'failed':
      return t('failed');
    default:
      return '';
  }
}

const stateIcons: Partial<Record<EngineState, string>> = { starting: 'loading', failed: 'error' };

export function Head(): JSX.Element | null {
  const page = usePage();
  const engine = useChat((s) => s.view.engine);
  const model = useChat((s) => s.view.session?.model?.id ?? '');
  const stopped = useChat((s) => s.sync.server === 'stopped');
  if (engine.name === own || stopped) return null;
  const name = [engineLabel(engine), visible(model)].filter(Boolean).join(' · ');
  const state = stateText(engine.state);
  const words = state ? t('{0}: {1}', name, state) : name;
  const icon = stateIcons[engine.state];
  return (
    <header class="head">
      <button
        type="button"
        class={`engine ${engine.state}`}
        aria-label={t('Engine: {0}. Choose another engine', [name, state].join(' ').trim())}
        aria-haspopup="listbox"
        title={[words, engine.state === 'failed' ? '' : visible(engine.message)].filter(Boolean).join('\n')}
        onClick={() => page.store.send({ kind: 'window', command: 'engine' })}
      >
        <Icon name={icon ?? 'hubot'} spin={engine.state === 'starting'} />
        <span class="name">{name}</span> {state && <span class="state">{state}</span>}
        <Icon name="chevron-down" />
      </button>
      <span class="unseen" role="status">
        {engine.state === 'starting' || engine.state === 'failed' ? words : ''}
      </span>
    </header>
  );
}
