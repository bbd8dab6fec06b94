// Selects the images to show: those in the session's own messages whose first bytes match their
// type. SVG is excluded, because it is a document.

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

/** A data: URL, or the reason why the image is not shown. */
export function pictureOf(block: Obj): { source: string } | { reason: string } {
  const type = str(block.mimeType);
  const data = str(block.data);
  if (data === '') return { reason: t('Image without data') };
  if (!Object.hasOwn(beginnings, type)) return { reason: t('Unsupported image type') };
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data) || !beginnings[type]!.test(data))
    return { reason: t('Damaged image') };
  return { source: `data:${type};base64,${data}` };
}
