// The messages. In a long conversation only the newest are rendered at first; older ones are added
// above them when the user scrolls there. Messages are rendered in groups, so that a streamed piece
// affects only one group.

import type { JSX, TargetedKeyboardEvent } from 'preact';
import { memo } from 'preact/compat';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../l10n';
import type { Item } from '../state/model';
import { Icon } from './controls';
import { Message } from './message';
import { useScroll } from './scroll';
import { Welcome } from './welcome';
import { useChat, usePage, useUi } from './use';

const groupSize = 20;
const drawnFirst = 3; // groups
const drawnMore = 5;

const Group = memo(function Group({
  items,
  cwd,
  away,
}: {
  items: readonly Item[];
  cwd: string;
  away: boolean;
}): JSX.Element {
  return (
    <div class={away ? 'group away' : 'group'}>
      {items.map((item) => (
        <Message key={item.key} item={item} cwd={cwd} />
      ))}
    </div>
  );
});

/** Splits the items into groups; a group of the same items is the same list as before. */
export function grouped(items: readonly Item[], before: readonly (readonly Item[])[]): (readonly Item[])[] {
  const out: (readonly Item[])[] = [];
  for (let i = 0; i < items.length; i += groupSize) {
    const now = items.slice(i, i + groupSize);
    const was = before[out.length];
    out.push(was && was.length === now.length && was.every((item, n) => item === now[n]) ? was : now);
  }
  return out;
}

function useGroups(items: readonly Item[]): (readonly Item[])[] {
  const ref = useRef<(readonly Item[])[]>([]);
  ref.current = grouped(items, ref.current);
  return ref.current;
}

/** Moves the focus to the next message in a direction. */
function goTo(box: HTMLElement, by: -1 | 1): void {
  const all = [...box.querySelectorAll<HTMLElement>('article.message')];
  const now = document.activeElement?.closest<HTMLElement>('article.message');
  const at = now ? all.indexOf(now) + by : by < 0 ? all.length - 1 : all.length;
  const next = all[at];
  if (next) next.focus();
  else if (by > 0) document.querySelector<HTMLElement>('#composer')?.focus();
}

export function Conversation(): JSX.Element {
  const page = usePage();
  const items = useChat((s) => s.view.items);
  const session = useChat((s) => s.view.session?.sessionId ?? '');
  const cwd = useChat((s) => s.view.session?.cwd ?? '');
  const groups = useGroups(items);
  const [more, setMore] = useState(drawnFirst);
  const { box, inner, following, toEnd } = useScroll(session !== '');
  const from = Math.max(0, groups.length - more);
  const height = useRef(0);

  useEffect(() => setMore(drawnFirst), [session]);

  // Messages added above do not move the visible ones.
  useLayoutEffect(() => {
    const el = box.current;
    if (el && height.current > 0) el.scrollTop += el.scrollHeight - height.current;
    height.current = 0;
  }, [more, box]);

  const showOlder = () => {
    height.current = box.current?.scrollHeight ?? 0;
    setMore((n) => n + drawnMore);
  };

  const older = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const button = older.current;
    if (!button || !box.current) return undefined;
    const seen = new IntersectionObserver((entries) => entries.some((e) => e.isIntersecting) && showOlder(), {
      root: box.current,
      rootMargin: '600px 0px 0px 0px',
    });
    seen.observe(button);
    return () => seen.disconnect();
  });

  const onKey = (e: TargetedKeyboardEvent<HTMLElement>) => {
    if (!e.altKey || e.ctrlKey || e.metaKey || (e.key !== 'ArrowUp' && e.key !== 'ArrowDown')) return;
    e.preventDefault();
    goTo(e.currentTarget, e.key === 'ArrowUp' ? -1 : 1);
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
          {from > 0 && (
            <button type="button" class="older link" ref={older} onClick={showOlder}>
              {t('Show earlier messages')}
            </button>
          )}
          {groups.slice(from).map((g, i) => (
            <Group key={g[0]!.key} items={g} cwd={cwd} away={from + i < groups.length - 1} />
          ))}
          {items.length === 0 && <Welcome />}
          {waiting && (
            <p class="working">
              <span class="shimmer">{t('Working')}</span>
            </p>
          )}
          <Unanswered />
          <BashOutput />
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

const hasRunningCall = (item: Item | undefined) =>
  Object.values(item?.calls ?? {}).some((c) => c.status === 'running' || c.status === 'asking');

/** A prompt without an answer, because the server stopped or the user stopped the turn. */
function Unanswered(): JSX.Element | null {
  const page = usePage();
  const alone = useChat((s) => s.sync.live && !s.view.running && s.view.items.at(-1)?.message.role === 'user');
  const sending = useUi((u) => u.sending || u.kept.editing !== '');
  if (!alone || sending) return null;
  return (
    <p class="ended">
      <Icon name="info" />
      {t('No answer received.')}
      <button type="button" class="link" onClick={() => void page.retry()}>
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
