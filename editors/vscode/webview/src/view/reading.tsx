// The foot of a session that is shown without being resumed: why it is, and the ways to continue.

import type { JSX } from 'preact';
import type { Reading, ReadingAction } from '../../../src/chat/messages';
import { visible } from '../../../src/chat/visible';
import { t } from '../l10n';
import { Icon, IconButton } from './controls';
import { useChat, usePage } from './use';

/** The reason, on one line if possible. */
function reasonOf({ state, by, place }: Reading): string {
  switch (state) {
    case 'live':
      return t('This session is open in the chat.');
    case 'locked':
      return by
        ? t('This session is running in another window ({0}).', visible(by))
        : t('This session is running in another window.');
    case 'terminal':
      return t('This session is running in a terminal.');
    case 'working':
      return t('Another session is still working in this folder.');
    case 'elsewhere':
      return t('This session belongs to another folder.');
    case 'fixed':
      return t('The file of this session is read-only.');
    case 'restricted':
      return t('Restricted mode: you can read sessions, not run the agent.');
    case 'followed':
      return by ? t('You are reading along with {0}.', visible(by)) : t('You are reading along.');
    case 'free':
      return place === 'tab' ? t('You are reading this session.') : t('This session is not running.');
  }
}

/** The ways to continue, the most likely first. */
function waysOf({ state, place }: Reading): readonly ReadingAction[] {
  const editor: readonly ReadingAction[] = place === 'panel' ? ['editor'] : [];
  switch (state) {
    case 'live':
      return ['continue'];
    case 'locked':
      return ['fork', 'retry', ...editor];
    case 'terminal':
      return ['terminal', 'takeOver', ...editor];
    case 'elsewhere':
      return ['fork', 'folder', ...editor];
    case 'fixed':
      return ['fork', ...editor];
    case 'restricted':
      return ['trust', ...editor];
    case 'followed':
      return ['continue'];
    case 'working':
    case 'free':
      return ['continue', 'fork', ...editor];
  }
}

function iconOf({ state }: Reading): 'lock' | 'terminal' | 'eye' {
  return state === 'terminal' ? 'terminal' : state === 'locked' || state === 'restricted' ? 'lock' : 'eye';
}

function labelOf(action: ReadingAction, { state }: Reading): string {
  switch (action) {
    case 'continue':
      return state === 'live' ? t('Show in Chat') : t('Continue Here');
    case 'fork':
      return t('Fork Here');
    case 'retry':
      return t('Try Again');
    case 'terminal':
      return t('Open Terminal');
    case 'takeOver':
      return t('Take Over');
    case 'editor':
      return t('Open in Editor');
    case 'folder':
      return t('Open Its Folder');
    case 'trust':
      return t('Manage Trust');
    case 'close':
      return t('Back to the current session');
  }
}

/** The head of a session of the team's store that is read along: who writes it. */
export function ReadingHead({ reading: { state, by } }: { reading: Reading }): JSX.Element | null {
  if (state !== 'followed') return null;
  return (
    <header class="head following">
      <Icon name="eye" />
      <span class="name">{by ? t('Following {0}', visible(by)) : t('Following')}</span>
    </header>
  );
}

export function ReadingBar({ reading }: { reading: Reading }): JSX.Element {
  const page = usePage();
  const ways = waysOf(reading);
  const notice = useChat((s) => s.view.notices.at(-1)?.text ?? '');
  return (
    <section class="reading" aria-label={t('Read-only session')}>
      <p>
        <Icon name={iconOf(reading)} />
        <span>{reasonOf(reading)}</span>
        {reading.place === 'panel' && (
          <IconButton icon="close" label={labelOf('close', reading)} onClick={() => page.read('close')} />
        )}
      </p>
      {notice && (
        <p role="status">
          <Icon name="info" />
          <span>{notice}</span>
        </p>
      )}
      <div class="ways">
        {ways.map((action, at) => (
          <button
            key={action}
            type="button"
            class={at === 0 ? 'button' : 'button secondary'}
            onClick={() => page.read(action)}
          >
            {labelOf(action, reading)}
          </button>
        ))}
      </div>
    </section>
  );
}
