// Answers of the server's own commands, in the conversation.

import type { JSX } from 'preact';
import { visible } from '../../../src/chat/visible';
import { t } from '../l10n';
import type { LocalNote } from '../state/localNotes';
import { Icon, IconButton } from './controls';
import { Markdown } from './markdown';
import { usePage } from './use';

export function LocalNotes({ notes }: { notes: readonly LocalNote[] }): JSX.Element | null {
  const page = usePage();
  if (notes.length === 0) return null;
  return (
    <>
      {notes.map(({ key, command, text }) => (
        <section key={key} class="local-note" aria-label={t('Answer to /{0}', visible(command))}>
          <header>
            <Icon name="terminal" />
            <code>/{visible(command)}</code>
            <span class="quiet">{t('Not part of the session')}</span>
            <IconButton icon="close" label={t('Dismiss')} onClick={() => page.prompts.dismissNote(key)} />
          </header>
          <Markdown text={text} live={false} />
        </section>
      ))}
    </>
  );
}
