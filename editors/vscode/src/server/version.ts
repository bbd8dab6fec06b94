import { execFile } from 'node:child_process';

import { wireVersion } from '../wire.gen';

/** How long a program may take to say its version, in milliseconds. */
const patienceMs = 5000;

/**
 * Asks a program for its version: "0.3.1" for "xcsh-ls 0.3.1". Rejects with a short
 * reason when it does not answer as the server does.
 */
export function probeVersion(program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      ['version'],
      { timeout: patienceMs, windowsHide: true },
      (error, stdout, stderr) => {
        const version = versionIn(stdout);
        if (version !== undefined) {
          resolve(version);
        } else {
          const said = (stderr.trim() || stdout.trim() || error?.message || 'it said nothing').split('\n')[0] ?? '';
          reject(new Error(said));
        }
      },
    );
    child.stdin?.end();
  });
}

export function versionIn(said: string): string | undefined {
  return /^xcsh-ls (\S+)/.exec(said)?.[1];
}

/** What an initialize result says of the server. */
export interface Introduction {
  readonly version: string;
  /** It speaks another version of the custom methods than this extension. */
  readonly mismatch?: { readonly theirs: number | undefined; readonly ours: number };
}

export function introduction(result: unknown): Introduction {
  const { serverInfo, capabilities } = (result ?? {}) as {
    serverInfo?: { name?: string; version?: string };
    capabilities?: { experimental?: { xcsh?: { wireVersion?: unknown } } };
  };
  const version = serverInfo?.version ?? '';
  const theirs = capabilities?.experimental?.xcsh?.wireVersion;
  if (theirs === wireVersion) {
    return { version };
  }
  return { version, mismatch: { theirs: typeof theirs === 'number' ? theirs : undefined, ours: wireVersion } };
}
