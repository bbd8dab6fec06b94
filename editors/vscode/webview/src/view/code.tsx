// A block of code: its language, its text in colours, buttons to copy it and to put it into the editor.

import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useMemo } from 'preact/hooks';
import { t } from '../l10n';
import { clean } from '../markdown/clean';
import { highlight } from '../markdown/highlight';
import { CopyButton } from './controls';

/** Code that grows is coloured up to this length, in UTF-16 units; the rest waits for its end. */
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
  const html = useMemo(() => {
    if (live && code.length > maxLive) return undefined;
    const marked = highlight(code, language);
    return marked === undefined ? undefined : clean(marked);
  }, [code, language, live]);
  return (
    <figure class="code">
      <figcaption>
        <span class="language">{language || t('text')}</span>
        <CopyButton text={() => code} label={t('Copy code')} />
      </figcaption>
      <pre tabIndex={0} aria-label={language ? t('Code, {0}', language) : t('Code')}>
        {html === undefined ? <code>{code}</code> : <code dangerouslySetInnerHTML={{ __html: html }} />}
      </pre>
    </figure>
  );
});
