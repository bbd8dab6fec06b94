import { senseRequests, type SenseRequest } from './senses/requests';
import type { ApprovalMode, ThinkingLevel } from './wire.gen';

/** Reads one setting below xcshLs. */
export interface SettingsReader {
  get(name: string): unknown;
}

/** The values of one setting, as returned by VS Code's inspect. */
interface Inspected {
  readonly defaultValue?: unknown;
  readonly globalValue?: unknown;
}

/** The section of the settings, as VS Code provides it. */
interface Section {
  get(name: string): unknown;
  inspect(name: string): Inspected | undefined;
}

/**
 * The settings that determine the programs to run, their permissions, and the location of keys and
 * sessions. They have machine scope in the manifest: only the user's own settings apply. Values
 * from a workspace folder are ignored, whichever editor runs the extension.
 */
export const machineSettings = [
  'server.path',
  'server.logLevel',
  'approval',
  'sandbox',
  'retries',
  'retryLimit',
  'cacheRetention',
  'cache.maxBytes',
  'rememberModel',
  'keys.commands',
  'engine',
  'engineIdle',
  'engineExtensions',
  'agentDir',
  'sessionDir',
  'roots',
  'export.redact',
  'terminal.program',
  'changes.capture',
  'changes.maxFile',
  'changes.maxSession',
  'changes.exclude',
  'changes.required',
  'changes.commandLook',
  'team.service',
  'team.url',
  'team.passwordCommand',
  'team.insecure',
  'team.flush',
] as const;

/** Returns a reader of the settings that reads those of machine scope only from the user's own settings. */
export function userSettings(section: () => Section): SettingsReader {
  const own: readonly string[] = machineSettings;
  return {
    get: (name) => {
      const now = section();
      if (!own.includes(name)) {
        return now.get(name);
      }
      const known = now.inspect(name);
      return known?.globalValue ?? known?.defaultValue;
    },
  };
}

/** The keys that the server also reads from its section. The others are used only by the extension. */
const serverTexts = [
  'agentDir',
  'sessionDir',
  'model',
  'thinkingLevel',
  'approval',
  'sandbox',
  'saveEdits',
  'cacheRetention',
] as const;

/** The section xcshLs in the server's format. Unset values are omitted, so that the server's defaults apply. */
export interface ServerSettings {
  agentDir?: string;
  sessionDir?: string;
  roots?: string[];
  persist?: boolean;
  model?: string;
  thinkingLevel?: ThinkingLevel;
  approval?: ApprovalMode;
  sandbox?: 'on' | 'off';
  saveEdits?: 'auto' | 'ask' | 'off';
  retries?: number;
  retryLimit?: number;
  cacheRetention?: 'auto' | 'short' | 'long';
  cache?: { maxBytes: number };
  changes?: {
    capture?: string;
    maxFile?: number;
    maxSession?: number;
    exclude?: string[];
    required?: true;
    commandLook?: number;
  };
  team?: { service?: string; url?: string; passwordCommand?: string; insecure?: true; flush?: number };
  rememberModel?: false;
  diagnosticsAfterEdit?: false;
  engine?: string | object;
  engineIdle?: number;
  engineExtensions?: true;
  history?: { enabled: false };
  keys?: { commands: false };
  showResumeSummary?: false;
  export?: { open: false };
  /** The user has not trusted the workspace. The server then refuses all commands that make changes. */
  restricted: boolean;
  /** The settings of the engine are the user's own, also in the section. */
  machineScope: true;
  /** The extension shows a large session before it is read whole. */
  lateValues: true;
  /** The extension asks for missing arguments, shows permission requests, saves documents, and answers requests about code. */
  ui: { pick: true; hooks: true; save: true; editor: readonly SenseRequest[] };
}

