// The messages between the chat page and the extension. Both sides validate them with the functions
// of this file: the page shows text that a model wrote, so the extension grants it only the
// operations listed here.

/** The commands that the page may run; each gets the `cwd` of the panel's folder from the extension. */
export const allowedCommands: readonly string[] = [
  'xcsh.abort',
  'xcsh.answer',
  'xcsh.bash',
  'xcsh.branch',
  'xcsh.changes',
  'xcsh.chooseBranch',
  'xcsh.commands',
  'xcsh.compact',
  'xcsh.editQueued',
  'xcsh.engines',
  'xcsh.followUp',
  'xcsh.history',
  'xcsh.keep',
  'xcsh.messages',
  'xcsh.models',
  'xcsh.prompt',
  'xcsh.providers',
  'xcsh.recent',
  'xcsh.rename',
  'xcsh.rewind',
  'xcsh.setApproval',
  'xcsh.setModel',
  'xcsh.setThinking',
  'xcsh.snapshot',
  'xcsh.state',
  'xcsh.stats',
  'xcsh.steer',
  'xcsh.stopBackground',
  'xcsh.tree',
];

/** Commands that need additional input, which the extension requests in the window. */
export const windowCommands = [
  'new',
  'resume',
  'fork',
  'export',
  'model',
  'thinking',
  'approval',
  'mode',
  'engine',
  'login',
  'addKey',
  'compact',
  'history',
  'notifications',
  'restart',
  'log',
] as const;
export type WindowCommand = (typeof windowCommands)[number];

/** Commands of buttons, those that the server sends with a failure among them. The extension runs them, and asks for what is missing. */
export const actionCommands = [
  'xcsh.login',
  'xcsh.setEngine',
  'xcsh.setKey',
  'xcsh.setModel',
  'xcsh.transcript',
] as const;
export type ActionCommand = (typeof actionCommands)[number];

/** Why a session is shown without being resumed. `free` and `live` are shown so only in an editor tab. */
export const readingStates = [
  'free',
  'live',
  'locked',
  'terminal',
  'working',
  'elsewhere',
  'fixed',
  'restricted',
  'followed',
] as const;
export type ReadingState = (typeof readingStates)[number];

/** The user's ways to continue with such a session. */
export const readingActions = [
  'continue',
  'fork',
  'retry',
  'terminal',
  'takeOver',
  'editor',
  'folder',
  'trust',
  'close',
] as const;
export type ReadingAction = (typeof readingActions)[number];

/** A session that the page shows without resuming it. */
export interface Reading {
  path: string;
  name: string;
  place: 'panel' | 'tab';
  state: ReadingState;
  by: string; // for locked: the program that has it open; for followed: the user who writes it, and the device
}

/** Returns the arguments of such a command that a page may choose. The window asks for a key, and the page never has one. */
export function actionArgs(command: ActionCommand, args: JsonObject): JsonObject {
  if (command === 'xcsh.transcript') return typeof args['source'] === 'string' ? { source: args['source'] } : {};
  if (command !== 'xcsh.setKey') return args;
  return typeof args['provider'] === 'string' ? { provider: args['provider'] } : {};
}

/** Where a fork ends: before a prompt, which is returned for editing, or after an entry. */
export const forkPositions = ['before', 'at'] as const;
export type ForkPosition = (typeof forkPositions)[number];

export const decisions = ['once', 'session', 'workspace', 'deny', 'session-wider', 'workspace-wider'] as const;
export type Decision = (typeof decisions)[number];

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: unknown };

/** A position in a text, as in LSP: both numbers from 0. */
export interface Position {
  line: number;
  character: number;
}

/** A file, or a part of one, that is attached to a prompt. `name` is its label. */
export interface Attachment {
  uri: string;
  name: string;
  range?: { start: Position; end: Position };
}

/** Something that a prompt can refer to with @. The name of a folder ends with a slash. */
export interface FoundReference {
  kind: 'file' | 'folder' | 'symbol';
  name: string;
  about: string; // where a symbol is
}

/** A workspace folder. */
export interface ChatFolder {
  cwd: string;
  name: string;
}

