// The messages: those that are loaded, and buttons at both ends to load more, which also happens when
// the user scrolls there. Messages are rendered in groups, so that a streamed piece affects only one
// group.

import { Fragment } from 'preact';
import type { JSX, TargetedKeyboardEvent } from 'preact';
import { memo } from 'preact/compat';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { t } from '../l10n';
import { notesAbove, notesBelow } from '../state/localNotes';
import type { LocalNote } from '../state/localNotes';
import { isPrompt } from '../state/prompt';
import { endsTurn } from '../state/turns';
import type { Item } from '../state/model';
import { edgeOf, itemWith, maxMessages, messageCount, pageMessages, shownItems } from '../state/window';
import { TurnEnd } from './changes';
import { Icon } from './controls';
import { exact } from './describe';
import { FindBar, markFound } from './find';
import { Message } from './message';
import { LocalNotes } from './notes';
import { useScroll } from './scroll';
import { Welcome } from './welcome';
import { useChat, useFinder, usePage, useUi } from './use';

const groupSize = 20;

const Group = memo(function Group({
  items,
  cwd,
  away,
  notes,
  ends,
}: {
  items: readonly Item[];
  cwd: string;
  away: boolean;
  notes: readonly LocalNote[]; // below one of the items
  ends: boolean; // a turn ends with the last item
}): JSX.Element {
  return (
    <div class={away ? 'group away' : 'group'}>
      {items.map((item, i) => (
        <Fragment key={item.key}>
          <Message item={item} cwd={cwd} />
          {(i === items.length - 1 ? ends : endsTurn(item, items[i + 1])) && <TurnEnd itemKey={item.key} />}
          {notes.length > 0 && <LocalNotes notes={notesBelow(notes, [item])} />}
        </Fragment>
      ))}
    </div>
  );
});

/** Returns the notes of the live session. */
function useNotes(session: string): readonly LocalNote[] {
  const all = useUi((u) => u.notes);
  return useMemo(() => all.filter(({ sessionId }) => sessionId === session), [all, session]);
}

/**
 * Splits the items into groups. A group begins where one began before, so that messages that are added
 * or removed at an end leave the others in their groups; a group of the same items is the same list.
 */
export function grouped(items: readonly Item[], before: readonly (readonly Item[])[]): (readonly Item[])[] {
  const starts = new Map(before.map((g) => [g[0]!.key, g]));
  const out: Item[][] = [];
  for (const item of items) {
    const last = out.at(-1);
    if (!last || last.length >= groupSize || starts.has(item.key)) out.push([item]);
    else last.push(item);
  }
  return out.map((now) => {
    const was = starts.get(now[0]!.key);
    return was && was.length === now.length && was.every((item, n) => item === now[n]) ? was : now;
  });
}

function useGroups(items: readonly Item[]): (readonly Item[])[] {
  const ref = useRef<(readonly Item[])[]>([]);
  ref.current = grouped(items, ref.current);
  return ref.current;
}

/** Moves the focus to the next message in a direction; false if there is none. */
function goTo(box: HTMLElement, by: -1 | 1): boolean {
  const all = [...box.querySelectorAll<HTMLElement>('article.message')];
  const now = document.activeElement?.closest<HTMLElement>('article.message');
  const at = now ? all.indexOf(now) + by : by < 0 ? all.length - 1 : all.length;
  all[at]?.focus();
  return all[at] !== undefined;
}

type Direction = 'older' | 'newer';

/** The label of the button at an end of the loaded messages. */
function moreText(to: Direction, count: number): string {
  if (count === 1) return to === 'older' ? t('1 earlier message') : t('1 later message');
  // The number is of another time while messages arrive.
  if (count === 0) return to === 'older' ? t('Earlier messages') : t('Later messages');
  return to === 'older' ? t('{0} earlier messages', exact(count)) : t('{0} later messages', exact(count));
}

/** Loads the messages beyond an end when the user scrolls near it, or with the button. */
function More({ to, following }: { to: Direction; following: boolean }): JSX.Element | null {
  const page = usePage();
  const edge = useChat((s) => edgeOf(s.view, to));
  const loading = useChat((s) => s.view.loading !== null && s.view.loading.edge === edgeOf(s.view, to));
  const busy = useChat((s) => s.view.loading !== null || !s.sync.live);
  const error = useChat((s) => s.view.loadError);
  const button = useRef<HTMLButtonElement>(null);
  // At the end of a conversation of messages without height, the page would load all of them.
  const enough = useChat((s) => messageCount(shownItems(s.view)) > maxMessages - 2 * pageMessages);
  const waits = edge !== null && !busy && error === '' && !(following && enough);

  useEffect(() => {
    const box = button.current?.closest('.scroll');
    if (!waits || !button.current || !box) return undefined;
    const near = (all: IntersectionObserverEntry[]) => all.some((e) => e.isIntersecting) && void page.load(to);
    const seen = new IntersectionObserver(near, { root: box, rootMargin: '600px 0px 600px 0px' });
    seen.observe(button.current);
    return () => seen.disconnect();
  }, [waits, edge, page, to]);

  if (!edge) return null;
  return (
    <div class={`more ${to}`}>
      <button
        type="button"
        class="link"
        ref={button}
        aria-busy={loading}
        aria-label={t('Load {0}', moreText(to, edge.count))}
        onClick={() => void page.load(to, true)}
      >
        {loading ? t('Loading…') : moreText(to, edge.count)}
      </button>
      {error && !loading && <span class="problem">{t("Couldn't load messages: {0}", error)}</span>}
    </div>
  );
}

