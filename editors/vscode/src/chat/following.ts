import type { Host } from '../host';

/** Follows a session of the team's store while a page shows it. */
export class Following {
  #begun: Promise<unknown> | undefined;

  constructor(
    private readonly host: Host,
    private readonly cwd: string,
    private readonly sid: string,
  ) {}

  /** Resolves when the server follows the session. After a failure, the next call tries again. */
  begin(): Promise<unknown> {
    this.#begun ??= this.host
      .request('xcsh.team.follow', { cwd: this.cwd, source: this.sid })
      .catch((error: unknown) => {
        this.#begun = undefined;
        throw error;
      });
    return this.#begun;
  }

  /** Ends it until the next call of begin. */
  end(): void {
    if (this.#begun && this.host.status.kind === 'running') {
      this.host
        .request('xcsh.team.follow', { cwd: this.cwd, source: this.sid, stop: true })
        .catch((error: unknown) => this.host.output.info(`follow: ${String(error)}`));
    }
    this.#begun = undefined;
  }

  dispose(): void {
    this.end();
  }
}
