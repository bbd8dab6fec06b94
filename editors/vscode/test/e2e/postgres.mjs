// A cluster of PostgreSQL for a scenario, with the store of a team in it, and the machines of its users.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { freePort } from './stage.mjs';
import { until } from './until.mjs';

const debian = '/usr/lib/postgresql';
const superuser = 'postgres';
const nobody = 65534;

/** Returns the directory of initdb and postgres: the newest of Debian's, which are not in PATH, or that in PATH. */
function programs() {
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  return [...versions.map((version) => join(debian, version, 'bin')), ...process.env.PATH.split(delimiter)].find(
    (dir) => existsSync(join(dir, 'initdb')),
  );
}

/** Returns why a cluster cannot run, "" if it can. */
export const missing = () => (programs() ? '' : 'PostgreSQL is not installed; install the package postgresql');

/** Returns the arguments of setpriv before a command: PostgreSQL does not run as root. */
const unprivileged = () =>
  process.getuid() === 0 ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'] : [];

function run([program, ...args], options = {}) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', ...options });
  if (status !== 0) {
    throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`);
  }
  return stdout;
}

/** A cluster in a temporary directory. The caller stops it. */
export class Postgres {
  async start() {
    const bin = programs();
    this.dir = mkdtempSync(join(tmpdir(), 'xcsh-e2e-postgres-'));
    if (process.getuid() === 0) {
      chmodSync(this.dir, 0o711);
      chownSync(this.dir, nobody, nobody);
    }
    const data = join(this.dir, 'data');
    const cwd = this.dir;
    const made = ['--username', superuser, '--auth', 'trust', '--encoding', 'UTF8', '--locale', 'C', '--no-sync'];
    run([...unprivileged(), join(bin, 'initdb'), '--pgdata', data, ...made], { cwd });
    this.port = await freePort();
    const settings = [
      ...['listen_addresses=127.0.0.1', `port=${this.port}`, 'unix_socket_directories=', 'fsync=off'],
      ...['shared_buffers=16MB', 'autovacuum=off', 'jit=off'],
    ].flatMap((setting) => ['-c', setting]);
    const [program, ...args] = [...unprivileged(), join(bin, 'postgres'), '-D', data, ...settings];
    this.log = '';
    process.once('exit', () => this.#remove()); // of a scenario that did not begin
    this.server = spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    this.server.stderr.on('data', (text) => (this.log += text));
    await until('PostgreSQL to answer', () => {
      if (this.server.exitCode !== null) {
        throw new Error(this.log);
      }
      return spawnSync(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(this.port)]).status === 0;
    });
    this.psql = join(bin, 'psql');
    return this;
  }

  /** Runs SQL as the superuser and returns the values, tab-separated. */
  sql(text, database = 'sessions') {
    return run([this.psql, this.address(superuser, database), '-XqAt', '-v', 'ON_ERROR_STOP=1', '-c', text]).trim();
  }

  address(user, database = 'sessions') {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}?sslmode=disable`;
  }

  /** Returns a service file for a user. */
  service(name, user) {
    return `[${name}]\nhost=127.0.0.1\nport=${this.port}\ndbname=sessions\nuser=${user}\nsslmode=disable\n`;
  }

  /** Makes the store, and the users of its team. server: the path of xcsh-ls. users: role → name. */
  team(server, users) {
    this.sql('create database sessions', 'postgres');
    const env = { ...process.env, HOME: this.dir, XCSH_TEAM_URL: this.address(superuser) };
    run([server, 'team', 'init'], { env });
    for (const [role, name] of Object.entries(users)) {
      this.sql(`create role ${role} login`);
      run([server, 'team', 'grant', role, '--team', 'core', '--name', name], { env });
    }
  }

  /** Stops the server while the scenario goes on, as a network that is down. */
  async halt() {
    const gone = new Promise((resolve) => this.server.once('exit', resolve));
    this.server.kill('SIGQUIT');
    await gone;
  }

  async stop() {
    if (this.server?.exitCode === null && this.server.signalCode === null) {
      await this.halt();
    }
    this.#remove();
  }

  #remove() {
    if (this.server?.exitCode === null) {
      this.server.kill('SIGKILL');
    }
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A machine of a user without an editor: a home directory, and a clone of the project. */
export class Machine {
  constructor(root, server, address) {
    this.home = join(root, 'home');
    this.folder = join(root, 'web');
    mkdirSync(this.home, { recursive: true });
    cloneOf(this.folder);
    this.server = server;
    this.env = { PATH: process.env.PATH, HOME: this.home, XCSH_TEAM_URL: address, XCSH_LS_NO_DETECT: '1' };
  }

  /** Runs xcsh-ls in the project and returns its output. */
  says(...args) {
    return run([this.server, ...args], { cwd: this.folder, env: this.env });
  }

  /** Agrees to share the project, as a script does. */
  shares() {
    const { planToken } = JSON.parse(this.says('team', 'share', '--json'));
    this.says('team', 'share', '--yes', '--plan', planToken);
  }
}

/** Makes a folder a clone of the project. */
export function cloneOf(folder) {
  for (const dir of ['objects', 'refs']) {
    mkdirSync(join(folder, '.git', dir), { recursive: true });
  }
  writeFileSync(join(folder, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(folder, '.git/config'), '[remote "origin"]\n\turl = https://github.com/acme/web\n');
}