export function serverSettings(settings: SettingsReader, trusted: boolean): ServerSettings {
  const found: Record<string, unknown> = {};
  for (const key of serverTexts) {
    const value = settings.get(key);
    if (typeof value === 'string' && value !== '') {
      found[key] = value;
    }
  }
  const engine = settings.get('engine');
  if (engine !== null && engine !== undefined && engine !== '') {
    found['engine'] = engine; // the server checks it
  }
  if (settings.get('engineExtensions') === true) {
    found['engineExtensions'] = true;
  }
  for (const key of ['retries', 'retryLimit', 'engineIdle']) {
    const value = settings.get(key);
    if (value !== null && value !== undefined) {
      found[key] = value; // the server checks it
    }
  }
  const maxBytes = settings.get('cache.maxBytes');
  if (maxBytes !== null && maxBytes !== undefined) {
    found['cache'] = { maxBytes };
  }
  const changes = changesSettings(settings);
  if (Object.keys(changes).length > 0) {
    found['changes'] = changes;
  }
  const team = teamSettings(settings);
  if (Object.keys(team).length > 0) {
    found['team'] = team;
  }
  const roots = settings.get('roots');
  if (Array.isArray(roots) && roots.length > 0) {
    found['roots'] = roots;
  }
  for (const key of ['persist', 'showResumeSummary', 'rememberModel', 'diagnosticsAfterEdit']) {
    if (settings.get(key) === false) {
      found[key] = false;
    }
  }
  if (settings.get('history.enabled') === false) {
    found['history'] = { enabled: false };
  }
  if (settings.get('keys.commands') === false) {
    found['keys'] = { commands: false };
  }
  if (settings.get('export.open') === false) {
    found['export'] = { open: false };
  }
  return {
    ...found,
    restricted: !trusted,
    machineScope: true,
    lateValues: true,
    ui: { pick: true, hooks: true, save: true, editor: senseRequests },
  };
}

/** Returns the configured settings of recorded changes. The server validates them. */
function changesSettings(settings: SettingsReader): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const key of ['capture', 'maxFile', 'maxSession', 'commandLook']) {
    const value = settings.get(`changes.${key}`);
    if (value !== null && value !== undefined && value !== '' && value !== 'all') {
      found[key] = value;
    }
  }
  const exclude = settings.get('changes.exclude');
  if (Array.isArray(exclude) && exclude.length > 0) {
    found['exclude'] = exclude;
  }
  if (settings.get('changes.required') === true) {
    found['required'] = true;
  }
  return found;
}

/** Returns the configured settings of the team store. The server validates them, and refuses an address with a password. */
function teamSettings(settings: SettingsReader): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const key of ['service', 'url', 'passwordCommand', 'flush']) {
    const value = settings.get(`team.${key}`);
    if (value !== null && value !== undefined && value !== '') {
      found[key] = value;
    }
  }
  if (settings.get('team.insecure') === true) {
    found['insecure'] = true;
  }
  return found;
}

/** The settings that affect only the extension. */
export interface OwnSettings {
  readonly serverPath: string;
  readonly logLevel: string;
  readonly allFolders: boolean;
  readonly exportFormat: 'html' | 'markdown' | 'jsonl';
  readonly redactExports: boolean;
  readonly dumpTo: 'ask' | 'clipboard' | 'editor' | 'file';
  readonly terminalProgram: string;
  readonly statusBar: boolean;
  readonly notifications: 'whenHidden' | 'requests' | 'off';
  readonly changeLenses: boolean;
}

export function ownSettings(settings: SettingsReader): OwnSettings {
  return {
    serverPath: text(settings.get('server.path'), '').trim(),
    logLevel: text(settings.get('server.logLevel'), 'info'),
    allFolders: settings.get('sessions.scope') === 'all',
    exportFormat: oneOf(settings.get('export.format'), ['html', 'markdown', 'jsonl']),
    redactExports: settings.get('export.redact') !== false,
    dumpTo: oneOf(settings.get('dump.to'), ['ask', 'clipboard', 'editor', 'file']),
    terminalProgram: text(settings.get('terminal.program'), 'xcsh').trim(),
    statusBar: settings.get('statusBar.visible') !== false,
    notifications: oneOf(settings.get('notifications'), ['whenHidden', 'requests', 'off']),
    changeLenses: settings.get('changes.codeLens') === true,
  };
}

function text(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** Returns the value if it is one of those listed, else the first one. */
function oneOf<T extends string>(value: unknown, values: readonly [T, ...T[]]): T {
  return values.find((v) => v === value) ?? values[0];
}
