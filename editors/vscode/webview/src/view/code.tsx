// A block of code: its language or file, its highlighted text, and buttons to copy, insert and apply it.

import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useMemo } from 'preact/hooks';
import { t } from '../l10n';
import type { NamedFile } from '../markdown/fencePath';
import { CopyButton, IconButton } from './controls';
import { highlighted } from './nodes';
import { usePage } from './use';
import { visible } from '../../../src/chat/visible';

/** The maximum length of code that is highlighted while it is streamed, in UTF-16 units. */
const maxLive = 12_000;

/** Takes the code to an editor. Nothing is written before the user accepts the change there, or by itself. */
function CodeActions({ code, language, file }: { code: string; language: string; file?: NamedFile }): JSX.Element {
  const { store } = usePage();
  const apply = () =>
    store.send({ kind: 'applyCode', code, language, path: file?.path ?? '', fromFence: file?.fromFence ?? false });
  return (
    <>
      <IconButton
        icon="insert"
        label={t('Insert at cursor')}
        onClick={() => store.send({ kind: 'insertCode', code })}
      />
      <IconButton
        icon="git-pull-request-go-to-changes"
        label={file ? t('Review as a change to {0}', visible(file.path)) : t('Review as a change to the open file')}
        onClick={apply}
      />
    </>
  );
}

export const Code = memo(function Code({
  code,
  language,
  live,
  actions = false,
  file,
}: {
  code: string;
  language: string;
  live: boolean;
  actions?: boolean;
  file?: NamedFile | undefined;
}): JSX.Element {
  const spans = useMemo(
    () => (live && code.length > maxLive ? code : highlighted(code, language)),
    [code, language, live],
  );
  return (
    <figure class="code">
      <figcaption>
        <span class="language">{language || t('text')}</span>
        <span class="actions">
          <CopyButton text={() => code} label={t('Copy code')} />
          {actions && <CodeActions code={code} language={language} {...(file ? { file } : {})} />}
        </span>
      </figcaption>
      <pre tabIndex={0} aria-label={language ? t('Code, {0}', language) : t('Code')}>
        <code>{spans}</code>
      </pre>
    </figure>
  );
});
