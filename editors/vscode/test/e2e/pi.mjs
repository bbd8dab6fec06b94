// The real pi, installed for the user of an editor and logged in to a model service of the test.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const peers = fileURLToPath(new URL('../../../../bench/peers/node_modules/', import.meta.url));
const cli = join(peers, '@earendil-works/pi-coding-agent/dist/bundle/cli.js');

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Returns an extension that registers the provider local. */
const subscription = (provider) => `export default function (pi: any) {
  const refused = () => { throw new Error('This login is complete.'); };
  const oauth = { name: 'Subscription', login: refused, refreshToken: refused, getApiKey: (login: any) => login.access };
  pi.registerProvider('local', { ...${provider}, oauth });
}
`;

/** Returns why the real pi cannot run, "" if it can. */
export const missing = () => (existsSync(cli) ? '' : 'pi is not installed; run bench/peers/install.sh pi');

export class Pi {
  constructor(editor) {
    this.editor = editor;
    this.agent = join(editor.home, '.pi/agent');
  }

  /** Installs pi, like npm with a prefix in the home directory, and a Node.js beside it. */
  install() {
    const bin = join(this.editor.home, '.local/bin');
    mkdirSync(bin, { recursive: true });
    symlinkSync(cli, join(bin, 'pi'));
    symlinkSync(process.execPath, join(bin, 'node'));
    return this;
  }

  /** Writes a file of pi's configuration. */
  write(name, text) {
    const path = join(this.agent, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Logs the user in to a subscription, with the model local/m of a service. Only pi knows this kind of login. */
  logIn(service, access) {
    const { apiKey: _, ...provider } = service.provider('');
    const models = provider.models.map((model) => ({ ...model, reasoning: false, cost }));
    this.write('extensions/subscription.ts', subscription(JSON.stringify({ ...provider, models })));
    const expires = Date.now() + 86_400_000;
    this.write('auth.json', JSON.stringify({ local: { type: 'oauth', access, refresh: 'none', expires } }));
    const settings = { defaultProvider: 'local', defaultModel: 'm', enableInstallTelemetry: false };
    this.write('settings.json', JSON.stringify(settings));
  }

  /** Runs pi in the folder, like in a terminal, and returns its output. It must not fail. */
  async run(...args) {
    const { editor } = this;
    const bin = join(editor.home, '.local/bin');
    const child = spawn(join(bin, 'pi'), args, {
      cwd: editor.folder,
      env: { ...editor.env(), PATH: `${bin}:${process.env.PATH}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (output += data));
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
    if (code !== 0) {
      throw new Error(`pi ${args.join(' ')} ended with status ${code}: ${output}`);
    }
    return output;
  }
}
