// A block of code: its language, its highlighted text, and a button to copy it.

import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useMemo } from 'preact/hooks';
import { t } from '../l10n';
import { CopyButton } from './controls';
import { highlighted } from './nodes';

/** The maximum length of code that is highlighted while it is streamed, in UTF-16 units. */
const maxLive = 12_000;

export const Code = memo(function Code({
  code,
  language,
  live,
}: {
  code: string;
  language: string;
  live: boolean;
}): JSX.Element {
  const spans = useMemo(
    () => (live && code.length > maxLive ? code : highlighted(code, language)),
    [code, language, live],
  );
  return (
    <figure class="code">
      <figcaption>
        <span class="language">{language || t('text')}</span>
        <CopyButton text={() => code} label={t('Copy code')} />
      </figcaption>
      <pre tabIndex={0} aria-label={language ? t('Code, {0}', language) : t('Code')}>
        <code>{spans}</code>
      </pre>
    </figure>
  );
});
