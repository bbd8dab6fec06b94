import type { SessionEvent } from '../wire.gen';

/** More texts than a page shows are not kept. */
const maxTexts = 20;

interface Texts {
  readonly sessionId: string;
  readonly events: Map<string, SessionEvent>;
}

/**
 * The texts that extensions of the engine show beside the conversation. Snapshots do not contain them, and a hidden
 * page is unloaded, so they are kept for the next page.
 */
export class EngineTexts {
  readonly #texts = new Map<string, Texts>();

  /** Follows an event of a folder's session. */
  follow(cwd: string, sessionId: string, event: SessionEvent): void {
    if (event.type === 'engine_changed' && event.state !== 'ready' && event.state !== 'running') {
      this.#texts.delete(cwd);
    } else if (event.type === 'engine_status') {
      let texts = this.#texts.get(cwd);
      if (texts?.sessionId !== sessionId) {
        texts = { sessionId, events: new Map() };
        this.#texts.set(cwd, texts);
      }
      if ((event.lines ?? []).length === 0) {
        texts.events.delete(event.key);
      } else if (texts.events.has(event.key) || texts.events.size < maxTexts) {
        texts.events.set(event.key, event);
      }
    }
  }

  /** Returns the texts of a session. */
  of(cwd: string, sessionId: string): SessionEvent[] {
    const texts = this.#texts.get(cwd);
    return texts?.sessionId === sessionId ? [...texts.events.values()] : [];
  }

  /** Handles the end of the server. */
  clear(): void {
    this.#texts.clear();
  }
}