/** Scrolls to the message that the user jumped to, and marks it. */
function useReveal(groups: readonly (readonly Item[])[], show: (key: string, top?: number) => void) {
  const page = usePage();
  const reveal = useUi((u) => u.reveal);
  const found = useFinder((f) => f.found);
  const query = useFinder((f) => f.query);
  const marked = useUi((u) => u.marked);
  const done = useRef<typeof reveal>(null);
  useLayoutEffect(() => {
    const item = reveal && itemWith(groups.flat(), reveal.entryId);
    if (!item || done.current === reveal) return;
    done.current = reveal;
    show(item.key, reveal.top);
  }, [reveal, groups, show]);
  useLayoutEffect(() => {
    const [entry, words] = found || query ? [found, [query]] : [marked?.entryId, marked?.words ?? []];
    markFound(entry ? itemWith(groups.flat(), entry)?.key : undefined, words);
    return () => markFound(undefined, []);
  }, [found, query, marked, groups, page]);
}

export function Conversation(): JSX.Element {
  const page = usePage();
  const items = useChat((s) => shownItems(s.view));
  const away = useChat((s) => s.view.away !== null);
  const reading = useUi((u) => u.init?.reading !== undefined);
  const session = useChat((s) => s.view.session?.sessionId ?? '');
  const cwd = useChat((s) => s.view.session?.cwd ?? '');
  const groups = useGroups(items);
  const notes = useNotes(session);
  const list = `${session} ${items[0]?.key} ${items.length} ${items.at(-1)?.key}`;
  const { box, inner, following, toEnd, show, settle } = useScroll(session !== '', !away);
  useReveal(groups, show);
  useLayoutEffect(settle, [list, settle]);

  const onKey = (e: TargetedKeyboardEvent<HTMLElement>) => {
    if (!e.altKey || e.ctrlKey || e.metaKey || (e.key !== 'ArrowUp' && e.key !== 'ArrowDown')) return;
    e.preventDefault();
    if (goTo(e.currentTarget, e.key === 'ArrowUp' ? -1 : 1)) return;
    if (e.key === 'ArrowUp') void page.load('older', true);
    else if (away) void page.load('newer', true);
    else document.querySelector<HTMLElement>('#composer')?.focus();
  };

  const waiting = useChat(
    (s) =>
      s.view.running &&
      !s.view.items.at(-1)?.live &&
      !s.view.approvals.length &&
      !s.view.retry &&
      !hasRunningCall(s.view.items.at(-1)),
  );
  return (
    <div class="conversation">
      <FindBar />
      <div
        class="scroll"
        ref={box}
        role="log"
        aria-live="off"
        aria-label={t('Conversation')}
        tabIndex={0}
        onKeyDown={onKey}
      >
        <div class="inner" ref={inner}>
          <More to="older" following={following} />
          <LocalNotes notes={notesAbove(notes)} />
          {groups.map((g, i) => (
            <Group
              key={g[0]!.key}
              items={g}
              cwd={cwd}
              away={away || i < groups.length - 1}
              notes={notesBelow(notes, g)}
              ends={endsTurn(g.at(-1)!, groups[i + 1]?.[0])}
            />
          ))}
          <More to="newer" following={false} />
          {items.length === 0 && notes.length === 0 && (reading ? <NoMessages /> : <Welcome />)}
          {waiting && !away && (
            <p class="working">
              <span class="shimmer">{t('Working')}</span>
            </p>
          )}
          {!away && !reading && <Unanswered />}
          {!away && <BashOutput />}
        </div>
      </div>
      {!following && items.length > 0 && (
        <button
          type="button"
          class="to-end"
          onClick={() => {
            toEnd();
            page.speak(t('Jumped to the latest message'));
          }}
          title={t('Jump to latest')}
          aria-label={t('Jump to the latest message')}
        >
          <Icon name="arrow-down" />
        </button>
      )}
    </div>
  );
}

/** The content of a session without messages that is only read, once it is known. */
function NoMessages(): JSX.Element | null {
  const live = useChat((s) => s.sync.live);
  const failed = useChat((s) => s.sync.failed);
  if (failed) return <p class="nothing problem">{failed}</p>;
  return live ? <p class="nothing">{t('This session has no messages.')}</p> : null;
}

const hasRunningCall = (item: Item | undefined) =>
  Object.values(item?.calls ?? {}).some((c) => c.status === 'running' || c.status === 'asking');

/** A prompt without an answer, because the server stopped or the user stopped the turn. */
function Unanswered(): JSX.Element | null {
  const page = usePage();
  const alone = useChat((s) => {
    const last = s.view.items.at(-1);
    return s.sync.live && !s.view.running && last !== undefined && isPrompt(last.message);
  });
  const sending = useUi((u) => u.sending || u.kept.editing !== '');
  if (!alone || sending) return null;
  return (
    <p class="ended">
      <Icon name="info" />
      {t('No answer received.')}
      <button type="button" class="link" onClick={() => void page.prompts.retry()}>
        {t('Try again')}
      </button>
    </p>
  );
}

function BashOutput(): JSX.Element | null {
  const text = useChat((s) => s.view.bash);
  if (text === null) return null;
  return (
    <div class="call running">
      <div class="output">
        <pre aria-label={t('Output of your command')}>{text}</pre>
      </div>
    </div>
  );
}
