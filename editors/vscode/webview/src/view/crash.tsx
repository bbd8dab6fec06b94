// The card of an engine that failed: the sentence, its last output, and the ways to continue.

import type { JSX } from 'preact';
import { visible } from '../../../src/chat/visible';
import { engineName } from '../engine';
import { t } from '../l10n';
import { own } from '../state/engine';
import type { Action, Crash as Failed } from '../state/engine';
import { offered, titleOf } from './actions';
import { Fold, Icon } from './controls';
import { sequences } from './output';
import { useChat, useFold, usePage } from './use';

/** Returns the ways to continue: those of the server, or the usual ones if the event was missed. */
function actionsOf(crash: Failed): readonly Action[] {
  const known = offered(crash.actions);
  if (known.length > 0) return known;
  return [crash.engine, own].map((engine) => ({ title: '', command: 'xcsh.setEngine', args: { engine } }));
}

export function Crash(): JSX.Element | null {
  const page = usePage();
  const crash = useChat((s) => s.view.crash);
  const name = useChat((s) => engineName(s.view.engine));
  const [open, setOpen] = useFold('crash', false);
  if (!crash) return null;
  const details = visible(crash.details.replace(sequences, '')).trim();
  return (
    <section class="crash" role="alert" aria-label={t('{0} failed', name)}>
      <p>
        <Icon name="error" />
        <span class="sentence">{visible(crash.message) || t('{0} failed.', name)}</span>
      </p>
      {details && (
        <Fold class="crash-details" open={open} onToggle={setOpen} summary={<span>{t('Last output')}</span>}>
          <pre tabIndex={0} aria-label={t('Last output')}>
            {details}
          </pre>
        </Fold>
      )}
      <footer>
        {actionsOf(crash).map((action, i) => (
          <button
            key={`${crash.key} ${i}`}
            type="button"
            class={i === 0 ? 'button' : 'button secondary'}
            onClick={() => page.act(action)}
          >
            {titleOf(action, crash.engine)}
          </button>
        ))}
      </footer>
    </section>
  );
}
