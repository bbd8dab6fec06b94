import type { Question, SessionEvent } from '../wire.gen';

/** The answer to a question, as xcsh.answer takes it. */
export type QuestionAnswer = { readonly confirmed: boolean } | undefined;

/** Shows questions to the user. */
export interface QuestionDesk {
  /** Reports whether the panel shows the folder; it then shows the questions. */
  shows(cwd: string): boolean;
  /** Announces a question outside of the panel. Resolves to undefined if it was not answered there. */
  notify(cwd: string, question: Question): PromiseLike<QuestionAnswer>;
  /** Sends an answer to the server. */
  answer(cwd: string, id: string, answer: { confirmed: boolean }): void;
  /** Reports the number of questions that wait in all folders. */
  waiting(count: number): void;
}

/** More questions of one folder are not announced: an extension could ask without end. */
const maxQuestions = 100;

/**
 * The questions of the engines' extensions, by folder. The panel shows them; a question that it does not show is
 * announced, one at a time for each folder.
 */
export class Questions {
  readonly #waiting = new Map<string, Map<string, Question>>();
  readonly #announced = new Map<string, Set<string>>();
  readonly #open = new Set<string>();

  constructor(private readonly desk: QuestionDesk) {}

  /** Follows an event of a folder's session. */
  follow(cwd: string, event: SessionEvent): void {
    switch (event.type) {
      case 'question_asked': {
        const of = this.#of(cwd);
        if (of.size < maxQuestions) {
          of.set(event.id, event);
        }
        break;
      }
      case 'question_gone':
        this.#of(cwd).delete(event.id);
        break;
      case 'engine_changed':
        if (event.state !== 'failed' && event.state !== 'known') {
          return;
        }
        this.#of(cwd).clear();
        break;
      default:
        return;
    }
    this.#changed(cwd);
  }

  /** Takes the questions of a snapshot. */
  set(cwd: string, questions: readonly Question[]): void {
    this.#waiting.set(cwd, new Map(questions.slice(0, maxQuestions).map((q) => [q.id, q])));
    this.#changed(cwd);
  }

  /** Handles another session in a folder, or the end of the server for all folders. */
  clear(cwd?: string): void {
    for (const folder of cwd === undefined ? [...this.#waiting.keys()] : [cwd]) {
      this.#waiting.delete(folder);
      this.#announced.delete(folder);
    }
    this.#count();
  }

  /** Handles that the panel no longer shows a folder. */
  hidden(cwd: string): void {
    this.#announce(cwd);
  }

  #of(cwd: string): Map<string, Question> {
    let of = this.#waiting.get(cwd);
    if (!of) {
      of = new Map();
      this.#waiting.set(cwd, of);
    }
    return of;
  }

  #count(): void {
    this.desk.waiting([...this.#waiting.values()].reduce((sum, of) => sum + of.size, 0));
  }

  #changed(cwd: string): void {
    const announced = this.#announced.get(cwd);
    for (const id of announced ?? []) {
      if (!this.#waiting.get(cwd)?.has(id)) {
        announced?.delete(id);
      }
    }
    this.#count();
    this.#announce(cwd);
  }

  /** Announces the oldest question that was not announced yet. */
  #announce(cwd: string): void {
    if (this.desk.shows(cwd) || this.#open.has(cwd)) {
      return;
    }
    const announced = this.#announced.get(cwd) ?? new Set();
    const next = [...(this.#waiting.get(cwd)?.values() ?? [])].find((q) => !announced.has(q.id));
    if (!next) {
      return;
    }
    this.#announced.set(cwd, announced.add(next.id));
    this.#open.add(cwd);
    const done = (answer: QuestionAnswer): void => {
      this.#open.delete(cwd);
      // It may have been answered in the panel meanwhile.
      if (answer && this.#waiting.get(cwd)?.has(next.id)) {
        this.desk.answer(cwd, next.id, answer);
      }
      this.#announce(cwd);
    };
    this.desk.notify(cwd, next).then(done, () => done(undefined));
  }
}
