// A tool call in a few words.

import { t } from '../l10n';
import { relativeTo } from '../state/said';
import { visible } from '../../../src/chat/visible';
import { obj, str } from '../state/wire';
import type { ApprovalRule, ContentBlock } from '../state/wire';

export interface Described {
  icon: string;
  verb: string; // while it runs and after
  what: string; // what it is about, set in a monospaced font
  path: string; // the file to open; "" is none
  line: number; // from 1; 0 is none
}

type Name = (args: { [key: string]: unknown }, cwd: string) => Partial<Described>;

const pathOf = (a: { [key: string]: unknown }) => str(a.path) || str(a.file_path) || str(a.filePath);
const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

/** What is looked for, and where. */
function sought(a: { [key: string]: unknown }, cwd: string): string {
  const [pattern, where] = [str(a.pattern), relativeTo(cwd, pathOf(a))];
  return oneLine(pattern && where ? t('{0} in {1}', pattern, where) : pattern || where);
}

const tools: Record<string, Name> = {
  read: (a, cwd) => ({
    icon: 'file',
    verb: t('Read'),
    what: relativeTo(cwd, pathOf(a)),
    path: pathOf(a),
    line: Number(a.offset) || 0,
  }),
  write: (a, cwd) => ({ icon: 'new-file', verb: t('Write'), what: relativeTo(cwd, pathOf(a)), path: pathOf(a) }),
  edit: (a, cwd) => ({ icon: 'edit', verb: t('Edit'), what: relativeTo(cwd, pathOf(a)), path: pathOf(a) }),
  bash: (a) => ({ icon: 'terminal', verb: t('Run'), what: oneLine(str(a.command)) }),
  grep: (a, cwd) => ({
    icon: 'search',
    verb: t('Search'),
    what: sought(a, cwd),
  }),
  find: (a, cwd) => ({
    icon: 'search',
    verb: t('Find'),
    what: sought(a, cwd),
  }),
  ls: (a, cwd) => ({ icon: 'folder-opened', verb: t('List'), what: relativeTo(cwd, pathOf(a)) || '.' }),
  todo_write: () => ({ icon: 'checklist', verb: t('Update the plan'), what: '' }),
};
const otherNames: Record<string, string> = {
  Read: 'read',
  Write: 'write',
  Edit: 'edit',
  multiedit: 'edit',
  Bash: 'bash',
  Grep: 'grep',
  Glob: 'find',
  LS: 'ls',
  list: 'ls',
  glob: 'find',
};

/** What a call does, in words. The longest text is cut: the whole is in the call's details. */
export function describe(block: ContentBlock, cwd: string): Described {
  const args = obj(block.arguments);
  const name = str(block.name);
  const known = otherNames[name] ?? name;
  const own = Object.hasOwn(tools, known)
    ? tools[known]!(args, cwd)
    : { verb: name || t('tool'), what: firstText(args) };
  const d = { icon: 'tools', path: '', line: 0, verb: '', what: '', ...own };
  return { ...d, verb: visible(d.verb), what: visible(d.what.slice(0, 300)) };
}

function firstText(args: { [key: string]: unknown }): string {
  const text = Object.values(args).find((v): v is string => typeof v === 'string' && v.trim() !== '');
  return oneLine((text ?? '').slice(0, 300));
}

/** A rule for people. */
export function ruleText(r: ApprovalRule): string {
  if (r.edit) return t('changing files of this folder');
  if (r.words?.length) return r.words.join(' ') + (r.exact ? '' : ' …');
  if (r.line) return r.line;
  return r.tool ? t('the tool {0}', r.tool) : t('calls like this');
}

const grouping = new Intl.NumberFormat('en');

/** A number of tokens, short. */
export function tokenText(n: number): string {
  if (n < 1000) return String(n);
  if (n < 99_950) return (n / 1000).toFixed(1).replace(/\.0$/, '') + 'k';
  return n < 999_500 ? Math.round(n / 1000) + 'k' : (n / 1e6).toFixed(1).replace(/\.0$/, '') + 'M';
}

export const exact = (n: number) => grouping.format(n);

/** US dollars; small sums keep two digits that mean something. */
export function costText(dollars: number): string {
  if (dollars <= 0) return '';
  if (dollars < 0.01) return '<$0.01';
  return '$' + dollars.toFixed(dollars < 100 ? 2 : 0);
}
