// Completes a /command at the beginning of the prompt: of the server, or of the engine.

import { useEffect, useRef, useState } from 'preact/hooks';
import { visible } from '../../../src/chat/visible';
import { engineName } from '../engine';
import { t } from '../l10n';
import { completeCommand, matching, slashAt } from '../state/slash';
import type { SlashCommand } from '../state/slash';
import { Icon } from './controls';
import { useKeys } from './suggestions';
import type { Suggesting, Suggestion } from './suggestions';
import { useChat, usePage, useUi } from './use';

interface Loaded {
  commands: readonly SlashCommand[];
  pending: boolean;
  error: string; // why they could not be loaded; "" if they could
}

const none: Loaded = { commands: [], pending: false, error: '' };

/**
 * Loads the commands each time the user begins to type one, because extensions can change them. Those of the last
 * time are shown meanwhile. of names the engine and the session; "" if there are no commands.
 */
function useLoaded(wanted: boolean, of: string): Loaded {
  const page = usePage();
  const [loaded, setLoaded] = useState<Loaded & { of: string }>({ ...none, of: '' });
  const newest = useRef(0);
  useEffect(() => {
    if (!wanted || of === '') return;
    const now = ++newest.current;
    const set = (change: Partial<Loaded>) => {
      if (now === newest.current) setLoaded((was) => ({ ...(was.of === of ? was : none), ...change, of }));
    };
    set({ pending: true, error: '' });
    page.readCommands().then(
      (commands) => set({ commands, pending: false }),
      (e: unknown) => set({ pending: false, error: e instanceof Error ? e.message : String(e) }),
    );
  }, [wanted, of, page]);
  return loaded.of === of ? loaded : none;
}

/** Suggests commands while one is being typed. write replaces the text of the composer. */
export function useCommands(
  text: string,
  cursor: number,
  write: (next: { text: string; cursor: number }) => void,
): Suggesting {
  const page = usePage();
  const engine = useChat((s) => s.view.engine.name);
  const program = useChat((s) => engineName(s.view.engine));
  const session = useChat((s) => s.view.session?.sessionId ?? '');
  const trusted = useUi((u) => u.init?.trusted ?? true);
  const offered = trusted && session !== '';
  const query = offered ? slashAt(text, cursor) : undefined;
  const { commands, pending, error } = useLoaded(query !== undefined, offered ? `${engine} ${session}` : '');
  const list = (query === undefined ? [] : matching(commands, query)).map(
    ({ name, description, hint }): Suggestion => ({
      key: name,
      icon: 'terminal',
      name: `/${visible(name)}${hint && ` ${visible(hint)}`}`,
      about: visible(description),
      take: () => write(completeCommand(text, cursor, name)),
    }),
  );
  const failure = error && t("Couldn't list the commands of {0}: {1}", program, visible(error));
  const words = failure || (pending && commands.length === 0 ? t('Listing the commands of {0}…', program) : '');
  const note = words && (
    <p class="suggesting">
      <Icon name={error ? 'warning' : 'loading'} spin={!error} />
      <span>{words}</span>
    </p>
  );
  const { at, closed, key } = useKeys(query, list, {
    whole: (chosen) => `/${chosen.key}` === text.trim(),
    noted: words !== '',
  });
  const open = !closed && (list.length > 0 || words !== '');
  const count = list.length;
  useEffect(() => {
    if (!open) return;
    if (count === 0) page.speak(words);
    else page.speak(count === 1 ? t('1 command') : t('{0} commands', count));
  }, [open, count, words, page]);
  return { open, label: t('Commands of {0}', program), list, at, note, key };
}
