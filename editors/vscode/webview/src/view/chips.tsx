// The files and images that are attached to the prompt, and the offer to attach what the editor shows.

import type { JSX } from 'preact';
import { t } from '../l10n';
import { attachmentKey, attachmentLabel } from '../state/attachments';
import { Icon, IconButton } from './controls';
import { usePage, useUi } from './use';

export function Chips(): JSX.Element | null {
  const page = usePage();
  const attachments = useUi((u) => u.kept.attachments);
  const pictures = useUi((u) => u.pictures);
  const file = useUi((u) => u.editorFile);
  const offered = file && !attachments.some((a) => attachmentKey(a) === attachmentKey(file)) ? file : null;
  if (!offered && attachments.length + pictures.length === 0) return null;
  return (
    <ul class="chips" aria-label={t('Attachments')}>
      {attachments.map((a) => (
        <li key={attachmentKey(a)} class="chip" title={a.uri}>
          <Icon name={a.range ? 'list-selection' : 'file'} />
          <span>{attachmentLabel(a)}</span>
          <IconButton icon="close" label={t('Remove {0}', attachmentLabel(a))} onClick={() => page.detach(a)} />
        </li>
      ))}
      {pictures.map((p, i) => (
        <li key={p.key} class="chip picture">
          <img src={`data:${p.mimeType};base64,${p.data}`} alt={t('Image {0}', i + 1)} />
          <IconButton icon="close" label={t('Remove image {0}', i + 1)} onClick={() => page.removePicture(p.key)} />
        </li>
      ))}
      {offered && (
        <li>
          <button
            type="button"
            class="chip offered"
            title={t('Attach {0}', attachmentLabel(offered))}
            onClick={() => page.attach([offered])}
          >
            <Icon name="add" />
            <span>{attachmentLabel(offered)}</span>
          </button>
        </li>
      )}
    </ul>
  );
}
