import type { ApprovalMode, ThinkingLevel } from './wire.gen';

/** Reads one setting below xcshLs. */
export interface SettingsReader {
  get(name: string): unknown;
}

/** The keys that the server reads from its section, too. The others are the extension's. */
const serverTexts = ['agentDir', 'sessionDir', 'model', 'thinkingLevel', 'approval'] as const;

/** The section xcshLs as the server takes it. What is not set is left out: then its default holds. */
export interface ServerSettings {
  agentDir?: string;
  sessionDir?: string;
  roots?: string[];
  persist?: boolean;
  model?: string;
  thinkingLevel?: ThinkingLevel;
  approval?: ApprovalMode;
  history?: { enabled: false };
  showResumeSummary?: false;
  /** The extension asks for what is missing, and shows permission requests. */
  ui: { pick: true; hooks: true };
}

export function serverSettings(settings: SettingsReader): ServerSettings {
  const found: Record<string, unknown> = {};
  for (const key of serverTexts) {
    const value = settings.get(key);
    if (typeof value === 'string' && value !== '') {
      found[key] = value;
    }
  }
  const roots = settings.get('roots');
  if (Array.isArray(roots) && roots.length > 0) {
    found['roots'] = roots;
  }
  for (const key of ['persist', 'showResumeSummary']) {
    if (settings.get(key) === false) {
      found[key] = false;
    }
  }
  if (settings.get('history.enabled') === false) {
    found['history'] = { enabled: false };
  }
  return { ...found, ui: { pick: true, hooks: true } };
}

/** What the extension itself does differently by settings. */
export interface OwnSettings {
  readonly serverPath: string;
  readonly logLevel: string;
  readonly allFolders: boolean;
  readonly exportFormat: 'html' | 'markdown' | 'jsonl';
  readonly redactExports: boolean;
  readonly dumpTo: 'ask' | 'clipboard' | 'editor' | 'file';
  readonly terminalProgram: string;
  readonly statusBar: boolean;
}

export function ownSettings(settings: SettingsReader): OwnSettings {
  return {
    serverPath: text(settings.get('server.path'), '').trim(),
    logLevel: text(settings.get('server.logLevel'), 'info'),
    allFolders: settings.get('sessions.scope') === 'all',
    exportFormat: oneOf(settings.get('export.format'), ['html', 'markdown', 'jsonl']),
    redactExports: settings.get('export.redact') === true,
    dumpTo: oneOf(settings.get('dump.to'), ['ask', 'clipboard', 'editor', 'file']),
    terminalProgram: text(settings.get('terminal.program'), 'xcsh').trim(),
    statusBar: settings.get('statusBar.visible') !== false,
  };
}

function text(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** The value if it is one of those, else the first. */
function oneOf<T extends string>(value: unknown, values: readonly [T, ...T[]]): T {
  return values.find((v) => v === value) ?? values[0];
}