/** The state of the server that the user sees. */
export type ServerState = 'starting' | 'running' | 'stopped';

/** A failed call. `kind` is one of the wire protocol's kinds. */
export interface CallError {
  message: string;
  kind: string;
  data?: JsonObject;
}

/** A place in a file. Numbers are counted from 1. */
export interface Spot {
  line: number;
  column: number;
  endLine: number;
}

/** A block of code in an answer. `path` is the file that the text names for it; `fromFence` if the block itself does. */
export interface CodeBlock {
  code: string;
  language: string;
  path: string;
  fromFence: boolean;
}

/** The planned change of a file, with the fields that are shown. */
export interface PlannedFile {
  path: string;
  action: string;
  by: string[];
  places: { start: number; end: number }[]; // lines of conflicts, from 1
  yours: { start: number; end: number }[]; // lines of the user that stay
}

/** The maximum number of files of a plan that are shown at once. */
export const maxPlanned = 500;

/** The maximum number of paths in a question about mentioned files. */
export const maxMentioned = 100;

/** A message from the page. Numbers identify calls and are never reused by a page. */
export type FromPage =
  | { kind: 'ready' }
  | { kind: 'call'; id: number; command: string; args: JsonObject }
  | { kind: 'cancel'; id: number }
  | { kind: 'decide'; prompt: string; decision: Decision; reason?: string } // why it is denied, for the model
  | { kind: 'window'; command: WindowCommand }
  | { kind: 'act'; command: ActionCommand; args: JsonObject }
  | { kind: 'fork'; entryId: string; position: ForkPosition }
  | { kind: 'resume'; path: string }
  | { kind: 'reading'; action: ReadingAction }
  | { kind: 'findReferences'; id: number; query: string }
  | { kind: 'knownPaths'; id: number; names: string[] } // asks which of the names are files or folders
  | { kind: 'pickFiles' }
  | { kind: 'attachSelection' }
  | { kind: 'dropped'; uris: string[] }
  | { kind: 'droppedFile'; name: string; data: string } // from outside of the editor; in base64
  | { kind: 'selectFolder'; cwd: string }
  | { kind: 'findMentioned'; id: number; paths: string[] }
  | ({ kind: 'openFile'; path: string } & Partial<Spot>)
  | { kind: 'openLink'; url: string }
  | { kind: 'openDiff'; path: string; patch: string; prompt?: string } // prompt: the approval that the change waits for
  | { kind: 'review'; since: string; path?: string; records?: string[] } // shows changes: of the session or records, of all files or one
  | { kind: 'openPlanned'; planned: PlannedFile[] } // shows the planned changes of files
  | { kind: 'copy'; text: string }
  | { kind: 'insertCode'; code: string }
  | ({ kind: 'applyCode' } & CodeBlock)
  | { kind: 'title'; text: string }
  | { kind: 'focused'; on: boolean }
  | { kind: 'keep'; kept: JsonObject };

/** Sent to a page when it is ready, and when the folder changes. */
export interface Init {
  kind: 'init';
  server: ServerState;
  folders: ChatFolder[];
  cwd: string | null;
  commands: string[];
  contexts?: string[]; // what a prompt can refer to in the editor
  trusted: boolean;
  texts: { [english: string]: string }; // in the language of the window; empty for English
  kept: JsonObject | null; // the state that an earlier page saved
  reading?: Reading; // absent for the folder's live session
  now: number; // the clock of the server's machine, in milliseconds since 1970
}

/** A message to the page. */
export type ToPage =
  | Init
  | { kind: 'answer'; id: number; result?: unknown; error?: CallError }
  | { kind: 'event'; params: unknown }
  | { kind: 'session'; params: unknown }
  | { kind: 'models' } // a key, a local server, or the choice of a model changed
  | { kind: 'read'; params: unknown } // the session was shown early, and is read whole now
  | { kind: 'server'; state: ServerState; message?: string }
  | { kind: 'approve'; request: unknown }
  | { kind: 'attach'; attachments: Attachment[] }
  | { kind: 'refer'; references: string[] } // to be added to the text
  | { kind: 'editor'; file: Attachment | null }
  | { kind: 'compose'; text: string; send: boolean }
  | { kind: 'focus' }
  | { kind: 'find' }
  | { kind: 'rewind'; entryId: string } // shows the plan of a rewind to before a prompt, or to after another entry
  | { kind: 'reading'; reading: Reading; trusted: boolean } // the ways to continue changed
  | { kind: 'reveal'; entryId: string; words: string[] }; // scrolls to a message, and marks words in it

