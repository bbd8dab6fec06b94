// Short descriptions of tool calls and of another program's branch.

import { t } from '../l10n';
import { relativeTo } from '../state/userMessage';
import { visible } from '../../../src/chat/visible';
import { list, obj, str } from '../state/wire';
import type { ApprovalRule, ContentBlock, ForeignBranch } from '../state/wire';

export interface Described {
  icon: string;
  verb: string; // while it runs and after
  what: string; // its subject, set in a monospaced font
  path: string; // the file to open, "" if none
  line: number; // from 1; 0 if none
}

type Name = (args: { [key: string]: unknown }, cwd: string) => Partial<Described>;

const pathOf = (a: { [key: string]: unknown }) => str(a.path) || str(a.file_path) || str(a.filePath);
const webAddress = /^\s*@?https?:\/\//i;
const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

/** Describes a search: its pattern and location. */
function sought(a: { [key: string]: unknown }, cwd: string): string {
  const [pattern, where] = [str(a.pattern), relativeTo(cwd, pathOf(a))];
  return oneLine(pattern && where ? t('{0} in {1}', pattern, where) : pattern || where);
}

const tools: Record<string, Name> = {
  read: (a, cwd) => {
    const path = pathOf(a);
    if (webAddress.test(path)) return { icon: 'globe', verb: t('Read'), what: path.trim() };
    return { icon: 'file', verb: t('Read'), what: relativeTo(cwd, path), path, line: Number(a.offset) || 0 };
  },
  write: (a, cwd) => ({ icon: 'new-file', verb: t('Write'), what: relativeTo(cwd, pathOf(a)), path: pathOf(a) }),
  edit: (a, cwd) => ({ icon: 'edit', verb: t('Edit'), what: relativeTo(cwd, pathOf(a)), path: pathOf(a) }),
  bash: (a) => ({
    icon: 'terminal',
    verb: a.background === true ? t('Run in the background') : t('Run'),
    what: oneLine(str(a.command)),
  }),
  process: (a) => ({
    icon: 'server-process',
    verb: a.stop === true ? t('Stop background command') : t('Read background output'),
    what: str(a.id),
  }),
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
  exit_plan_mode: (a) => ({ icon: 'checklist', verb: t('Propose the plan'), what: oneLine(str(a.title)) }),
  task: (a) => ({
    icon: 'type-hierarchy-sub',
    verb: t('Delegate'),
    what: list(a.tasks)
      .map((task) => str(obj(task).name) || str(obj(task).id) || oneLine(str(obj(task).task)).slice(0, 60))
      .join(', '),
  }),
  todo_write: () => ({ icon: 'checklist', verb: t('Update the plan'), what: '' }),
  todo: (a) => ({ icon: 'checklist', verb: t('Update the plan'), what: oneLine(str(a.task) || str(a.phase)) }),
  ask: (a) => ({ icon: 'question', verb: t('Ask'), what: oneLine(str(obj(list(a.questions)[0]).question)) }),
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
  search: 'grep',
};

/** The maximum length of a subject, in UTF-16 units: rows of commands that differ late are distinguished. */
const maxWhat = 1000;

/** Describes a call in words. The longest text is truncated; the call's details contain all of it. */
export function describe(block: ContentBlock, cwd: string): Described {
  const args = obj(block.arguments);
  const name = str(block.name);
  const known = otherNames[name] ?? name;
  const own = Object.hasOwn(tools, known)
    ? tools[known]!(args, cwd)
    : { verb: name || t('tool'), what: firstText(args) };
  const d = { icon: 'tools', path: '', line: 0, verb: '', what: '', ...own };
  return { ...d, verb: visible(d.verb), what: visible(d.what.slice(0, maxWhat)) };
}

function firstText(args: { [key: string]: unknown }): string {
  const text = Object.values(args).find((v): v is string => typeof v === 'string' && v.trim() !== '');
  return oneLine((text ?? '').slice(0, 300));
}

/** Describes the scope of a rule: the server's exact words, or words built from its fields. */
export function ruleText(r: ApprovalRule): string {
  if (r.text) return r.text;
  if (r.edit) return t('edits to files in this folder, except protected files');
  if (r.exact && r.words?.length) return r.words.join(' ');
  if (r.line) return r.line;
  return r.tool ? t('the {0} tool', r.tool) : t('similar calls');
}

const grouping = new Intl.NumberFormat('en');

/** Formats a number of tokens in short form. */
export function tokenText(n: number): string {
  if (n < 1000) return String(n);
  if (n < 99_950) return (n / 1000).toFixed(1).replace(/\.0$/, '') + 'k';
  return n < 999_500 ? Math.round(n / 1000) + 'k' : (n / 1e6).toFixed(1).replace(/\.0$/, '') + 'M';
}

export const exact = (n: number) => grouping.format(n);

/** Formats US dollars; small amounts keep two significant digits. */
export function costText(dollars: number): string {
  if (dollars <= 0) return '';
  if (dollars < 0.01) return '<$0.01';
  return '$' + dollars.toFixed(dollars < 100 ? 2 : 0);
}

/** The words for another program's branch, by the program that continued there. */
export function foreignText({ program }: ForeignBranch): string {
  return program ? t('{0} continued on another branch.', program) : t('Another program continued on another branch.');
}
