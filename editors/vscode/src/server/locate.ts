import { accessSync, chmodSync, constants, statSync } from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

/** Where programs are looked for; a test brings its own. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** It is a file that may be run. */
  executable(file: string): boolean;
  /** Makes a file that came with the extension executable; archives may have lost that. */
  makeExecutable(file: string): void;
  exists(file: string): boolean;
}

export const thisMachine: Machine = {
  platform: process.platform,
  env: process.env,
  home: os.homedir(),
  executable(file) {
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  },
  makeExecutable: (file) => chmodSync(file, 0o755),
  exists: (file) => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false,
};

export type Located =
  | { readonly kind: 'found'; readonly path: string; readonly from: 'settings' | 'extension' | 'path' }
  /** The setting names something that cannot be run. Nothing else is tried: the person chose. */
  | { readonly kind: 'wrongSetting'; readonly path: string }
  | { readonly kind: 'missing' };

/** Looks for the server: where the setting says, in the extension, on PATH, where "go install" puts it. */
export function locateServer(setting: string, extensionDir: string, machine: Machine = thisMachine): Located {
  const at = pathOf(machine);
  if (setting !== '') {
    const wanted = expandHome(setting, machine);
    const found = at.isAbsolute(wanted) ? runnable(wanted, machine) : findProgram(wanted, machine);
    return found ? { kind: 'found', path: found, from: 'settings' } : { kind: 'wrongSetting', path: wanted };
  }
  const bundled = at.join(extensionDir, 'bin', machine.platform === 'win32' ? 'xcsh-ls.exe' : 'xcsh-ls');
  if (machine.exists(bundled)) {
    if (!machine.executable(bundled)) {
      machine.makeExecutable(bundled);
    }
    return { kind: 'found', path: bundled, from: 'extension' };
  }
  const found = findProgram('xcsh-ls', machine);
  return found ? { kind: 'found', path: found, from: 'path' } : { kind: 'missing' };
}

/** The file that a shell would run for a program's name, or where Go puts programs. */
export function findProgram(name: string, machine: Machine = thisMachine): string | undefined {
  const at = pathOf(machine);
  if (at.isAbsolute(name)) {
    return runnable(name, machine);
  }
  const { env, home } = machine;
  const goPath = env['GOPATH']?.split(at.delimiter)[0] ?? at.join(home, 'go');
  const dirs = [...(env['PATH'] ?? env['Path'] ?? '').split(at.delimiter), env['GOBIN'] ?? at.join(goPath, 'bin')];
  for (const dir of dirs) {
    // An empty or relative entry means the current directory, which may be anybody's.
    if (at.isAbsolute(dir)) {
      const found = runnable(at.join(dir, name), machine);
      if (found) {
        return found;
      }
    }
  }
  return undefined;
}

function runnable(file: string, machine: Machine): string | undefined {
  const endings = machine.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : [''];
  return endings.map((ending) => file + ending).find((candidate) => machine.executable(candidate));
}

function expandHome(file: string, machine: Machine): string {
  return /^~(?=$|[\\/])/.test(file) ? machine.home + file.slice(1) : file;
}

function pathOf(machine: Machine): path.PlatformPath {
  return machine.platform === 'win32' ? path.win32 : path.posix;
}