const maxText = 32 << 20; // UTF-16 units; images are included
const maxPath = 8192;
const maxCode = 1 << 20; // UTF-16 units
const maxReason = 4000;

/** The most names in one question about paths. */
export const maxNames = 50;

/** The largest file that is dropped from outside of the editor, in bytes. */
export const maxDroppedBytes = 8 << 20;

export function isObject(v: unknown): v is JsonObject {
  return typeof v === 'object' && v !== null && !Array.isArray(v);
}

const isText = (v: unknown, most = maxText): v is string => typeof v === 'string' && v.length <= most;
const isNumber = (v: unknown): v is number => typeof v === 'number' && Number.isSafeInteger(v) && v >= 0;
const isTexts = (v: unknown, most: number): v is string[] =>
  Array.isArray(v) && v.length <= most && v.every((text) => isText(text, maxPath));
const isOneOf = <T extends string>(list: readonly T[], v: unknown): v is T => list.includes(v as T);

const isLines = (v: unknown) => isObject(v) && isNumber(v['start']) && isNumber(v['end']);
const isPlanned = (v: unknown) =>
  isObject(v) &&
  isText(v['path'], maxPath) &&
  isText(v['action'], 100) &&
  isTexts(v['by'], 10_000) &&
  isList(v['places'], isLines) &&
  isList(v['yours'], isLines);

const pageChecks: { [K in FromPage['kind']]: (m: JsonObject) => boolean } = {
  ready: () => true,
  call: (m) => isNumber(m['id']) && isText(m['command'], 100) && isObject(m['args']),
  cancel: (m) => isNumber(m['id']),
  decide: (m) =>
    isText(m['prompt'], maxPath) &&
    isOneOf(decisions, m['decision']) &&
    (m['reason'] === undefined || (m['decision'] === 'deny' && isText(m['reason'], maxReason))),
  window: (m) => isOneOf(windowCommands, m['command']),
  act: (m) => isOneOf(actionCommands, m['command']) && isObject(m['args']),
  fork: (m) => isText(m['entryId'], 100) && isOneOf(forkPositions, m['position']),
  resume: (m) => isText(m['path'], maxPath),
  reading: (m) => isOneOf(readingActions, m['action']),
  findReferences: (m) => isNumber(m['id']) && isText(m['query'], maxPath),
  knownPaths: (m) => isNumber(m['id']) && isTexts(m['names'], maxNames),
  pickFiles: () => true,
  attachSelection: () => true,
  dropped: (m) => isTexts(m['uris'], 1000),
  droppedFile: (m) => isText(m['name'], 1000) && isText(m['data'], 2 * maxDroppedBytes),
  selectFolder: (m) => isText(m['cwd'], maxPath),
  findMentioned: (m) =>
    isNumber(m['id']) &&
    isList(m['paths'], (p) => isText(p, maxPath)) &&
    (m['paths'] as string[]).length <= maxMentioned,
  openFile: (m) =>
    isText(m['path'], maxPath) && [m['line'], m['column'], m['endLine']].every((n) => n === undefined || isNumber(n)),
  openLink: (m) => isText(m['url'], maxPath),
  openDiff: (m) =>
    isText(m['path'], maxPath) && isText(m['patch']) && (m['prompt'] === undefined || isText(m['prompt'], maxPath)),
  review: (m) =>
    isText(m['since'], 100) &&
    (m['path'] === undefined || isText(m['path'], maxPath)) &&
    (m['records'] === undefined || isTexts(m['records'], 100_000)),
  openPlanned: (m) => isList(m['planned'], isPlanned) && (m['planned'] as unknown[]).length <= maxPlanned,
  copy: (m) => isText(m['text']),
  insertCode: (m) => isText(m['code'], maxCode),
  applyCode: (m) =>
    isText(m['code'], maxCode) &&
    isText(m['language'], 100) &&
    isText(m['path'], maxPath) &&
    typeof m['fromFence'] === 'boolean',
  title: (m) => isText(m['text'], 1000),
  focused: (m) => typeof m['on'] === 'boolean',
  keep: (m) => isObject(m['kept']),
};

