// The field for the reason of a denial, which the model gets.

import type { JSX, TargetedEvent, TargetedKeyboardEvent } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../l10n';

const maxReason = 4000; // characters

export function Denial({ deny, close }: { deny: (reason: string) => void; close: () => void }): JSX.Element {
  const [reason, setReason] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const onKey = (e: TargetedKeyboardEvent<HTMLInputElement>) => {
    if (e.key !== 'Escape' || e.isComposing) return;
    e.preventDefault();
    e.stopPropagation();
    close();
  };
  const onSubmit = (e: TargetedEvent<HTMLFormElement>) => {
    e.preventDefault();
    if (reason.trim()) deny(reason.trim());
  };
  return (
    <form class="denial" onSubmit={onSubmit}>
      <input
        ref={field}
        type="text"
        value={reason}
        maxLength={maxReason}
        placeholder={t('What should the model do instead?')}
        aria-label={t('Reason for the denial')}
        onInput={(e) => setReason(e.currentTarget.value)}
        onKeyDown={onKey}
      />
      <button type="submit" class="button" disabled={reason.trim() === ''}>
        {t('Deny')}
      </button>
      <button type="button" class="button secondary" onClick={close}>
        {t('Cancel')}
      </button>
    </form>
  );
}
