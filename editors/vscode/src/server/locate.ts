import { accessSync, chmodSync, constants, statSync } from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

/** The environment in which programs are searched; tests provide their own. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** Reports whether it is an executable file. */
  executable(file: string): boolean;
  /** Makes a file of the extension executable; archives can lose the permission. */
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
  /** The setting names a file that cannot be run. No other location is tried, because it was set explicitly. */
  | { readonly kind: 'wrongSetting'; readonly path: string }
  | { readonly kind: 'missing' };

/** Finds the server: at the configured path, in the extension, on PATH, or in the directory of "go install". */
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

/** Returns the file that a shell would run for a program's name, or a file in the directory of "go install". */
export function findProgram(name: string, machine: Machine = thisMachine): string | undefined {
  const at = pathOf(machine);
  if (at.isAbsolute(name)) {
    return runnable(name, machine);
  }
  const { env, home } = machine;
  const goPath = env['GOPATH']?.split(at.delimiter)[0] ?? at.join(home, 'go');
  const dirs = [...(env['PATH'] ?? env['Path'] ?? '').split(at.delimiter), env['GOBIN'] ?? at.join(goPath, 'bin')];
  for (const dir of dirs) {
    // An empty or relative entry means the current directory, whose content is untrusted.
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
