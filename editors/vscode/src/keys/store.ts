/** The parts of VS Code's secret storage that are used. */
export interface Secrets {
  get(key: string): Thenable<string | undefined>;
  store(key: string, value: string): Thenable<void>;
  delete(key: string): Thenable<void>;
  onDidChange(listener: (event: { readonly key: string }) => void): { dispose(): unknown };
}

/** The parts of a memento that are used. */
export interface Memory {
  get<T>(key: string): T | undefined;
  update(key: string, value: unknown): Thenable<void>;
}

const secretPrefix = 'xcshLs.apiKey.';

/** The names of the providers that have a key. The secret storage of this VS Code cannot list its keys. */
const listKey = 'xcshLs.keyProviders';

/** The longest key that is accepted, in UTF-16 units; those of services have less than 500. */
export const maxKey = 8192;

/** Returns why a text is no API key, "" if it can be one. The answer does not contain the text. */
export function keyProblem(key: string, t: (text: string) => string): string {
  if (key === '') {
    return t('Enter a key.');
  }
  if (key.length > maxKey || !/^[\x21-\x7e]+$/.test(key)) {
    return t('A key is one word of letters, digits, and signs.');
  }
  return '';
}

/**
 * The API keys that the user saved in VS Code's secret storage. A key is read when the server asks for it; nothing of
 * the extension keeps one, and no other storage has one: the list contains names of providers.
 */
export class KeyStore {
  #providers: ReadonlySet<string>;
  readonly #listeners = new Set<() => void>();
  readonly #subscription: { dispose(): unknown };

  constructor(
    private readonly secrets: Secrets,
    private readonly memory: Memory,
  ) {
    this.#providers = new Set(namesOf(memory.get(listKey)));
    // Another window of the editor can have changed a key.
    this.#subscription = secrets.onDidChange(({ key }) => {
      if (key.startsWith(secretPrefix)) {
        void this.#changedElsewhere(key.slice(secretPrefix.length));
      }
    });
  }

  /** The providers that have a key, by name. */
  get providers(): string[] {
    return [...this.#providers].sort();
  }

  /** Calls the listener when a key was saved or removed, with no key. */
  onDidChange(listener: () => void): { dispose(): void } {
    this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  }

  /** Removes providers from the list whose keys are gone, such as after the secret storage was cleared. */
  async check(): Promise<void> {
    for (const provider of this.providers) {
      if ((await this.secrets.get(secretPrefix + provider)) === undefined) {
        await this.#list(provider, false);
      }
    }
  }

  /** Returns the key of a provider, undefined if it has none. */
  async get(provider: string): Promise<string | undefined> {
    return this.#providers.has(provider) ? this.secrets.get(secretPrefix + provider) : undefined;
  }

  async set(provider: string, key: string): Promise<void> {
    await this.secrets.store(secretPrefix + provider, key);
    await this.#list(provider, true);
  }

  async remove(provider: string): Promise<void> {
    await this.secrets.delete(secretPrefix + provider);
    await this.#list(provider, false);
  }

  async #list(provider: string, has: boolean): Promise<void> {
    const names = new Set(this.#providers);
    if (has) {
      names.add(provider);
    } else {
      names.delete(provider);
    }
    this.#providers = names;
    this.#listeners.forEach((listener) => listener());
    await this.memory.update(listKey, this.providers);
  }

  async #changedElsewhere(provider: string): Promise<void> {
    const has = (await this.secrets.get(secretPrefix + provider)) !== undefined;
    if (has !== this.#providers.has(provider)) {
      await this.#list(provider, has);
    } else if (has) {
      this.#listeners.forEach((listener) => listener()); // it is another key
    }
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#listeners.clear();
  }
}

const namesOf = (v: unknown): string[] => (Array.isArray(v) ? v.filter((name) => typeof name === 'string') : []);