/** Returns the message if it is a valid message from a page, else undefined. */
export function fromPage(m: unknown): FromPage | undefined {
  if (!isObject(m) || typeof m['kind'] !== 'string' || !Object.hasOwn(pageChecks, m['kind'])) return undefined;
  return pageChecks[m['kind'] as FromPage['kind']](m) ? (m as unknown as FromPage) : undefined;
}

const serverStates: readonly ServerState[] = ['starting', 'running', 'stopped'];

const isPosition = (v: unknown) => isObject(v) && isNumber(v['line']) && isNumber(v['character']);

function isAttachment(v: unknown): boolean {
  if (!isObject(v) || !isText(v['uri'], maxPath) || !isText(v['name'], maxPath)) return false;
  return (
    v['range'] === undefined ||
    (isObject(v['range']) && isPosition(v['range']['start']) && isPosition(v['range']['end']))
  );
}

const isFolder = (v: unknown) => isObject(v) && isText(v['cwd'], maxPath) && isText(v['name'], maxPath);
const isList = (v: unknown, each: (v: unknown) => boolean) => Array.isArray(v) && v.every(each);

const isReading = (v: unknown) =>
  isObject(v) &&
  isText(v['path'], maxPath) &&
  isText(v['name']) &&
  isOneOf(['panel', 'tab'], v['place']) &&
  isOneOf(readingStates, v['state']) &&
  isText(v['by']);

const hostChecks: { [K in ToPage['kind']]: (m: JsonObject) => boolean } = {
  init: (m) =>
    isOneOf(serverStates, m['server']) &&
    isList(m['folders'], isFolder) &&
    (m['cwd'] === null || isText(m['cwd'], maxPath)) &&
    isList(m['commands'], (c) => isText(c, 100)) &&
    (m['contexts'] === undefined || isList(m['contexts'], (c) => isText(c, 100))) &&
    typeof m['trusted'] === 'boolean' &&
    isObject(m['texts']) &&
    Object.values(m['texts']).every((text) => isText(text)) &&
    (m['kept'] === null || isObject(m['kept'])) &&
    (m['reading'] === undefined || isReading(m['reading'])) &&
    isNumber(m['now']),
  answer: (m) =>
    isNumber(m['id']) &&
    (m['error'] === undefined ||
      (isObject(m['error']) && isText(m['error']['message']) && isText(m['error']['kind'], 100))),
  event: (m) => isObject(m['params']),
  session: (m) => isObject(m['params']),
  models: () => true,
  read: (m) => isObject(m['params']) && isText(m['params']['sessionId'], maxPath),
  server: (m) => isOneOf(serverStates, m['state']) && (m['message'] === undefined || isText(m['message'])),
  approve: (m) => isObject(m['request']) && isText(m['request']['id'], maxPath),
  attach: (m) => isList(m['attachments'], isAttachment),
  refer: (m) => isTexts(m['references'], 100),
  editor: (m) => m['file'] === null || isAttachment(m['file']),
  compose: (m) => isText(m['text']) && typeof m['send'] === 'boolean',
  focus: () => true,
  find: () => true,
  rewind: (m) => isText(m['entryId'], 100),
  reading: (m) => isReading(m['reading']) && typeof m['trusted'] === 'boolean',
  reveal: (m) => isText(m['entryId'], maxPath) && isList(m['words'], (w) => isText(w, maxPath)),
};

/** Returns the message if it is a valid message to a page, else undefined. */
export function toPage(m: unknown): ToPage | undefined {
  if (!isObject(m) || typeof m['kind'] !== 'string' || !Object.hasOwn(hostChecks, m['kind'])) return undefined;
  return hostChecks[m['kind'] as ToPage['kind']](m) ? (m as unknown as ToPage) : undefined;
}
