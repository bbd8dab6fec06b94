import { execFile } from 'node:child_process';

import { wireVersion } from '../wire.gen';

/** The timeout for a program to print its version, in milliseconds. */
const timeoutMs = 5000;

/**
 * Asks a program for its version: "0.3.1" for "xcsh-ls 0.3.1". Rejects with a short reason if it
 * does not respond like the server.
 */
export function probeVersion(program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, ['version'], { timeout: timeoutMs, windowsHide: true }, (error, stdout, stderr) => {
      const version = versionIn(stdout);
      if (version !== undefined) {
        resolve(version);
      } else {
        const output = (stderr.trim() || stdout.trim() || error?.message || 'no output').split('\n')[0] ?? '';
        reject(new Error(output));
      }
    });
    child.stdin?.end();
  });
}

export function versionIn(output: string): string | undefined {
  return /^xcsh-ls (\S+)/.exec(output)?.[1];
}

/** The server's description in an initialize result. */
export interface Introduction {
  readonly version: string;
  /** Set if the server uses another version of the custom methods than this extension. */
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
