// The allowed targets of links in a model's text. Other links are shown as text.

import type { Spot } from '../../../src/chat/messages';

export type Target = { kind: 'web'; url: string } | ({ kind: 'file'; path: string } & Partial<Spot>);

const schemes = /^[a-z][a-z0-9+.-]*:/i;

/** Returns the target of a link, or undefined if it is not allowed. The extension checks again. */
export function targetOf(href: string): Target | undefined {
  const text = href.trim();
  if (text === '' || text.length > 4096 || /[\u0000-\u001f\u007f]/.test(text)) return undefined;
  if (/^https?:\/\//i.test(text)) return webTarget(text);
  if (/^file:\/\/\//i.test(text)) return fileTarget(text.slice('file://'.length));
  if (/^[a-z]:[\\/]/i.test(text)) return fileTarget(text); // a drive
  if (schemes.test(text) && !/^[^/\\]+\.[a-z0-9]+:\d+/i.test(text)) return undefined;
  if (text.startsWith('//') || text.startsWith('\\\\') || text.startsWith('#') || text.startsWith('?'))
    return undefined;
  return fileTarget(text);
}

function webTarget(text: string): Target | undefined {
  try {
    const url = new URL(text);
    return url.username || url.password ? undefined : { kind: 'web', url: url.href };
  } catch {
    return undefined;
  }
}

/** A path with an optional place: a.ts:3, a.ts:3:5, a.ts:3-5, a.ts#L3. */
function fileTarget(text: string): Target | undefined {
  const m = /^(.*?)(?:(?::(\d+)(?::(\d+))?(?:-(\d+))?)|(?:#L(\d+)(?:-L?(\d+))?))?$/s.exec(text);
  let path = m?.[1] ?? '';
  try {
    path = decodeURIComponent(path);
  } catch {
    // an invalid percent escape
  }
  if (path === '' || /[\u0000-\u001f]/.test(path)) return undefined;
  const [line, column, endLine] = [m?.[2] ?? m?.[5], m?.[3], m?.[4] ?? m?.[6]].map((digits) => Number(digits ?? 0));
  if (!line) return { kind: 'file', path };
  return {
    kind: 'file',
    path,
    line,
    ...(column ? { column } : {}),
    ...(endLine && endLine > line && !column ? { endLine } : {}),
  };
}
