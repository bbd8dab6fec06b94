// The images among the blocks of a message.

import type { JSX } from 'preact';
import { t } from '../l10n';
import { pictureOf } from '../markdown/image';
import type { ContentBlock } from '../state/wire';

export function Pictures({ blocks }: { blocks: readonly ContentBlock[] }): JSX.Element | null {
  const pictures = blocks.filter((b) => b.type === 'image').map((b) => pictureOf({ ...b }));
  if (pictures.length === 0) return null;
  return (
    <div class="pictures">
      {pictures.map((p, i) =>
        'source' in p ? (
          <img key={i} src={p.source} alt={t('Image {0}', i + 1)} />
        ) : (
          <p key={i} class="quiet">
            {p.reason}
          </p>
        ),
      )}
    </div>
  );
}
