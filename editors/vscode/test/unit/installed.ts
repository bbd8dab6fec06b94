import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { wireVersion } from '../../src/wire.gen';

/** Returns a directory of an extension with a server, which the recorder plays. The caller removes it. */
export function installedExtension(values: Record<string, unknown>): string {
  const dir = mkdtempSync(join(tmpdir(), 'xcsh-extension-'));
  const program = join(dir, 'bin', process.platform === 'win32' ? 'xcsh-ls.exe' : 'xcsh-ls');
  mkdirSync(join(dir, 'bin'));
  writeFileSync(program, '');
  chmodSync(program, 0o755);
  values['new LanguageClient.initializeResult'] = {
    serverInfo: { name: 'xcsh-ls', version: '1.2.3' },
    capabilities: { experimental: { xcsh: { wireVersion } } },
  };
  return dir;
}
