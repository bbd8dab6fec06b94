// Which pictures are shown: those that came in the session's own messages, of a type whose first
// bytes they have. SVG is none of them, because it is a document.

import { t } from '../l10n';
import { str } from '../state/wire';
import type { Obj } from '../state/wire';

const beginnings: Record<string, RegExp> = {
  'image/png': /^iVBORw/,
  'image/jpeg': /^\/9j\//,
  'image/gif': /^R0lGOD/,
  'image/webp': /^UklGR.{7}XRUJQ/,
};

export const imageTypes = Object.keys(beginnings);

/** A data: address, or the reason why the picture is not shown. */
export function pictureOf(block: Obj): { source: string } | { reason: string } {
  const type = str(block.mimeType);
  const data = str(block.data);
  if (data === '') return { reason: t('A picture without data') };
  if (!Object.hasOwn(beginnings, type)) return { reason: t('A picture of a type that is not shown') };
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data) || !beginnings[type]!.test(data))
    return { reason: t('A damaged picture') };
  return { source: `data:${type};base64,${data}` };
}
