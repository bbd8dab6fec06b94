// Parses a user message: the text without the attached files that the server prepended.

import { plainText } from './wire';

/** A file attached to a prompt, or something else that the prompt refers to; lines are counted from 1. */
export interface AttachedFile {
  path: string;
  from?: number;
  to?: number;
  type?: string; // of an image, "folder", or what the editor knows, such as "problems"
}

export interface UserMessage {
  files: AttachedFile[];
  text: string;
}

const opening = /^<file path="([^"\n]*)"(?: type="([^"\n]*)")?(?: lines="(\d+)-(\d+)")?>\n/;
const closing = '\n</file>\n\n';

/** The instruction of a client, which the server prepended. It is not the user's. */
const instruction = /^<instruction>\n[^]*?\n<\/instruction>\n\n/;

/** The instruction in a request that an earlier version sent from an editor, as a part of its text. */
const earlierInstruction = /^Change lines? [^\n]{0,1000}\n[^\n]{0,1000}\nafterwards [^\n]{0,200} The request:\n\n/;

/** Separates the instruction and the attachments from the text of a prompt, which is the user's own words. */
export function userMessageOf(content: unknown): UserMessage {
  const whole = plainText(content);
  let text = whole.replace(instruction, '') || whole;
  const files: AttachedFile[] = [];
  for (;;) {
    const m = opening.exec(text);
    const end = m ? text.indexOf(closing, m[0].length - 1) : -1;
    if (!m || end < 0) return { files, text: files.length > 0 ? text.replace(earlierInstruction, '') : text };
    files.push({
      path: m[1]!,
      ...(m[2] ? { type: m[2] } : {}),
      ...(m[3] ? { from: Number(m[3]), to: Number(m[4]) } : {}),
    });
    text = text.slice(end + closing.length);
  }
}

const contextIcons: Record<string, string> = {
  problems: 'warning',
  terminal: 'terminal',
  symbol: 'symbol-method',
  selection: 'list-selection',
  buffer: 'file-code',
};

/** The icon of an attachment. */
export function fileIcon({ type = '' }: AttachedFile): string {
  if (type.startsWith('image/')) return 'file-media';
  return type === 'folder' ? 'folder' : Object.hasOwn(contextIcons, type) ? contextIcons[type]! : 'file';
}

/** Reports whether an attachment is in the file system, so that it can be opened. */
export const isFile = ({ type = '' }: AttachedFile): boolean => !Object.hasOwn(contextIcons, type);

/** The name of a file without its directories. */
export const baseName = (path: string) => path.split(/[\\/]/).filter(Boolean).at(-1) || path;

/** Returns a path relative to a folder. */
export function relativeTo(cwd: string, path: string): string {
  for (const separator of ['/', '\\']) {
    const root = cwd.endsWith(separator) ? cwd : cwd + separator;
    if (path.startsWith(root)) return path.slice(root.length);
  }
  return path;
}

export function fileLabel(f: AttachedFile): string {
  const name = f.type === 'folder' ? `${baseName(f.path)}/` : baseName(f.path);
  if (f.from === undefined) return name;
  return f.from === f.to ? `${name}:${f.from}` : `${name}:${f.from}–${f.to}`;
}
