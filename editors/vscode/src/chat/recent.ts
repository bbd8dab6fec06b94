import { isObject } from './messages';

/**
 * The sessions that a page can resume: those of the last list that the server sent it. The page shows text
 * that a model wrote, so it cannot name other files.
 */
export class RecentSessions {
  #paths: ReadonlySet<string> = new Set();

  /** Notes the result of xcsh.recent, before the page receives it. */
  remember(result: unknown): void {
    const sessions = isObject(result) && Array.isArray(result['sessions']) ? result['sessions'] : [];
    this.#paths = new Set(sessions.filter(isObject).flatMap(({ path }) => (typeof path === 'string' ? [path] : [])));
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }
}
