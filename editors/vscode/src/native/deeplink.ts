import * as path from 'node:path';

/** The request of a link of the form vscode://xcsh-ls.xcsh-ls/…. */
export type DeepLink =
  | { readonly kind: 'resume'; readonly id: string }
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'wrong' };

/** Parses a link. Anyone can create one, so its content is untrusted. */
export function deepLink(uriPath: string, query: string, platform: NodeJS.Platform = process.platform): DeepLink {
  const parameters = new URLSearchParams(query);
  switch (uriPath) {
    case '/resume': {
      const id = parameters.get('id') ?? '';
      return /^[\w.-]{4,200}$/.test(id) ? { kind: 'resume', id } : { kind: 'wrong' };
    }
    case '/open': {
      const file = parameters.get('path') ?? '';
      const at = platform === 'win32' ? path.win32 : path.posix;
      // On Windows, a leading double slash names another machine, and opening the file would
      // contact it.
      const local = at.isAbsolute(file) && !/^[\\/]{2}/.test(file) && !file.includes('\0');
      return local && file.endsWith('.jsonl') ? { kind: 'open', path: at.normalize(file) } : { kind: 'wrong' };
    }
    default:
      return { kind: 'wrong' };
  }
}
